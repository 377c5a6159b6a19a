package editor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Kind is the kind of a completion, which an editor shows as an icon.
type Kind int

// The kinds of completions.
const (
	Argument Kind = iota
	Block
	Value
	Reference
	Function
)

// Completion is a text that can be inserted at the cursor.
type Completion struct {
	Kind  Kind
	Label string
	// Detail is the type in a few words, and Doc the documentation in Markdown.
	Detail, Doc string
	// Insert replaces the text in the range At. "$0" in it marks the cursor's position afterwards.
	Insert string
	At     Range
}

// Complete lists the completions at the byte offset at of a file. They are arguments and blocks that the block lacks,
// values of the argument, references, functions and facts of the host.
func Complete(language *schema.Block, src []byte, at int) []Completion {
	p := scan(src, at)
	b, args := p.block(language)
	if b == nil || p.comment {
		return nil
	}
	var found []Completion
	switch {
	case p.label != "":
		found = p.labels(b)
	case p.argument == "":
		found = p.names(b, args)
	case p.literal:
		found = p.texts(b, args)
	default:
		found = p.expressions(src, b, args)
	}
	begun := string(src[p.word.Start:at])
	found = slices.DeleteFunc(found, func(c Completion) bool {
		return !strings.HasPrefix(strings.ToLower(c.Label), strings.ToLower(begun))
	})
	for i := range found {
		found[i].At = Range{p.word.Start, at}
	}
	return found
}

// names returns the arguments and blocks that can be added to the body.
func (p *place) names(b *schema.Block, args []schema.Arg) (found []Completion) {
	given := p.top().given
	for _, a := range args {
		if given[a.Name] {
			continue
		}
		detail := string(a.Type)
		if a.Required {
			detail += ", required"
		}
		found = append(found, Completion{Kind: Argument, Label: a.Name, Detail: detail, Doc: argumentDoc(&a),
			Insert: a.Name + " = $0"})
	}
	for _, inner := range b.Blocks {
		if inner.Single && given[inner.Name] {
			continue
		}
		insert := inner.Name + " {\n  $0\n}"
		if inner.Label != "" {
			insert = inner.Name + " \"$0\" {\n}"
		}
		found = append(found, Completion{Kind: Block, Label: inner.Name, Detail: "block", Doc: blockDoc(inner),
			Insert: insert})
	}
	return found
}

// labels returns the allowed labels, if the block restricts its labels.
func (p *place) labels(b *schema.Block) (found []Completion) {
	inner := b.Block(p.label)
	if inner == nil || !p.literal {
		return nil
	}
	names := slices.Concat(inner.Labels, inner.Offered)
	docs := map[string]string{}
	for _, l := range inner.ByLabel {
		docs[l.Label] = l.Doc
		if !slices.Contains(names, l.Label) {
			names = append(names, l.Label)
		}
	}
	for _, name := range names {
		found = append(found, Completion{Kind: Value, Label: name, Detail: inner.Label, Insert: name,
			Doc: cmp.Or(docs[name], valueDoc(inner.Doc, name))})
	}
	return found
}

// find returns the argument in whose value the place is. In a block with free argument names, it returns the free
// argument.
func (p *place) find(b *schema.Block, args []schema.Arg) *schema.Arg {
	if a := schema.Find(args, p.argument); a != nil {
		return a
	}
	return b.Free
}

// texts returns the completions inside a quoted text.
func (p *place) texts(b *schema.Block, args []schema.Arg) (found []Completion) {
	a := p.find(b, args)
	if a == nil || p.keys > 0 {
		return nil
	}
	for _, text := range a.Allowed {
		found = append(found, Completion{Kind: Value, Label: text, Detail: a.Name, Doc: meaning(a, text), Insert: text})
	}
	return found
}

// meaning returns the documentation of an argument's value. If the value has none, it returns the argument's
// documentation.
func meaning(a *schema.Arg, value string) string {
	return cmp.Or(valueDoc(a.Meanings, value), valueDoc(a.Doc, value), schema.FirstSentence(a.Doc))
}

// valueDoc returns the list item or sentence about a value in the documentation of its argument.
func valueDoc(doc, value string) string {
	quoted := "`" + value + "`"
	for line := range strings.Lines(doc) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "- "+quoted); ok {
			return strings.TrimLeft(text, ": ")
		}
	}
	for sentence := range strings.SplitSeq(strings.ReplaceAll(doc, "\n", " "), ". ") {
		if strings.Contains(sentence, quoted) || strings.Contains(sentence, "`\""+value+"\"`") {
			return strings.TrimRight(strings.TrimSpace(sentence), ".") + "."
		}
	}
	return ""
}

// expressions returns the completions inside an expression.
func (p *place) expressions(src []byte, b *schema.Block, args []schema.Arg) (found []Completion) {
	definitions := Definitions(src)
	if len(p.chain) > 1 {
		return following(p.chain, definitions)
	}
	a := p.find(b, args)
	if a != nil && p.keys == 0 {
		for _, text := range a.Allowed {
			found = append(found, Completion{Kind: Value, Label: `"` + text + `"`, Detail: a.Name,
				Doc: meaning(a, text), Insert: `"` + text + `"`})
		}
		switch {
		case a.Type == schema.Bool:
			for _, word := range []string{"true", "false"} {
				found = append(found, Completion{Kind: Value, Label: word, Detail: a.Name, Insert: word})
			}
		case a.Type.ReferenceKinds() != nil:
			for _, d := range definitions {
				if slices.Contains(a.Type.ReferenceKinds(), d.Kind) {
					name := d.Kind + "." + d.Name
					found = append(found, Completion{Kind: Reference, Label: name, Detail: string(a.Type), Insert: name})
				}
			}
			return found
		}
	}
	if a != nil && p.keys > 0 {
		for _, k := range a.Keys {
			found = append(found, Completion{Kind: Argument, Label: k.Name, Detail: string(k.Type), Doc: argumentDoc(&k),
				Insert: k.Name + " = $0"})
		}
	}
	kinds := []string{"host"}
	for _, d := range definitions {
		if !slices.Contains(kinds, d.Kind) {
			kinds = append(kinds, d.Kind)
		}
	}
	for _, kind := range kinds {
		found = append(found, Completion{Kind: Reference, Label: kind, Detail: "names that begin with " + kind,
			Insert: kind + "."})
	}
	for _, f := range schema.Functions {
		found = append(found, Completion{Kind: Function, Label: f.Name, Detail: f.Signature, Doc: f.Doc,
			Insert: f.Name + "($0)"})
	}
	return found
}

// following returns the names that can follow a dot, after the names in chain.
func following(chain []string, definitions []Definition) (found []Completion) {
	if len(chain) != 2 {
		return nil
	}
	if chain[0] == "host" {
		for _, f := range schema.Facts {
			found = append(found, Completion{Kind: Value, Label: f.Name, Detail: string(f.Type), Doc: f.Doc, Insert: f.Name})
		}
		return found
	}
	for _, d := range definitions {
		if d.Kind == chain[0] {
			found = append(found, Completion{Kind: Reference, Label: d.Name, Detail: d.Kind, Insert: d.Name})
		}
	}
	return found
}

// argumentDoc describes an argument in Markdown.
func argumentDoc(a *schema.Arg) string {
	doc := a.Doc
	if len(a.Allowed) > 0 {
		doc += " One of `" + strings.Join(a.Allowed, "`, `") + "`."
	}
	switch {
	case a.Required:
		doc += "\n\nRequired."
	case a.DefaultDoc != "":
		doc += "\n\nDefault: " + a.DefaultDoc + "."
	case a.Default != "":
		doc += "\n\nDefault: `" + a.Default + "`."
	}
	if a.Example != "" {
		doc += fmt.Sprintf("\n\n```hcl\n%s = %s\n```", a.Name, a.Example)
	}
	return doc
}

// blockDoc describes a block in Markdown.
func blockDoc(b *schema.Block) string {
	if b.Example == "" {
		return b.Doc
	}
	return b.Doc + "\n\n```hcl\n" + b.Example + "\n```"
}

// Hover explains the word at a byte offset of a file, in Markdown, and returns the word's range. ok is false for an
// unknown word.
func Hover(language *schema.Block, src []byte, at int) (doc string, word Range, ok bool) {
	end := whole(src, at)
	p := scan(src, end)
	b, args := p.block(language)
	if b == nil || p.comment || p.word.Start == p.word.End || at < p.word.Start {
		return "", Range{}, false
	}
	text := string(src[p.word.Start:p.word.End])
	switch {
	case p.label != "":
		if inner := b.Block(p.label); inner != nil {
			for _, l := range inner.ByLabel {
				if l.Label == text {
					return "**" + p.label + " \"" + text + "\"**\n\n" + l.Doc, p.word, true
				}
			}
		}
		return "", Range{}, false
	case p.argument == "":
		if a := schema.Find(args, text); a != nil {
			return "**" + text + "**: " + string(a.Type) + "\n\n" + argumentDoc(a), p.word, true
		}
		if inner := b.Block(text); inner != nil {
			return "**" + text + "**: block\n\n" + blockDoc(inner), p.word, true
		}
	case p.literal:
		if a := p.find(b, args); a != nil && slices.Contains(a.Allowed, text) {
			return "**" + p.argument + " " + text + "**: " + meaning(a, text), p.word, true
		}
	default:
		return p.meaning(src, text)
	}
	return "", Range{}, false
}

// meaning explains a name in an expression.
func (p *place) meaning(src []byte, text string) (string, Range, bool) {
	if len(p.chain) == 2 && p.chain[0] == "host" {
		for _, f := range schema.Facts {
			if f.Name == text {
				return "**host." + text + "**: " + string(f.Type) + "\n\n" + f.Doc, p.word, true
			}
		}
	}
	if len(p.chain) == 2 {
		for _, d := range Definitions(src) {
			if d.Kind == p.chain[0] && d.Name == text {
				return "```hcl\n" + lineOf(src, d.At.Start) + "\n```", p.word, true
			}
		}
	}
	for _, f := range schema.Functions {
		if f.Name == text && len(p.chain) == 1 {
			return "`" + f.Signature + "`\n\n" + f.Doc, p.word, true
		}
	}
	return "", Range{}, false
}

// lineOf returns the line that contains a byte offset, without surrounding spaces.
func lineOf(src []byte, at int) string {
	begin := strings.LastIndexByte(string(src[:at]), '\n') + 1
	line, _, _ := strings.Cut(string(src[begin:]), "\n")
	return strings.TrimSpace(line)
}
