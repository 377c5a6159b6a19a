package show

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tfexp/tfexp/results/table"
)

// folding breaks lines that are wider than a terminal at word boundaries. Continuation lines are indented; in an
// entry of a list, to the column of the entry's text. Text without an end of line is held back until there is one.
type folding struct {
	to      io.Writer
	columns int
	line    []byte // without its end
}

// Fold returns a writer that breaks long lines at words where w is a terminal; elsewhere w itself.
func Fold(w io.Writer) io.Writer {
	if columns, ok := Columns(w); ok {
		return &folding{to: w, columns: columns}
	}
	return w
}

// Unwrap returns the writer below.
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

// broken is a line broken at its words.
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

// listEntry is a line of a list, "  --json   print JSON": a name with the room after it, and a text.
var listEntry = regexp.MustCompile(`^( +\S+(?: \S+)*  +)(\S+(?: \S+)*)$`)

// leastHanging is how narrow a text with room on its left may be.
const leastHanging = 20

// mostHelp is the width of paragraphs of help in a wide terminal.
const mostHelp = 84

// Reflow wraps the paragraphs of a help text again where the terminal w is narrower. Lines that begin with a space
// stay.
func Reflow(w io.Writer, text string) string {
	columns, ok := Columns(w)
	if !ok || columns > mostHelp {
		return text
	}
	var out []string
	joins := false // the next line continues the last
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
