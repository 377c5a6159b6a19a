package show

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Table is text in columns: the first on the left, numbers on the right.
type Table struct {
	Left   int // so many columns are aligned on the left, the others on the right
	Header []string
	Rows   [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// heads are the lines of the header: a cell of fewer lines than others stands at the bottom.
func (t *Table) heads() [][]string {
	return lined(t.Header, func(most, lines int) int { return most - lines })
}

// lined are the lines of a row. A cell of fewer lines than others begins at the line that first returns.
func lined(row []string, first func(most, lines int) int) [][]string {
	var cells [][]string
	most := 0
	for _, cell := range row {
		cells = append(cells, linesOf(cell))
		most = max(most, len(cells[len(cells)-1]))
	}
	out := make([][]string, most)
	for i := range out {
		for _, lines := range cells {
			text := ""
			if at := i - first(most, len(lines)); at >= 0 && at < len(lines) {
				text = lines[at]
			}
			out[i] = append(out[i], text)
		}
	}
	return out
}

// body are the lines of all rows: what is broken goes on below its beginning.
func (t *Table) body() (lines [][]string) {
	for _, row := range t.Rows {
		lines = append(lines, lined(row, func(int, int) int { return 0 })...)
	}
	return lines
}

// wrapLeft breaks the texts of the columns on the left at spaces, and long words at underscores, the widest column first, as far as
// the table is wider than columns.
func (t *Table) wrapLeft(columns int) {
	t.Rows = slices.Clone(t.Rows)
	widths := t.widths()
	order := make([]int, t.Left)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return widths[b] - widths[a] })
	for _, k := range order {
		over := t.Width() - columns
		if over <= 0 {
			return
		}
		for i, row := range t.Rows {
			row = slices.Clone(row)
			// What is broken goes on further to the right.
			room := max(widths[k]-over, leastLeft) - len(gap)
			row[k] = strings.ReplaceAll(ansi.Wordwrap(wordwrap(row[k], room), room, "_"), "\n", "\n"+gap)
			t.Rows[i] = row
		}
	}
}

// leastLeft is how narrow a column on the left becomes at least.
const leastLeft = 12

func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return lines
}

// longestWord is the number of characters of the longest word of a text.
func longestWord(text string) int {
	longest, n := 0, 0
	for _, r := range text {
		if n++; r == ' ' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// stack breaks the cells of the header at spaces, so that they are hardly wider than what is below them.
func (t *Table) stack() {
	heads := make([]string, len(t.Header))
	for i, head := range t.Header {
		width := 0
		for _, row := range t.Rows {
			width = max(width, utf8.RuneCountInString(row[i]))
		}
		heads[i] = wordwrap(head, max(width, longestWord(head)))
	}
	t.Header = heads
}

// widths are those of the columns.
func (t *Table) widths() []int {
	var widths []int
	for _, row := range append(t.heads(), t.body()...) {
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
	for _, head := range t.heads() {
		line(head, Bold)
	}
	for _, row := range t.body() {
		line(row, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
