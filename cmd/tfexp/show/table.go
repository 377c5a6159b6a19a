package show

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table is text in columns: the first on the left, numbers on the right.
type Table struct {
	Left   int // so many columns are aligned on the left, the others on the right
	Header []string
	Rows   [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// widths are those of the columns.
func (t *Table) widths() []int {
	var widths []int
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// gap stands between two columns.
const gap = "  "

// Width is that of the longest line.
func (t *Table) Width() int {
	sum := -len(gap)
	for _, w := range t.widths() {
		sum += w + len(gap)
	}
	return sum
}

// Write prints the table, each line after indent.
func (t *Table) Write(w io.Writer, indent string, color bool) error {
	widths := t.widths()
	var b strings.Builder
	line := func(row []string, ink string) {
		var l strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				l.WriteString(gap)
			}
			if i < t.Left {
				l.WriteString(cell + pad)
			} else {
				l.WriteString(pad + cell)
			}
		}
		b.WriteString(indent + paint(color && ink != "", ink, strings.TrimRight(l.String(), " ")) + "\n")
	}
	if len(t.Header) > 0 {
		line(t.Header, Bold)
	}
	for _, row := range t.Rows {
		line(row, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
