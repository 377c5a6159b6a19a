// Package experiments has the shipped experiments, and the diagnostics that all readers of experiment files report.
// Its subpackages are the language of the files: schema describes blocks and arguments, eval evaluates them, and
// editor answers requests of text editors.
package experiments

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Severities of a diagnostic.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Diagnostic is an error or a warning about a place in a file. The text form and the JSON form are both made from it.
type Diagnostic struct {
	Severity string `json:"severity"`
	// Summary is a short phrase that names the kind of mistake. Detail describes the mistake in a sentence or two
	// and what to do.
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	// Suggestion is a text with which the user can replace the marked part; often "".
	Suggestion string `json:"suggestion,omitempty"`
	// Unavailable marks a valid file that needs something this machine lacks.
	// Such a warning is an error when jobs are about to run.
	Unavailable bool  `json:"unavailable,omitempty"`
	Range       Range `json:"range"`
	// Snippet is nil if there is no source line to show.
	Snippet *Snippet `json:"snippet,omitempty"`
}

// Pos is a place in a file; lines and columns count from 1, bytes from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a part of a source file.
type Range struct {
	File  string `json:"file"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// HostFacts describe the machine that tfexp runs on.
type HostFacts struct {
	Threads, Cores int
	MemoryBytes    int64
	OS, Arch       string
	CPUModel, Name string
	GPUs           int
	GPUType        string // the model of the GPUs
	// NoGPUs is a phrase that says why the host has no GPUs; "" if it has some.
	NoGPUs string
}

// ErrorAt returns an error about a place in a file; detail is a format.
func ErrorAt(at Range, summary, detail string, args ...any) Diagnostic {
	return Diagnostic{Severity: SeverityError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Range: at}
}

// WarningAt returns a warning about a place in a file; detail is a format.
func WarningAt(at Range, summary, detail string, args ...any) Diagnostic {
	d := ErrorAt(at, summary, detail, args...)
	d.Severity = SeverityWarning
	return d
}

// Snippet is the source line that a diagnostic marks.
type Snippet struct {
	// Context names the block that contains the line, such as `policy "rr"`; "" outside of blocks.
	Context string `json:"context,omitempty"`
	Line    int    `json:"line"`
	Code    string `json:"code"`
	// MarkStart and MarkEnd are the byte offsets in Code of the marked part.
	MarkStart int `json:"mark_start"`
	MarkEnd   int `json:"mark_end"`
}

// Diagnostics is a list of diagnostics in the order of the file.
type Diagnostics []Diagnostic

// HasErrors reports whether at least one diagnostic is an error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// RequireAvailable returns the diagnostics for a run on this machine: warnings marked
// Unavailable become errors.
func (ds Diagnostics) RequireAvailable() Diagnostics {
	ds = slices.Clone(ds)
	for i := range ds {
		if ds[i].Unavailable {
			ds[i].Severity = SeverityError
		}
	}
	return ds
}

// OnlyUnavailable reports whether there are errors, and all of them are about
// things that this machine lacks.
func (ds Diagnostics) OnlyUnavailable() bool {
	return ds.HasErrors() && !slices.ContainsFunc(ds,
		func(d Diagnostic) bool { return d.Severity == SeverityError && !d.Unavailable })
}

// CommandLine is the file name in ranges that refer to a -var argument.
const CommandLine = "-var"

// ANSI escape sequences for colored output.
const (
	red, yellow, bold, plain = "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
)

// mostRendered is the largest number of diagnostics that Render writes.
const mostRendered = 20

// Render writes the first 20 diagnostics as text, each with its source line and a mark below it.
func (ds Diagnostics) Render(w io.Writer, color bool) error {
	var b bytes.Buffer
	for i, d := range ds {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == mostRendered && len(ds) > mostRendered+1 {
			fmt.Fprintf(&b, "And %d more.\n", len(ds)-mostRendered)
			break
		}
		d.render(&b, color)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (d Diagnostic) render(b *bytes.Buffer, color bool) {
	paint := func(code, s string) string {
		if !color {
			return s
		}
		return code + s + plain
	}
	word, tint := "Error", red
	if d.Severity == SeverityWarning {
		word, tint = "Warning", yellow
	}
	fmt.Fprintf(b, "%s %s\n", paint(bold+tint, word+":"), paint(bold, schema.Shortened(d.Summary, mostColumns)))

	if where := d.where(); where != "" {
		fmt.Fprintf(b, "\n  on %s:\n", where)
	}
	if s := d.Snippet; s != nil {
		number := fmt.Sprint(s.Line)
		s = s.cut(mostColumns)
		fmt.Fprintf(b, "  %s | %s\n", number, s.Code)
		// Tabs are kept, so that the mark stands below the marked text.
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, s.Code[:s.MarkStart])
		width := max(1, utf8.RuneCountInString(s.Code[s.MarkStart:s.MarkEnd]))
		fmt.Fprintf(b, "  %s | %s%s\n", strings.Repeat(" ", len(number)), pad, paint(tint, strings.Repeat("^", width)))
	}
	if d.Detail != "" || d.Suggestion != "" {
		b.WriteByte('\n')
	}
	if d.Detail != "" {
		b.WriteString(schema.Shortened(d.Detail, schema.MostOfText) + "\n")
	}
	if d.Suggestion != "" {
		quoted := schema.Shortened(d.Suggestion, mostColumns)
		if !strings.Contains(quoted, `"`) {
			quoted = `"` + quoted + `"`
		}
		fmt.Fprintf(b, "Did you mean %s?\n", quoted)
	}
}

// mostColumns is the largest number of columns of a source line that is shown.
const mostColumns = 120

// Within returns the diagnostics with source lines cut to the given number of columns, for a narrow terminal.
func (ds Diagnostics) Within(columns int) Diagnostics {
	ds = slices.Clone(ds)
	for i := range ds {
		if s := ds[i].Snippet; s != nil {
			ds[i].Snippet = s.cut(columns)
		}
	}
	return ds
}

// cut returns the snippet with at most the given number of characters of its line, starting near the mark.
func (s *Snippet) cut(most int) *Snippet {
	if utf8.RuneCountInString(s.Code) <= most {
		return s
	}
	runes := []rune(s.Code)
	start := utf8.RuneCountInString(s.Code[:s.MarkStart])
	end := start + utf8.RuneCountInString(s.Code[s.MarkStart:s.MarkEnd])
	from := max(0, min(start-most/3, len(runes)-most))
	to := min(from+most, len(runes))
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(runes) {
		after = "…"
	}
	head := before + string(runes[from:start])
	mark := string(runes[start:min(end, to)])
	return &Snippet{
		Context: s.Context, Line: s.Line, Code: head + mark + string(runes[min(end, to):to]) + after,
		MarkStart: len(head), MarkEnd: len(head) + len(mark),
	}
}

func (d Diagnostic) where() string {
	switch {
	case d.Range.File == "":
		return ""
	case d.Range.File == CommandLine:
		return "the command line"
	case d.Range.Start.Line == 0:
		return d.Range.File
	}
	where := fmt.Sprintf("%s line %d", d.Range.File, d.Range.Start.Line)
	if d.Snippet != nil && d.Snippet.Context != "" {
		where += ", in " + schema.Shortened(d.Snippet.Context, mostColumns)
	}
	return where
}

// Sort sorts the diagnostics in the order of the file.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Range.File, b.Range.File),
			cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte),
			cmp.Compare(a.Range.End.Byte, b.Range.End.Byte),
		)
	})
}

// SnippetOf returns the line of src in which r begins.
func SnippetOf(src []byte, r Range, context string) *Snippet {
	if r.Start.Line == 0 || r.Start.Byte > len(src) {
		return nil
	}
	from := bytes.LastIndexByte(src[:r.Start.Byte], '\n') + 1
	to := len(src)
	if n := bytes.IndexByte(src[r.Start.Byte:], '\n'); n >= 0 {
		to = r.Start.Byte + n
	}
	text := bytes.TrimSuffix(bytes.Clone(src[from:to]), []byte("\r"))
	for i := 0; i < len(text); { // one byte for each byte, so that offsets stay the same
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			text[i] = '?'
		}
		i += size
	}
	code := string(text)
	start := min(r.Start.Byte-from, len(code))
	end := min(max(r.End.Byte-from, start), len(code))
	return &Snippet{Context: context, Line: r.Start.Line, Code: code, MarkStart: start, MarkEnd: end}
}
