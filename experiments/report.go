package experiments

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// reporter collects diagnostics, each once.
type reporter struct {
	files map[string]*hcl.File
	seen  map[string]bool
	list  Diagnostics
}

func newReporter() *reporter {
	return &reporter{files: map[string]*hcl.File{}, seen: map[string]bool{}}
}

// add files a diagnostic, unless the same has been said of the same place.
func (r *reporter) add(d Diagnostic) {
	key := fmt.Sprintf("%s\x00%d\x00%d\x00%s", d.Range.File, d.Range.Start.Byte, d.Range.End.Byte, d.Summary)
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	if f := r.files[d.Range.File]; f != nil && d.Snippet == nil {
		context := ""
		if nav, ok := f.Nav.(interface{ ContextString(int) string }); ok {
			context = nav.ContextString(d.Range.Start.Byte)
		}
		d.Snippet = snippet(f.Bytes, d.Range, context)
	}
	r.list = append(r.list, d)
}

// errorf reports an error; detail is a format.
func (r *reporter) errorf(at hcl.Range, summary, detail string, args ...any) {
	r.add(Diagnostic{Severity: SeverityError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Range: rangeOf(at)})
}

// warnf reports what is allowed but probably not meant.
func (r *reporter) warnf(at hcl.Range, summary, detail string, args ...any) {
	r.add(Diagnostic{Severity: SeverityWarning, Summary: summary, Detail: fmt.Sprintf(detail, args...), Range: rangeOf(at)})
}

// suggest reports an error with what could be written instead, if anything.
func (r *reporter) suggest(at hcl.Range, suggestion, summary, detail string, args ...any) {
	r.add(Diagnostic{Severity: SeverityError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Suggestion: suggestion, Range: rangeOf(at)})
}

// failed says whether an error has been reported.
func (r *reporter) failed() bool { return r.list.HasErrors() }

// didYouMean finds the suggestion that HCL writes into its details.
var didYouMean = regexp.MustCompile(`\s*Did you mean "([^"]+)"\?`)

// addHCL takes over diagnostics of the HCL library. note is added to details.
func (r *reporter) addHCL(diags hcl.Diagnostics, note string) {
	for _, h := range diags {
		d := Diagnostic{Severity: SeverityError, Summary: h.Summary, Detail: h.Detail}
		if h.Severity == hcl.DiagWarning {
			d.Severity = SeverityWarning
		}
		if m := didYouMean.FindStringSubmatch(d.Detail); m != nil {
			d.Suggestion = m[1]
			d.Detail = didYouMean.ReplaceAllString(d.Detail, "")
		}
		if call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](h); ok {
			d.Suggestion = nearest(call.CalledFunctionName(), functionNames)
		}
		d.Detail = strings.TrimSpace(d.Detail + note)
		if h.Subject != nil {
			d.Range = rangeOf(*h.Subject)
		}
		r.add(d)
	}
}

// addSyntax takes over diagnostics of a parser. What follows a syntax error is
// often its echo: of one kind, and of one line, only the first is told.
func (r *reporter) addSyntax(diags hcl.Diagnostics) {
	kinds, lines := map[string]bool{}, map[int]bool{}
	for _, h := range diags {
		line := 0
		if h.Subject != nil {
			line = h.Subject.Start.Line
		}
		if !kinds[h.Summary] && !lines[line] {
			r.addHCL(hcl.Diagnostics{h}, "")
		}
		kinds[h.Summary], lines[line] = true, true
	}
}

// plural counts things: "1 thread", "2 threads".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rangeOf converts a range of the HCL library.
func rangeOf(h hcl.Range) Range {
	pos := func(p hcl.Pos) Pos { return Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }
	return Range{File: h.Filename, Start: pos(h.Start), End: pos(h.End)}
}

// oneOf lists names for a sentence: `"a", "b" or "c"`.
func oneOf(names []string) string { return listed(names, "or") }

// allOf lists quoted names: "a", "b" and "c".
func allOf(names []string) string { return listed(names, "and") }

func listed(names []string, last string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " " + last + " " + quoted[len(quoted)-1]
}
