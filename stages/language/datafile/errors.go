package datafile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/language"
)

// FileErrors reports the errors of a file, each malformed line with its place.
func FileErrors(d language.Finder, t language.Input, at hcl.Range, err error) {
	fileErrors(d, t, at, err, "")
}

// TraceErrors works as FileErrors, for a file whose malformed lines --lenient skips. It mentions --lenient.
func TraceErrors(d language.Finder, t language.Input, at hcl.Range, err error) {
	fileErrors(d, t, at, err, " --lenient leaves such lines out.")
}

func fileErrors(d language.Finder, t language.Input, at hcl.Range, err error, hint string) {
	lines := LineErrors(err)
	var wanted []int
	kinds := map[string]int{} // number of lines with the same mistake
	for _, l := range lines {
		wanted = append(wanted, l.Line)
		kinds[KindOf(l.Err)]++
	}
	shown := linesOf(t, wanted...)
	for i, l := range lines {
		kind := KindOf(l.Err)
		others := kinds[kind] - 1
		switch {
		case others < 0:
			continue // counted in the message of the first line with this mistake
		case others < mostAlike:
			others = 0
		default:
			kinds[kind] = 0
		}
		detail := language.Sentence(l.Err.Error())
		if others > 0 {
			detail += fmt.Sprintf(" %d more lines are wrong in the same way.", others)
		}
		if i == 0 && l.Line > 1 {
			detail += hint
		}
		if i == 0 && len(lines) >= textfile.MaxErrors {
			detail += fmt.Sprintf(" Reading stopped at line %d; there may be more.", lines[len(lines)-1].Line)
		}
		atLine(d, t, l.Line, shown[l.Line], "Malformed line", detail)
	}
	switch {
	case len(lines) > 0:
	case errors.Is(err, fs.ErrNotExist):
		d.Errorf(at, "Cannot read the file", "There is no file %s.", t.Shown)
	default:
		d.Errorf(at, "Cannot read the file", "%s", language.Sentence(err.Error()))
	}
}

// mostAlike is the largest number of lines with the same mistake that are reported separately.
const mostAlike = 3

// LineError reports an error at a line of a file. It reads the file again to show the line.
func LineError(d language.Finder, t language.Input, line int, summary, detail string) {
	atLine(d, t, line, linesOf(t, line)[line], summary, detail)
}

func atLine(d language.Finder, t language.Input, line int, l shownLine, summary, detail string) {
	at := experiments.Range{
		File:  t.Shown,
		Start: experiments.Pos{Line: line, Column: 1, Byte: l.from},
		End:   experiments.Pos{Line: line, Column: 1 + len(l.text), Byte: l.from + len(l.text)},
	}
	e := experiments.ErrorAt(at, summary, "%s", detail)
	within := at
	within.Start.Byte, within.End.Byte = 0, len(l.text)
	if l.there {
		e.Snippet = experiments.SnippetOf(l.text, within, "")
	}
	d.Add(e)
}

// shownLine is the shown part of a line, and its offset in the file.
type shownLine struct {
	from  int
	text  []byte
	there bool
}

// mostShown is how many bytes of a line are read; messages show fewer.
const mostShown = 4 << 10

// linesOf reads the wanted lines of a file, by line number. Lines that cannot be read are missing from the result;
// their messages then show no source line.
func linesOf(t language.Input, wanted ...int) map[int]shownLine {
	found := map[int]shownLine{}
	f, err := openRegular(t)
	if err != nil {
		return found
	}
	defer f.Close()
	text, err := unpack(t.Path, f)
	if err != nil {
		return found
	}
	last := slices.Max(append(wanted, 0))
	in := bufio.NewReaderSize(textfile.Unmarked(text), 64<<10)
	at := 0
	for line := 1; line <= last; line++ {
		l := shownLine{from: at, there: true}
		keep := slices.Contains(wanted, line)
		for more := true; more; {
			part, err := in.ReadSlice('\n')
			more = errors.Is(err, bufio.ErrBufferFull)
			at += len(part)
			if keep {
				l.text = append(l.text, part[:min(len(part), mostShown-len(l.text))]...)
			}
			if more && keep && line == last { // the rest of the file is not needed
				break
			}
			if err != nil && !more {
				last = line
			}
		}
		if keep {
			l.text = bytes.TrimRight(l.text, "\r\n")
			found[line] = l
		}
	}
	return found
}

// LineErrors returns all line errors within an error.
func LineErrors(err error) []*textfile.LineError {
	if at, ok := err.(*textfile.LineError); ok {
		return []*textfile.LineError{at}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return LineErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*textfile.LineError
		for _, one := range e.Unwrap() {
			all = append(all, LineErrors(one)...)
		}
		return all
	}
	return nil
}

// Malformed describes skipped lines: the number of lines for each mistake, most frequent first, and the first line
// number. It names no folder, so that the text does not depend on where the file is.
func Malformed(skipped []error) string {
	type reason struct {
		count, line int
		text        string
	}
	var reasons []*reason
	byKind := map[string]*reason{}
	for _, l := range LineErrors(errors.Join(skipped...)) {
		text := l.Err.Error()
		kind := KindOf(l.Err)
		r := byKind[kind]
		if r == nil {
			r = &reason{line: l.Line, text: text}
			byKind[kind] = r
			reasons = append(reasons, r)
		}
		r.count++
	}
	text := schema.Plural(len(skipped), "malformed line")
	switch len(reasons) {
	case 0:
		return text
	case 1:
		return text + fmt.Sprintf(" (the first is line %d: %s)", reasons[0].line, reasons[0].text)
	}
	slices.SortStableFunc(reasons, func(a, b *reason) int { return cmp.Compare(b.count, a.count) })
	parts := make([]string, 0, maxReasons+1)
	for i, r := range reasons {
		if i == maxReasons {
			parts = append(parts, schema.Plural(len(reasons)-i, "other reason"))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d, first line %d)", r.text, r.count, r.line))
	}
	return text + ": " + strings.Join(parts, "; ")
}

// maxReasons is the largest number of mistakes that are described.
const maxReasons = 8

// particular matches quoted texts and numbers in error messages.
var particular = regexp.MustCompile(`(")[^"]*("?)|[0-9]`)

// KindOf returns the error's text without quoted texts and numbers. Errors with the same mistake have the same kind.
func KindOf(err error) string { return particular.ReplaceAllString(err.Error(), "$1$2") }
