package table

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Fit returns the table made narrow enough for a terminal of that many columns, if possible. It takes these steps until
// the table fits. First it breaks long headers into several lines. Then it puts the axes into separate columns, if that
// is narrower. Then it leaves out metrics, those in spare first, but never the metrics in Kept. Last, it wraps the text
// columns on the left. If terminal is false, headers have one line.
func (t Table) Fit(columns int, terminal bool, spare []string) Table {
	shape := func(t Table) (Table, bool) {
		if terminal && t.Width() > columns {
			t.stack()
		}
		return t, t.Width() <= columns
	}
	names := t.spare(spare, terminal)
	for {
		joined, fits := shape(t)
		if fits {
			return joined
		}
		if terminal && t.Variants != nil {
			if apart, fits := shape(t.Apart()); fits {
				return apart
			}
		}
		if len(names) == 0 {
			if terminal {
				joined.wrapLeft(columns)
			}
			return joined
		}
		t, names = t.Without(func(c Column) bool { return c.Metric == names[0] }), names[1:]
	}
}

// spare returns the names of the metrics that may be left out, in the order in which Fit leaves them out: first the
// ones in first, then, on a terminal, the others from right to left. The first metric of the table and the metrics in
// Kept are not among them.
func (t Table) spare(first []string, terminal bool) (names []string) {
	leave := func(name string) {
		if !slices.Contains(t.Kept, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range first {
		leave(name)
	}
	if terminal {
		for i := len(t.Columns) - 1; i > t.Left()+1; i-- {
			if name := t.Columns[i].Metric; name != "" {
				leave(name)
			}
		}
	}
	return names
}

// heads returns the lines of the header. Headers with fewer lines than others are aligned at the bottom.
func (t *Table) heads() [][]string {
	return lined(t.Header(), func(most, lines int) int { return most - lines })
}

// lined returns the lines of a row. A cell with fewer lines than others begins at the line that the function first
// returns.
func lined(row []string, first func(most, lines int) int) [][]string {
	var cells [][]string
	most := 0
	for _, cell := range row {
		cells = append(cells, LinesOf(cell))
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

// body returns the lines of all rows. Wrapped text continues in the lines below.
func (t *Table) body() (lines [][]string) {
	for _, row := range t.Rows {
		lines = append(lines, lined(row, func(int, int) int { return 0 })...)
	}
	return lines
}

// wrapLeft wraps the text columns on the left, the widest first, until the table has at most this width. It breaks text
// at spaces, and long words at underscores.
func (t *Table) wrapLeft(columns int) {
	t.Rows = slices.Clone(t.Rows)
	widths := t.widths()
	order := make([]int, t.Left())
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
			// Continuation lines are indented, so they have less room.
			room := max(widths[k]-over, leastLeft) - len(gap)
			row[k] = strings.ReplaceAll(ansi.Wordwrap(Wrap(row[k], room), room, "_"), "\n", "\n"+gap)
			t.Rows[i] = row
		}
	}
}

// leastLeft is the minimum width of a text column on the left, in characters.
const leastLeft = 12

// LinesOf splits a text into its lines.
func LinesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	return lines
}

// longestWord returns the number of characters of a text's longest word.
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

// stack breaks headers at spaces into lines that are hardly wider than the cells below.
func (t *Table) stack() {
	t.Columns = slices.Clone(t.Columns)
	for i, head := range t.Header() {
		width := 0
		for _, row := range t.Rows {
			width = max(width, utf8.RuneCountInString(row[i]))
		}
		t.Columns[i].Name = Wrap(head, max(width, longestWord(head)))
	}
}

// widths returns the widths of the columns, in characters.
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

// gap is the space between two columns.
const gap = "  "

// Width returns the width of the longest line, in characters.
func (t *Table) Width() int {
	sum := -len(gap)
	for _, w := range t.widths() {
		sum += w + len(gap)
	}
	return sum
}

// Write prints the table. Each line begins with indent.
func (t *Table) Write(w io.Writer, indent string, color bool) error {
	widths, left := t.widths(), t.Left()
	var b strings.Builder
	line := func(row []string, ink string) {
		var l strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				l.WriteString(gap)
			}
			if i < left {
				l.WriteString(cell + pad)
			} else {
				l.WriteString(pad + cell)
			}
		}
		b.WriteString(indent + Paint(color && ink != "", ink, strings.TrimRight(l.String(), " ")) + "\n")
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

// The codes that set and reset colors on terminals (ECMA-48).
const (
	Bold   = "\x1b[1m"
	Dim    = "\x1b[2m"
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
)

// Paint returns the text in a color if on is true, otherwise unchanged.
func Paint(on bool, color, text string) string {
	if !on {
		return text
	}
	return color + text + "\x1b[0m"
}

// Wrap breaks a text into lines at spaces, but not between a number and its unit. Hyphens are protected, since the
// library would otherwise break --lenient at them.
func Wrap(text string, columns int) string {
	const hyphen, space = "\u2011", "\u00a0" // the library does not break lines at these
	text = ansi.Wordwrap(strings.ReplaceAll(Bound(text), "-", hyphen), columns, "")
	return strings.NewReplacer(hyphen, "-", space, " ").Replace(text)
}
