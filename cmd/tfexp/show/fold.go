package show

import (
	"bytes"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// folding breaks lines that are wider than a terminal at their words; what follows is indented. Text
// without an end of line is held back until there is one.
type folding struct {
	to      io.Writer
	columns int
	line    []byte // without its end
}

// Fold returns a writer that breaks long lines at words where w is a terminal; elsewhere w itself.
func Fold(w io.Writer) io.Writer {
	if columns, ok := columns(w); ok {
		return &folding{to: w, columns: columns}
	}
	return w
}

// Unwrap returns the writer below.
func (f *folding) Unwrap() io.Writer { return f.to }

// Write implements io.Writer.
func (f *folding) Write(p []byte) (int, error) {
	const indent = "    "
	f.line = append(f.line, p...)
	end := bytes.LastIndexByte(f.line, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var b strings.Builder
	for line := range strings.Lines(string(f.line[:end])) {
		if text := strings.TrimRight(line, "\n"); ansi.StringWidth(text) > f.columns && f.columns > 5*len(indent) {
			line = strings.ReplaceAll(ansi.Wordwrap(text, f.columns-len(indent), ""), "\n", "\n"+indent) + "\n"
		}
		b.WriteString(line)
	}
	f.line = f.line[:copy(f.line, f.line[end:])]
	if _, err := io.WriteString(f.to, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
