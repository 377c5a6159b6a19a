// Package show prints the results of commands on the terminal: plans, the status
// of experiments, summaries of runs, estimates.
package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tfexp/tfexp/results/table"
)

// Printer is where a command prints, and whether in color.
type Printer struct {
	Out, Err        io.Writer
	Color, ErrColor bool
}

// Paint returns a text in a color, if standard output is in color.
func (p *Printer) Paint(color, text string) string { return table.Paint(p.Color, color, text) }

// PaintErr returns a text in a color, if standard error is in color.
func (p *Printer) PaintErr(color, text string) string { return table.Paint(p.ErrColor, color, text) }

// Warn prints a warning on standard error.
func (p *Printer) Warn(format string, args ...any) {
	fmt.Fprintf(p.Err, p.PaintErr(table.Yellow, "Warning:")+" "+format+"\n", args...)
}

// Count is "1 cell" or "3 cells".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// JSON prints v as indented JSON.
func (p *Printer) JSON(v any) error {
	to := p.Out
	if f, ok := to.(*folding); ok {
		to = f.to // its lines may be long
	}
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// Paragraph joins names, and fills lines of help with them.
func Paragraph(names []string) string {
	return table.Wrap(strings.Join(names, ", "), mostHelp-len("  "))
}
