package editor

import (
	"strings"
	"unicode/utf16"

	"github.com/tfexp/tfexp/experiments"
)

// params has the parameters of all requests and notifications. Each method uses some of the fields.
type params struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Text    string `json:"text"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	Position position `json:"position"`
	Changes  []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
	Context struct {
		Diagnostics []lspDiagnostic `json:"diagnostics"`
	} `json:"context"`
}

// lspDiagnostic is a diagnostic in the protocol's form.
type lspDiagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
	// Data is a text that can replace the range; empty if no replacement is known.
	Data string `json:"data,omitempty"`
}

// position is a line and a column, in UTF-16 code units. Both count from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// span is a range in a text, by lines and columns.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// lines has a text and the byte offsets at which its lines begin.
type lines struct {
	text   string
	starts []int
}

func newLines(text string) *lines {
	l := &lines{text: text, starts: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			l.starts = append(l.starts, i+1)
		}
	}
	return l
}

// line returns line n without its line break.
func (l *lines) line(n int) string {
	end := len(l.text)
	if n+1 < len(l.starts) {
		end = l.starts[n+1] - 1
	}
	return l.text[l.starts[n]:end]
}

// offset returns the byte offset of a position. A position outside the text becomes the nearest one inside.
func (l *lines) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(l.starts) {
		return len(l.text)
	}
	line, units := l.line(p.Line), 0
	for i, r := range line {
		if units >= p.Character {
			return l.starts[p.Line] + i
		}
		units += utf16.RuneLen(r)
	}
	return l.starts[p.Line] + len(line)
}

// position returns the position of a byte offset.
func (l *lines) position(at int) position {
	n := 0
	for n+1 < len(l.starts) && l.starts[n+1] <= at {
		n++
	}
	units := 0
	for _, r := range l.text[l.starts[n]:at] {
		units += utf16.RuneLen(r)
	}
	return position{n, units}
}

func (l *lines) span(r Range) span { return span{l.position(r.Start), l.position(r.End)} }

func markdown(text string) any { return map[string]string{"kind": "markdown", "value": text} }

// published returns the parameters of textDocument/publishDiagnostics for a file. The file may read other files, such
// as tables; the diagnostics about these are placed on the first line.
func published(uri string, version int, text string, found experiments.Diagnostics) any {
	l := newLines(text)
	list := []lspDiagnostic{}
	for _, d := range found {
		one := lspDiagnostic{Severity: 1, Source: "tfexp", Message: d.Summary + ": " + d.Detail}
		if d.Severity == experiments.SeverityWarning {
			one.Severity = 2
		}
		if d.Detail == "" {
			one.Message = d.Summary
		}
		start, end := min(d.Range.Start.Byte, len(text)), min(d.Range.End.Byte, len(text))
		if own := d.Range.File == pathOf(uri); own {
			one.Range, one.Data = l.span(Range{Start: start, End: end}), d.Suggestion
			if strings.HasPrefix(text[start:end], `"`) && d.Suggestion != "" && !strings.HasPrefix(d.Suggestion, `"`) {
				one.Data = `"` + d.Suggestion + `"`
			}
		} else if d.Range.File != "" {
			one.Message = d.Range.File + ": " + one.Message
		}
		if d.Suggestion != "" {
			one.Message += "\nDid you mean " + d.Suggestion + "?"
		}
		list = append(list, one)
	}
	return map[string]any{"uri": uri, "version": version, "diagnostics": list}
}

// itemKinds are the protocol's numbers of completion kinds.
var itemKinds = map[Kind]int{Argument: 10, Block: 7, Value: 12, Reference: 18,
	Function: 3}

// completions converts completions to the protocol's form. If Insert marks a cursor position, the item is a snippet.
func completions(found []Completion, l *lines) any {
	items := []any{}
	for _, c := range found {
		insert := c.Insert
		snippet := strings.Contains(insert, "$0")
		form := 1
		if snippet {
			form = 2
		}
		items = append(items, map[string]any{
			"label": c.Label, "kind": itemKinds[c.Kind], "detail": c.Detail, "documentation": markdown(c.Doc),
			"insertTextFormat": form, "textEdit": map[string]any{"range": l.span(c.At), "newText": insert},
		})
	}
	return map[string]any{"isIncomplete": false, "items": items}
}

// fixes returns code actions for the replacements that diagnostics suggest.
func fixes(uri string, about []lspDiagnostic) any {
	actions := []any{}
	for _, d := range about {
		if d.Data != "" && d.Source == "tfexp" {
			actions = append(actions, map[string]any{"title": "Write " + d.Data, "kind": "quickfix", "isPreferred": true,
				"diagnostics": []lspDiagnostic{d}, "edit": map[string]any{"changes": map[string]any{
					uri: []any{map[string]any{"range": d.Range, "newText": d.Data}}}}})
		}
	}
	return actions
}

// symbols converts definitions to the protocol's form.
func symbols(found []Definition, l *lines) any {
	const constant, class = 14, 5 // the protocol's numbers of symbol kinds
	list := []any{}
	for _, d := range found {
		kind := class
		if d.Kind == "var" || d.Kind == "local" || d.Kind == "each" {
			kind = constant
		}
		at := l.span(d.At)
		list = append(list, map[string]any{"name": d.Name, "detail": d.Kind, "kind": kind, "range": at, "selectionRange": at})
	}
	return list
}
