package decodetest

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// The parts of the reference that no table has. The preface has a place for the
// hardware block of the first engine.
var (
	//go:embed preface.md
	preface string
	//go:embed values.md
	values string
)

// LanguageReference returns the reference of the language, docs/language.md.
func LanguageReference() []byte {
	b := reference{sections: map[*schema.Block]string{}}
	file := decode.Language()
	b.WriteString(strings.Replace(preface, "%HARDWARE%", engine.Kinds()[0].Example, 1))
	b.WriteString("\n## Blocks\n\n")
	for _, block := range file.Blocks {
		fmt.Fprintf(&b, "- [`%s`](#%s)%s\n", block.Name, block.Name, often(block))
	}
	for _, block := range file.Blocks {
		fmt.Fprintf(&b, "\n### %s\n", block.Name)
		b.block(block, "")
	}
	b.WriteString(values)
	b.WriteString("\n## Facts of the host\n\n")
	for _, f := range schema.Facts {
		fmt.Fprintf(&b, "- `host.%s` (%s): %s\n", f.Name, f.Type, f.Doc)
	}
	b.WriteString("\n## Functions\n\nFunctions are pure: none reads a file, the clock or the environment.\n\n")
	var standard []string
	for _, f := range schema.Functions {
		if strings.Contains(f.Doc, ", for `") { // of an argument
			fmt.Fprintf(&b, "- `%s`: %s\n", f.Signature, f.Doc)
		} else {
			standard = append(standard, f.Name)
		}
	}
	fmt.Fprintf(&b, "\nThe other functions come from HCL's standard library: `%s`.\n", strings.Join(standard, "`, `"))
	return []byte(b.String())
}

// often returns how often a block may occur in its parent, in words.
func often(b *schema.Block) string {
	switch {
	case b.Single && b.Required:
		return ", exactly one"
	case b.Single:
		return ", at most one"
	case b.Required:
		return ", at least one"
	}
	return ""
}

// reference is the reference as far as it is written.
type reference struct {
	strings.Builder
	sections map[*schema.Block]string // the headings of nested blocks
}

// block writes the arguments of one block, then the blocks in it. A block that
// is nested in several others is written once.
func (w *reference) block(b *schema.Block, parent string) {
	path := strings.TrimSpace(parent + " " + b.Name)
	if b.Label != "" {
		fmt.Fprintf(w, "\n`%s \"…\" { … }`: the label is the %s.\n", path, b.Label)
	}
	fmt.Fprintf(w, "\n%s\n", schema.FirstSentence(b.Doc))
	if b.Example != "" {
		example, _, _ := strings.Cut(b.Example, "\n\n")
		fmt.Fprintf(w, "\n```hcl\n%s\n```\n", example)
	}
	args := b.Args
	if b.Free != nil {
		args = append(args[:len(args):len(args)], *b.Free)
	}
	w.lines(args)
	w.labels(b)
	for _, a := range args {
		if len(a.Keys) > 0 {
			fmt.Fprintf(w, "\nThe keys of `%s` as an object:\n", a.Name)
			w.lines(a.Keys)
		}
	}
	for _, inner := range b.Blocks {
		heading := path + ": " + inner.Name + often(inner)
		fmt.Fprintf(w, "\n#### %s\n", heading)
		if first := w.sections[inner]; first != "" {
			fmt.Fprintf(w, "\nIt is the same as [%s](#%s).\n", first, anchor(first))
			continue
		}
		w.sections[inner] = heading
		w.block(inner, path)
	}
}

// anchor returns the fragment of a link to a heading.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", ":", "", ",", "").Replace(heading)
}

// labels writes the arguments of each label that chooses them: first those that all labels have.
func (w *reference) labels(b *schema.Block) {
	if len(b.ByLabel) == 0 {
		return
	}
	shared := func(a schema.Arg) bool {
		return !slices.ContainsFunc(b.ByLabel, func(l schema.Labelled) bool {
			other := schema.Find(l.Args, a.Name)
			return other == nil || other.Type != a.Type || other.Doc != a.Doc || other.Default != a.Default
		})
	}
	fmt.Fprintf(w, "\nEvery `%s` takes:\n", b.Name)
	w.lines(slices.DeleteFunc(slices.Clone(b.ByLabel[0].Args), func(a schema.Arg) bool { return !shared(a) }))
	for _, l := range b.ByLabel {
		fmt.Fprintf(w, "\n`%s \"%s\"`: %s\n", b.Name, l.Label, schema.FirstSentence(l.Doc))
		w.lines(slices.DeleteFunc(slices.Clone(l.Args), shared))
	}
}

// only finds the sentence that says under which choices an argument is read.
var only = regexp.MustCompile(`\sOnly (on|with|in|for|under|of) [^.]*\.$`)

// named finds the names in a list.
var named = regexp.MustCompile("`[^`]+`")

// shortened returns a sentence with a list of names: of more than four only the first two, and how many others there are.
func shortened(sentence string) string {
	names := named.FindAllStringIndex(sentence, -1)
	if len(names) <= 4 {
		return sentence
	}
	return fmt.Sprintf("%s and %d others.", sentence[:names[1][1]], len(names)-2)
}

// lines writes a line for each argument.
func (w *reference) lines(args []schema.Arg) {
	if len(args) == 0 {
		return
	}
	w.WriteString("\n")
	for _, a := range args {
		about := string(a.Type)
		switch {
		case a.Required:
			about += ", **required**"
		case a.DefaultDoc != "":
			about += "; " + a.DefaultDoc
		case a.Default != "":
			about += ", `" + a.Default + "`"
		}
		doc := schema.FirstSentence(a.Doc)
		if where := only.FindString(a.Doc); where != "" && len(doc) < len(a.Doc) {
			doc += " " + shortened(strings.TrimSpace(where))
		}
		if len(a.Allowed) > 0 && !strings.Contains(doc, "`"+a.Allowed[len(a.Allowed)-1]+"`") {
			doc += " One of `" + strings.Join(a.Allowed, "`, `") + "`."
		}
		fmt.Fprintf(w, "- `%s` (%s): %s\n", a.Name, about, doc)
	}
}
