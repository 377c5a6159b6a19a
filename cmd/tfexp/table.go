package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// table is text in columns: the first on the left, numbers on the right.
type table struct {
	left   int // so many columns are aligned on the left, the others on the right
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// widths are those of the columns.
func (t *table) widths() []int {
	var widths []int
	for _, row := range append([][]string{t.header}, t.rows...) {
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

// width is that of the longest line.
func (t *table) width() int {
	sum := -len(gap)
	for _, w := range t.widths() {
		sum += w + len(gap)
	}
	return sum
}

// write prints the table, each line after indent.
func (t *table) write(w io.Writer, indent string, color bool) error {
	widths := t.widths()
	var b strings.Builder
	line := func(row []string, ink string) {
		var l strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				l.WriteString(gap)
			}
			if i < t.left {
				l.WriteString(cell + pad)
			} else {
				l.WriteString(pad + cell)
			}
		}
		b.WriteString(indent + paint(color && ink != "", ink, strings.TrimRight(l.String(), " ")) + "\n")
	}
	if len(t.header) > 0 {
		line(t.header, bold)
	}
	for _, row := range t.rows {
		line(row, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
