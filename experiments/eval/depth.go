package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The parser and the evaluation work by recursion: what nests deeper than this they would not return from.
const (
	mostDepth     = 500    // brackets within brackets
	mostOperators = 10_000 // operators of one expression, those in its brackets included
	mostDigits    = 1000   // of a number
)

// TooDeep finds where a file in HCL nests too deep, chains too many operators, or has a number that takes minutes to
// write.
func TooDeep(filename string, src []byte) (at hcl.Range, what string) {
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	return tooDeep(tokens)
}

// TooDeepExpression is TooDeep of one expression, which begins at a place of a file.
func TooDeepExpression(filename string, src []byte, start hcl.Pos) (at hcl.Range, what string) {
	tokens, _ := hclsyntax.LexExpression(src, filename, start)
	return tooDeep(tokens)
}

// closing is what ends what a token opens.
var closing = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOBrace: hclsyntax.TokenCBrace, hclsyntax.TokenOBrack: hclsyntax.TokenCBrack,
	hclsyntax.TokenOParen: hclsyntax.TokenCParen, hclsyntax.TokenOQuote: hclsyntax.TokenCQuote,
	hclsyntax.TokenOHeredoc: hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateInterp: hclsyntax.TokenTemplateSeqEnd,
	hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
}

// operators are the tokens of which a chain is evaluated by recursion. The brackets of an index and the controls of a
// template ("%{ if") are among them.
var operators = map[hclsyntax.TokenType]bool{
	hclsyntax.TokenBang: true, hclsyntax.TokenMinus: true, hclsyntax.TokenPlus: true, hclsyntax.TokenStar: true,
	hclsyntax.TokenSlash: true, hclsyntax.TokenPercent: true, hclsyntax.TokenQuestion: true, hclsyntax.TokenAnd: true,
	hclsyntax.TokenOr: true, hclsyntax.TokenDot: true, hclsyntax.TokenEqualOp: true, hclsyntax.TokenNotEqual: true,
	hclsyntax.TokenLessThan: true, hclsyntax.TokenGreaterThan: true, hclsyntax.TokenLessThanEq: true,
	hclsyntax.TokenGreaterThanEq: true, hclsyntax.TokenOBrack: true, hclsyntax.TokenTemplateControl: true,
}

// open is a bracket or a quote that is open, or the file.
type open struct {
	end   hclsyntax.TokenType // what closes it
	lines bool                // a new line begins another expression
	count int                 // operators of the expression that is read now
	inner int                 // and of the longest chain in brackets of it
	most  int                 // the longest chain of the expressions before
}

func (o *open) chain() int { return o.count + o.inner }

func (o *open) next() { o.most, o.count, o.inner = max(o.most, o.chain()), 0, 0 }

func tooDeep(tokens hclsyntax.Tokens) (at hcl.Range, what string) {
	all := []*open{{lines: true}}
	var last hclsyntax.TokenType // but for new lines
	// shut closes what is open down to a number of those.
	shut := func(down int) {
		for len(all) > down {
			o := all[len(all)-1]
			o.next()
			all = all[:len(all)-1]
			within := all[len(all)-1]
			within.inner = max(within.inner, o.most)
		}
	}
	for _, t := range tokens {
		top := all[len(all)-1]
		if operators[t.Type] {
			top.count++
		}
		if t.Type == hclsyntax.TokenNumberLit && hugeLiteral(string(t.Bytes)) {
			return t.Range, "A number is beyond 1e1000, or so close to 0."
		}
		switch end, opens := closing[t.Type], closing[t.Type] != 0; {
		case opens:
			all = append(all, &open{end: end, lines: t.Type == hclsyntax.TokenOBrace})
		case t.Type == hclsyntax.TokenEOF:
			shut(1)
		case t.Type == hclsyntax.TokenComma, t.Type == hclsyntax.TokenNewline && top.lines:
			top.next()
		case t.Type == hclsyntax.TokenIdent && last == hclsyntax.TokenOBrace && string(t.Bytes) == "for":
			top.lines = false
		default:
			for i := len(all) - 1; i > 0; i-- {
				if all[i].end == t.Type {
					shut(i)
					break
				}
			}
		}
		if t.Type != hclsyntax.TokenNewline {
			last = t.Type
		}
		switch {
		case len(all)-1 > mostDepth:
			return t.Range, fmt.Sprintf("Brackets and quotes are nested more than %d deep.", mostDepth)
		case max(top.chain(), all[len(all)-1].chain()) > mostOperators:
			return t.Range, fmt.Sprintf("An expression has more than %d operators.", mostOperators)
		}
	}
	return hcl.Range{}, ""
}

// hugeLiteral is Huge of a number as it is written.
func hugeLiteral(text string) bool {
	if len(text) > mostDigits {
		return true
	}
	n, _, err := new(big.Float).Parse(text, 10)
	return err == nil && Huge(cty.NumberVal(n))
}

// TooDeepJSON is TooDeep of a file in JSON. Brackets in its strings count as well:
// strings are templates, which are parsed in turn.
func TooDeepJSON(filename string, src []byte) (at hcl.Range, what string) {
	depth, pos := 0, hcl.InitialPos
	for i, c := range src {
		pos.Byte = i
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth = max(depth-1, 0)
		case '\n':
			pos.Line, pos.Column = pos.Line+1, 0
		}
		if depth > mostDepth {
			return oneByte(filename, pos), fmt.Sprintf("Brackets are nested more than %d deep.", mostDepth)
		}
		pos.Column++
	}
	return textTooDeep(filename, src)
}

// textTooDeep finds the end of a text in JSON that is too deep as a template.
func textTooDeep(filename string, src []byte) (at hcl.Range, what string) {
	in := json.NewDecoder(bytes.NewReader(src))
	for {
		t, err := in.Token()
		if err != nil {
			return hcl.Range{}, "" // what is no JSON is reported by the parser
		}
		text, ok := t.(string)
		if !ok || !strings.Contains(text, "${") && !strings.Contains(text, "%{") {
			continue
		}
		tokens, _ := hclsyntax.LexTemplate([]byte(text), filename, hcl.InitialPos)
		if _, what := tooDeep(tokens); what != "" {
			end := int(in.InputOffset()) - 1
			before := src[:end]
			return oneByte(filename, hcl.Pos{
				Line: 1 + bytes.Count(before, []byte("\n")), Column: end - bytes.LastIndexByte(before, '\n'), Byte: end,
			}), what
		}
	}
}

func oneByte(filename string, pos hcl.Pos) hcl.Range {
	end := pos
	end.Byte, end.Column = pos.Byte+1, pos.Column+1
	return hcl.Range{Filename: filename, Start: pos, End: end}
}
