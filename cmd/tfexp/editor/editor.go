// Package editor answers requests of editors about experiment files: completions, explanations and definitions of
// names, and a JSON schema. Answers come from the tables of the language, so they include arguments that an engine, a
// policy or a metric adds. Files are read as tokens, because a file can rarely be parsed while it is being edited.
package editor

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Range is a range of bytes in a file: Start is the first one, End the one after the last.
type Range struct{ Start, End int }

// opened is a block that encloses a place.
type opened struct {
	name, label string
	given       map[string]bool // arguments and blocks before the place, by name
}

// place describes the context of a byte offset in a file.
type place struct {
	blocks []opened // from the outside in; the first is the file
	// argument is the name of the argument whose value encloses the place; empty outside values.
	argument string
	// keys is the number of open objects around the place within the argument's value.
	keys int
	// chain has the names before the place that dots join. The last name may be incomplete: "job" and "lo" for
	// job.long.
	chain []string
	// word is the range of the last name in chain.
	word Range
	// literal reports whether the place is in a text.
	literal bool
	// label is the name of the block whose label encloses the place; empty elsewhere.
	label string
	// comment reports whether the place is in a comment.
	comment bool
}

// scan returns the place at a byte offset, from the tokens before it.
func scan(src []byte, at int) *place {
	if len(src) > eval.MostSource {
		src = nil // larger files are not read
	}
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos) // the parser reports errors
	p := &place{blocks: []opened{{given: map[string]bool{}}}, word: Range{at, at}}
	var header []hclsyntax.Token // tokens since the start of the current line of a body
	depth := 0                   // number of open brackets within a value
	for _, t := range tokens {
		if t.Range.Start.Byte >= at || t.Type == hclsyntax.TokenEOF {
			break
		}
		end := t.Range.End.Byte
		if t.Type == hclsyntax.TokenComment {
			p.comment = end > at || end == at && t.Bytes[len(t.Bytes)-1] != '\n'
			if t.Bytes[len(t.Bytes)-1] == '\n' && p.argument == "" {
				header = nil
			}
			if t.Bytes[len(t.Bytes)-1] == '\n' && depth == 0 {
				p.argument, header, p.chain = "", nil, nil
			}
			continue
		}
		p.follow(t, at)
		if p.argument != "" {
			switch t.Type {
			case hclsyntax.TokenOBrace:
				depth++
				p.keys++
			case hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
				depth++
			case hclsyntax.TokenCBrace:
				if depth == 0 { // the body ends on the line of its last argument
					p.argument, header = "", nil
					p.close()
					continue
				}
				depth--
				p.keys--
			case hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
				depth = max(depth-1, 0)
			case hclsyntax.TokenNewline:
				if depth == 0 {
					p.argument, header, p.keys = "", nil, 0
				}
			}
			continue
		}
		switch t.Type {
		case hclsyntax.TokenNewline:
			header = nil
		case hclsyntax.TokenEqual:
			if len(header) > 0 && header[0].Type == hclsyntax.TokenIdent {
				p.argument, depth = string(header[0].Bytes), 0
				p.top().given[p.argument] = true
			}
		case hclsyntax.TokenOBrace:
			p.open(header)
			header = nil
		case hclsyntax.TokenCBrace:
			p.close()
			header = nil
		default:
			header = append(header, t)
		}
	}
	if p.argument == "" && len(header) > 0 && header[0].Type == hclsyntax.TokenIdent && header[0].Range.End.Byte < at {
		p.label = string(header[0].Bytes)
	}
	return p
}

// follow updates the chain of names with the next token.
func (p *place) follow(t hclsyntax.Token, at int) {
	end := min(t.Range.End.Byte, at)
	switch t.Type {
	case hclsyntax.TokenIdent:
		text := string(t.Bytes[:end-t.Range.Start.Byte])
		if len(p.chain) > 0 && p.chain[len(p.chain)-1] == "" {
			p.chain[len(p.chain)-1] = text
		} else {
			p.chain = []string{text}
		}
		p.word = Range{t.Range.Start.Byte, end}
		p.literal = false
	case hclsyntax.TokenDot:
		if len(p.chain) == 0 { // the dot follows a value of unknown type
			p.chain = []string{""}
		}
		p.chain = append(p.chain, "")
		p.word = Range{end, end}
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		p.chain, p.literal, p.word = nil, true, Range{end, end}
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		p.chain, p.literal, p.word = nil, true, Range{t.Range.Start.Byte, end}
	case hclsyntax.TokenTemplateSeqEnd:
		p.chain, p.literal = nil, true
	default:
		p.chain, p.literal, p.word = nil, false, Range{at, at}
	}
	if t.Range.End.Byte < at && t.Type == hclsyntax.TokenIdent {
		// A later token or space follows this name. If no other token comes, the place is directly after the name.
		p.word.End = end
	}
}

func (p *place) top() *opened { return &p.blocks[len(p.blocks)-1] }

// open adds the block that the tokens of its first line describe: the name, and labels with or without quotes.
func (p *place) open(header []hclsyntax.Token) {
	o := opened{given: map[string]bool{}}
	for _, t := range header {
		switch {
		case t.Type != hclsyntax.TokenIdent && t.Type != hclsyntax.TokenQuotedLit:
		case o.name == "":
			o.name = string(t.Bytes)
		case o.label == "":
			o.label = string(t.Bytes)
		}
	}
	p.top().given[o.name] = true
	p.blocks = append(p.blocks, o)
}

func (p *place) close() {
	if len(p.blocks) > 1 {
		p.blocks = p.blocks[:len(p.blocks)-1]
	}
}

// block returns the innermost block around the place and its arguments. It returns nil outside known blocks.
func (p *place) block(language *schema.Block) (*schema.Block, []schema.Arg) {
	b := language
	args := b.Args
	for _, o := range p.blocks[1:] {
		if b = b.Block(o.name); b == nil {
			return nil, nil
		}
		args = b.ArgsFor(o.label)
	}
	return b, args
}

// Definition is a name that a file defines.
type Definition struct {
	// Kind is the first word of references to the name: job, policy, var, local, each, …
	Kind, Name string
	// At is the range of the name in the file.
	At Range
}

// Definitions lists the names that a file defines, in the order of the file. It returns nothing if blocks are nested
// too deeply to be parsed.
func Definitions(src []byte) []Definition {
	if len(src) > eval.MostSource {
		return nil
	}
	if _, what := eval.TooDeep("", src); what != "" {
		return nil
	}
	file, _ := hclsyntax.ParseConfig(src, "", hcl.InitialPos) // errors are ignored: the part that can be read is enough
	if file == nil {
		return nil
	}
	root, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	var all []Definition
	add := func(kind, name string, at hcl.Range) {
		r := Range{at.Start.Byte, at.End.Byte}
		if text := src[r.Start:r.End]; len(text) > 1 && text[0] == '"' {
			r = Range{r.Start + 1, r.End - 1}
		}
		all = append(all, Definition{kind, name, r})
	}
	for _, b := range root.Blocks {
		switch b.Type {
		case "locals":
			for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
				add("local", name, b.Body.Attributes[name].NameRange)
			}
		case "matrix":
			for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
				add("each", name, b.Body.Attributes[name].NameRange)
			}
		}
		if len(b.Labels) == 0 {
			continue
		}
		kind := b.Type
		if kind == "variable" {
			kind = "var"
		}
		add(kind, b.Labels[0], b.LabelRanges[0])
	}
	slices.SortStableFunc(all, func(a, b Definition) int { return a.At.Start - b.At.Start })
	return all
}

// whole moves a byte offset to the end of the word that contains it.
func whole(src []byte, at int) int {
	for at < len(src) && (src[at] == '_' || src[at] == '-' || '0' <= src[at] && src[at] <= '9' ||
		'a' <= src[at]|0x20 && src[at]|0x20 <= 'z') {
		at++
	}
	return at
}

// Define returns the definition of the name at a byte offset of a file.
func Define(src []byte, at int) (Definition, bool) {
	p := scan(src, whole(src, at))
	if len(p.chain) < 2 || p.comment || at < p.word.Start {
		return Definition{}, false
	}
	for _, d := range Definitions(src) {
		if d.Kind == p.chain[0] && d.Name == p.chain[1] {
			return d, true
		}
	}
	return Definition{}, false
}

// References returns the ranges of all uses of the name at a byte offset. The first range is the definition, which must
// be in this file.
func References(src []byte, at int) (all []Range) {
	name, ok := Define(src, at)
	for _, d := range Definitions(src) {
		if d.At.Start <= at && at <= d.At.End {
			name, ok = d, true
		}
	}
	if !ok {
		return nil
	}
	all = []Range{name.At}
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	for i := 2; i < len(tokens); i++ {
		if kind, dot, word := tokens[i-2], tokens[i-1], tokens[i]; dot.Type == hclsyntax.TokenDot &&
			string(kind.Bytes) == name.Kind && string(word.Bytes) == name.Name &&
			(i < 3 || tokens[i-3].Type != hclsyntax.TokenDot) {
			all = append(all, Range{word.Range.Start.Byte, word.Range.End.Byte})
		}
	}
	return all
}

// IsExperiment reports whether a file is empty or defines blocks of an experiment. Files of other programs can also end
// in .hcl.
func IsExperiment(src []byte) bool {
	all := Definitions(src)
	return len(all) == 0 && len(strings.TrimSpace(string(src))) == 0 || slices.ContainsFunc(all, func(d Definition) bool {
		return slices.Contains([]string{"experiment", "workload", "hardware", "policy"}, d.Kind)
	})
}
