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

// Limits of the syntax. The parser and the evaluator are recursive: with deeper nesting the stack would overflow.
const (
	mostDepth     = 500    // nested brackets
	mostOperators = 10_000 // operators in one expression, with those in its brackets
	mostDigits    = 1000   // digits of a number
	mostWords     = 150_000
)

// TooDeep returns the place where an HCL file nests too deeply, chains too many operators, or has a number that would
// take minutes to print. `what` describes the mistake; it is "" for a correct file.
func TooDeep(filename string, src []byte) (at hcl.Range, what string) {
	if at, what = tooLong(filename, src); what == "" {
		tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
		at, what, _ = tooDeep(tokens)
	}
	return at, what
}

// tooLong returns the place where a source exceeds the limit of words and signs. It counts at least as many as there
// are tokens; the parser uses up to 1 KiB per token.
func tooLong(filename string, src []byte) (at hcl.Range, what string) {
	words, in := 0, false // in: the last byte was part of a word
	for i, c := range src {
		was := in
		in = c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if c == ' ' || c == '\t' || c == '\r' || in && was || 0x80 <= c && c < 0xc0 { // also a byte inside a UTF-8 character
			continue
		}
		if words++; words > mostWords {
			return byteAt(filename, src, i), fmt.Sprintf("The file has more than %d words and signs. Write long lists and tables "+
				"into a CSV or JSON file, and name that file in the experiment.", mostWords)
		}
	}
	return at, ""
}

// byteAt returns the place of the byte at an offset.
func byteAt(filename string, src []byte, offset int) hcl.Range {
	at := hcl.Pos{Line: 1 + bytes.Count(src[:offset], []byte("\n")), Column: offset - bytes.LastIndexByte(src[:offset], '\n'), Byte: offset}
	end := at
	end.Byte, end.Column = offset+1, at.Column+1
	return hcl.Range{Filename: filename, Start: at, End: end}
}

// operators are the tokens that make chains, which are evaluated recursively. They include index brackets and
// template controls ("%{ if").
var operators = map[hclsyntax.TokenType]bool{
	hclsyntax.TokenBang: true, hclsyntax.TokenMinus: true, hclsyntax.TokenPlus: true, hclsyntax.TokenStar: true,
	hclsyntax.TokenSlash: true, hclsyntax.TokenPercent: true, hclsyntax.TokenQuestion: true, hclsyntax.TokenAnd: true,
	hclsyntax.TokenOr: true, hclsyntax.TokenDot: true, hclsyntax.TokenEqualOp: true, hclsyntax.TokenNotEqual: true,
	hclsyntax.TokenLessThan: true, hclsyntax.TokenGreaterThan: true, hclsyntax.TokenLessThanEq: true,
	hclsyntax.TokenGreaterThanEq: true, hclsyntax.TokenOBrack: true, hclsyntax.TokenTemplateControl: true,
}

// open is a bracket or quote that has not been closed.
type open struct{ body, loop bool }

// tooDeep does the work of TooDeep for a list of tokens. It also returns how deeply loops are nested. A comma ends a
// chain of operators, and so does the end of a line in a body.
func tooDeep(tokens hclsyntax.Tokens) (at hcl.Range, what string, loops int) {
	var all []open
	chain, nested := 0, 0
	var last hclsyntax.TokenType
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			all = append(all, open{body: t.Type == hclsyntax.TokenOBrace})
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if n := len(all); n > 0 {
				if all[n-1].loop {
					nested--
				}
				all = all[:n-1]
			}
		case hclsyntax.TokenComma:
			chain = 0
		case hclsyntax.TokenNewline:
			if n := len(all); n == 0 || all[n-1].body {
				chain = 0
			}
			continue
		case hclsyntax.TokenNumberLit:
			if hugeLiteral(string(t.Bytes)) {
				return t.Range, "A number is above 1e1000, or closer to 0 than 1e-1000.", loops
			}
		case hclsyntax.TokenIdent:
			if string(t.Bytes) == "for" && (last == hclsyntax.TokenOBrace || last == hclsyntax.TokenOBrack) {
				all[len(all)-1], nested = open{loop: true}, nested+1
				loops = max(loops, nested)
			}
		}
		if operators[t.Type] {
			chain++
		}
		switch last = t.Type; {
		case len(all) > mostDepth:
			return t.Range, fmt.Sprintf("Brackets and quotes are nested more than %d deep.", mostDepth), loops
		case chain > mostOperators:
			return t.Range, fmt.Sprintf("An expression has more than %d operators.", mostOperators), loops
		}
	}
	return hcl.Range{}, "", loops
}

// hugeLiteral reports whether a number as written is outside the range that Huge allows.
func hugeLiteral(text string) bool {
	if len(text) > mostDigits {
		return true
	}
	n, _, err := new(big.Float).Parse(text, 10)
	return err == nil && Huge(cty.NumberVal(n))
}

// TooDeepJSON does the work of TooDeep for a JSON file, and returns the summary of an error too. Nested loops in a
// text are an error: the text is parsed at each evaluation, so the elements that its loops make cannot be counted.
func TooDeepJSON(filename string, src []byte) (at hcl.Range, summary, what string) {
	if at, what = tooLong(filename, src); what != "" {
		return at, tooLarge, what
	}
	in := json.NewDecoder(bytes.NewReader(src))
	for depth := 0; ; {
		t, err := in.Token()
		if err != nil {
			return at, "", "" // the parser reports that the JSON is invalid
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			if depth++; depth > mostDepth {
				what = fmt.Sprintf("Brackets are nested more than %d deep.", mostDepth)
			}
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if text, _ := t.(string); strings.Contains(text, "${") || strings.Contains(text, "%{") {
			tokens, _ := hclsyntax.LexTemplate([]byte(text), filename, hcl.InitialPos)
			var loops int
			if _, what, loops = tooDeep(tokens); what == "" && loops > 1 {
				return hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}, "Loop inside a loop",
					"A text of this file has a for within a for, which files in JSON cannot have; write the experiment in HCL."
			}
		}
		if what == "" {
			continue
		}
		return byteAt(filename, src, int(in.InputOffset())-1), tooLarge, what
	}
}
