package show

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tfexp/tfexp/results/table"
)

// folding wraps lines that are wider than a terminal at spaces, and indents the continuation lines. In an entry of a
// list, they are indented to the column of the entry's text. Text is written when its line is complete.
type folding struct {
	to      io.Writer
	columns int
	line    []byte // the current line, which is incomplete
}

// Fold returns a writer that wraps long lines at spaces if w is a terminal; otherwise it returns w.
func Fold(w io.Writer) io.Writer {
	if columns, ok := Columns(w); ok {
		return &folding{to: w, columns: columns}
	}
	return w
}

// Unwrap returns the writer that f writes to.
func (f *folding) Unwrap() io.Writer { return f.to }

// Write implements io.Writer.
func (f *folding) Write(p []byte) (int, error) {
	f.line = append(f.line, p...)
	end := bytes.LastIndexByte(f.line, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var b strings.Builder
	for line := range strings.Lines(string(f.line[:end])) {
		if text := strings.TrimRight(line, "\n"); ansi.StringWidth(text) > f.columns && f.columns >= leastHanging {
			line = f.broken(text) + "\n"
		}
		b.WriteString(line)
	}
	f.line = f.line[:copy(f.line, f.line[end:])]
	if _, err := io.WriteString(f.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// broken returns a line wrapped at spaces.
func (f *folding) broken(line string) string {
	const indent = "    "
	if parts := listEntry.FindStringSubmatch(line); parts != nil {
		name, left := parts[1], ansi.StringWidth(parts[1])
		if f.columns-left >= leastHanging {
			return name + strings.ReplaceAll(table.Wrap(parts[2], f.columns-left), "\n", "\n"+strings.Repeat(" ", left))
		}
	}
	return strings.ReplaceAll(table.Wrap(line, f.columns-len(indent)), "\n", "\n"+indent)
}

// listEntry matches a line of a list such as "  --json   print JSON": a name, spaces and a text.
var listEntry = regexp.MustCompile(`^( +\S+(?: \S+)*  +)(\S+(?: \S+)*)$`)

// leastHanging is the least width of an indented text, in columns.
const leastHanging = 20

// mostHelp is the largest width of help texts, in columns.
const mostHelp = 84

// Reflow wraps the paragraphs of a help text again if the terminal w is narrower. Lines that begin with a space are not
// changed.
func Reflow(w io.Writer, text string) string {
	columns, ok := Columns(w)
	if !ok || columns > mostHelp {
		return text
	}
	var out []string
	joins := false // whether the next line continues the paragraph
	for _, line := range table.LinesOf(text) {
		plain := line != "" && line[0] != ' '
		if plain && joins {
			out[len(out)-1] += " " + line
		} else {
			out = append(out, line)
		}
		joins = plain
	}
	for i, line := range out {
		if line != "" && line[0] != ' ' {
			out[i] = table.Wrap(line, columns-1)
		}
	}
	return strings.Join(out, "\n")
}
