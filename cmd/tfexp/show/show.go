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

// Printer prints results on standard output and warnings on standard error. Color and ErrColor are set if they are in
// color.
type Printer struct {
	Out, Err        io.Writer
	Color, ErrColor bool
}

// Paint returns text with a color if standard output is in color.
func (p *Printer) Paint(color, text string) string { return table.Paint(p.Color, color, text) }

// PaintErr returns text with a color if standard error is in color.
func (p *Printer) PaintErr(color, text string) string { return table.Paint(p.ErrColor, color, text) }

// Warn prints a warning on standard error.
func (p *Printer) Warn(format string, args ...any) {
	fmt.Fprintf(p.Err, p.PaintErr(table.Yellow, "Warning:")+" "+format+"\n", args...)
}

// Count returns a number with its noun: "1 cell" or "3 cells".
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
		to = f.to // JSON is not wrapped, however long its lines are
	}
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// Paragraph joins names with commas and wraps them to the width of help texts.
func Paragraph(names []string) string {
	return table.Wrap(strings.Join(names, ", "), mostHelp-len("  "))
}
