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

// Parts of the reference that are not made from the tables of the language. The hardware block of the first engine is
// inserted into the preface.
var (
	//go:embed preface.md
	preface string
	//go:embed values.md
	values string
)

// LanguageReference returns the reference of the language, docs/language.md.
func LanguageReference() []byte {
	b := reference{sections: map[*schema.Block]string{}, written: map[string]string{}}
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
		if strings.Contains(f.Doc, ", for `") { // of an argument, not of the experiment file as a whole
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

// reference is the text of the reference written so far.
type reference struct {
	strings.Builder
	sections map[*schema.Block]string // block → heading of its section
	written  map[string]string        // argument → block that describes it
}

// block writes the arguments of a block, then the blocks nested in it. A block that is nested in several blocks is
// written only in the first.
func (w *reference) block(b *schema.Block, parent string) {
	path := strings.TrimSpace(parent + " " + b.Name)
	if b.Label != "" {
		fmt.Fprintf(w, "\n`%s \"…\" { … }`: the label is the %s.\n", path, b.Label)
	}
	doc := schema.FirstSentence(b.Doc)
	if condition := strings.TrimSpace(only.FindString(b.Doc)); condition != "" && condition != doc {
		doc += " " + condition
	}
	fmt.Fprintf(w, "\n%s\n", doc)
	if b.Example != "" {
		example, _, _ := strings.Cut(b.Example, "\n\n")
		fmt.Fprintf(w, "\n```hcl\n%s\n```\n", example)
	}
	args := b.Args
	if b.Free != nil {
		args = append(args[:len(args):len(args)], *b.Free)
	}
	w.lines(w.withoutRepeated(args, path))
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

// mostRepeated is the number of arguments up to which a block describes the arguments of an earlier block again.
const mostRepeated = 5

// withoutRepeated returns the arguments that no earlier block has. For many others it writes a line with their names.
func (w *reference) withoutRepeated(args []schema.Arg, path string) []schema.Arg {
	key := func(a schema.Arg) string { return fmt.Sprint(a.Name, a.Doc, a.Default, a.DefaultDoc, a.Required) }
	var own []schema.Arg
	var repeated []string
	first := ""
	for _, a := range args {
		block, found := w.written[key(a)]
		if first == "" {
			first = block
		}
		if found && block == first {
			repeated = append(repeated, a.Name)
		} else {
			own = append(own, a)
		}
	}
	if len(repeated) <= mostRepeated {
		own, repeated = args, nil
	}
	for _, a := range own {
		if _, found := w.written[key(a)]; !found {
			w.written[key(a)] = path
		}
	}
	if len(repeated) > 0 {
		fmt.Fprintf(w, "\nAs in `%s`: `%s`.\n", first, strings.Join(repeated, "`, `"))
	}
	return own
}

// anchor returns the fragment of a link to a heading.
func anchor(heading string) string {
	return strings.NewReplacer(" ", "-", ":", "", ",", "").Replace(heading)
}

// labels writes the arguments that depend on the label of the block, label by label, after the arguments that all
// labels have.
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

// only matches the sentence that says with which choices an argument is read.
var only = regexp.MustCompile(`\sOnly (on|with|in|for|under|of) [^.]*\.$`)

// lines writes a line for each argument: first the arguments that are always read, then the other arguments in groups,
// under the condition on which they are read.
func (w *reference) lines(args []schema.Arg) {
	var conditions []string // of the groups, in the order of their first arguments
	groups := map[string][]string{}
	for _, a := range args {
		about := string(a.Type)
		switch {
		case a.Required:
			about += ", **required**"
		case strings.HasPrefix(a.DefaultDoc, "required"):
			about += ", " + a.DefaultDoc
		case a.DefaultDoc != "":
			about += ", default: " + a.DefaultDoc
		case a.Default != "":
			about += ", default `" + a.Default + "`"
		}
		doc := schema.FirstSentence(a.Doc)
		condition := strings.TrimSpace(only.FindString(a.Doc))
		if condition == doc {
			condition = ""
		}
		if len(a.Allowed) > 0 && !strings.Contains(doc, "`"+a.Allowed[len(a.Allowed)-1]+"`") {
			doc += " One of `" + strings.Join(a.Allowed, "`, `") + "`."
		}
		if groups[condition] == nil {
			conditions = append(conditions, condition)
		}
		groups[condition] = append(groups[condition], fmt.Sprintf("- `%s` (%s): %s\n", a.Name, about, doc))
	}
	slices.SortStableFunc(conditions, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
	for _, condition := range conditions {
		if condition != "" {
			fmt.Fprintf(w, "\n%s:\n", strings.TrimSuffix(condition, "."))
		}
		w.WriteString("\n" + strings.Join(groups[condition], ""))
	}
}
