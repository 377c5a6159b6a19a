// Package eval evaluates a file. It checks the names of blocks and arguments against the tables of the language. It
// evaluates variables, locals and the arguments of blocks, and collects errors as diagnostics.
package eval

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Reporter collects diagnostics without repetitions.
type Reporter struct {
	// Files are the sources that diagnostics quote, by name.
	Files map[string]*hcl.File
	// List has the diagnostics in the order of their reports.
	List experiments.Diagnostics
	seen map[string]bool

	compared int                          // number of names compared by Nearest
	effort   Effort                       // effort of the expression under evaluation
	called   map[string]function.Function // cache of the method functions

	sensitive map[string]bool // names of sensitive variables
}

// NewReporter returns a reporter without diagnostics.
func NewReporter() *Reporter {
	return &Reporter{Files: map[string]*hcl.File{}, seen: map[string]bool{}}
}

// mostSnippets is the largest number of diagnostics with their source line, because finding a line takes time. Fewer
// are shown.
const mostSnippets = 100

// Add reports a diagnostic, unless the same place already has one with the same
// summary.
func (r *Reporter) Add(d experiments.Diagnostic) {
	key := placeOf(d)
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	if f := r.Files[d.Range.File]; f != nil && d.Snippet == nil && len(r.List) < mostSnippets {
		context := ""
		if nav, ok := f.Nav.(interface{ ContextString(int) string }); ok {
			context = nav.ContextString(d.Range.Start.Byte)
		}
		d.Snippet = experiments.SnippetOf(f.Bytes, d.Range, context)
	}
	r.List = append(r.List, d)
}

// placeOf returns a text that identifies the place and summary of a diagnostic.
func placeOf(d experiments.Diagnostic) string {
	return fmt.Sprintf("%s\x00%d\x00%d\x00%s", d.Range.File, d.Range.Start.Byte, d.Range.End.Byte, d.Summary)
}

// TakeBack removes all diagnostics but the first n, and returns the removed ones.
func (r *Reporter) TakeBack(n int) experiments.Diagnostics {
	back := r.List[n:]
	for _, d := range back {
		delete(r.seen, placeOf(d))
	}
	r.List = r.List[:n:n]
	return back
}

// Errorf reports an error; detail is a format.
func (r *Reporter) Errorf(at hcl.Range, summary, detail string, args ...any) {
	r.Add(experiments.ErrorAt(RangeOf(at), summary, detail, args...))
}

// Warnf reports a warning about something that is allowed but probably a mistake; detail is a format.
func (r *Reporter) Warnf(at hcl.Range, summary, detail string, args ...any) {
	r.Add(experiments.WarningAt(RangeOf(at), summary, detail, args...))
}

// mostCompared is the largest number of names that are compared to find suggestions. A file with many errors would
// need more, but only its first errors are shown.
const mostCompared = 200_000

// Nearest returns the name that the user probably meant, like words.Nearest. After mostCompared comparisons it
// returns "".
func (r *Reporter) Nearest(name string, names func() []string) string {
	if r.compared > mostCompared {
		return ""
	}
	all := names()
	r.compared += len(all)
	return schema.Nearest(name, all)
}

// Suggest reports an error with a suggested replacement; "" means none.
func (r *Reporter) Suggest(at hcl.Range, suggestion, summary, detail string, args ...any) {
	d := experiments.ErrorAt(RangeOf(at), summary, detail, args...)
	d.Suggestion = suggestion
	r.Add(d)
}

// Failed reports whether an error has been reported.
func (r *Reporter) Failed() bool { return r.List.HasErrors() }

// didYouMean matches the suggestion in the details of HCL's errors.
var didYouMean = regexp.MustCompile(`\s*Did you mean "([^"]+)"\?`)

// addHCL adds diagnostics of the HCL library. note is appended to their details.
func (r *Reporter) addHCL(diags hcl.Diagnostics, note string) {
	for _, h := range diags {
		d := experiments.Diagnostic{Severity: experiments.SeverityError, Summary: h.Summary, Detail: h.Detail}
		if h.Severity == hcl.DiagWarning {
			d.Severity = experiments.SeverityWarning
		}
		if m := didYouMean.FindStringSubmatch(d.Detail); m != nil {
			d.Suggestion = m[1]
			d.Detail = didYouMean.ReplaceAllString(d.Detail, "")
		}
		if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](h); ok {
			d.Suggestion = schema.Nearest(call.CalledFunctionName(), functionNames)
		}
		d.Detail = strings.TrimSpace(d.Detail + note)
		if h.Subject != nil {
			d.Range = RangeOf(*h.Subject)
		}
		r.Add(d)
	}
}

// addSyntax adds diagnostics of a parser. Since one mistake often causes several errors, it adds only the first of
// each kind and of each line.
func (r *Reporter) addSyntax(diags hcl.Diagnostics) {
	kinds, lines := map[string]bool{}, map[int]bool{}
	for _, h := range diags {
		line := 0
		if h.Subject != nil {
			line = h.Subject.Start.Line
		}
		if !kinds[h.Summary] && !lines[line] {
			if at := h.Subject; h.Summary == "Invalid character" && at != nil &&
				at.CanSliceBytes(r.Files[at.Filename].Bytes) {
				h.Detail += fmt.Sprintf(" It is %+q.", at.SliceBytes(r.Files[at.Filename].Bytes)) // it may be invisible
			}
			r.addHCL(hcl.Diagnostics{h}, "")
		}
		kinds[h.Summary], lines[line] = true, true
	}
}

// RangeOf converts a range of the HCL library.
func RangeOf(h hcl.Range) experiments.Range {
	pos := func(p hcl.Pos) experiments.Pos { return experiments.Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }
	return experiments.Range{File: h.Filename, Start: pos(h.Start), End: pos(h.End)}
}

// functions returns the functions that expressions can call. Their results are added to the effort.
func (r *Reporter) functions() map[string]function.Function {
	if r.called == nil {
		r.called = make(map[string]function.Function, len(functions))
		for name, f := range functions {
			r.called[name] = Guard(name, f, &r.effort)
		}
	}
	return r.called
}
