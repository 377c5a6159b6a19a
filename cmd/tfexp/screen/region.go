package screen

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mitchellh/go-wordwrap"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// Control sequences of ECMA-48, which every terminal since the VT100 knows.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearRight = "\x1b[K" // from the cursor to the end of its line
	clearBelow = "\x1b[J" // from the cursor to the end of the screen
)

// line is one row of the region. Only its mark is colored, so that cutting
// the text to a width needs no knowledge of control sequences.
type line struct {
	mark  string // "✓", "✗", "▸" or a space: one column wide
	color string // the control sequence before the mark, or ""
	text  string
	flush bool // there is no mark, and the text begins at the left
}

// region is a block of lines at the bottom of a terminal that is redrawn in
// place. The cursor rests below it, so that the output of others is not lost.
type region struct {
	w      io.Writer
	size   func() (width, height int)
	drawn  []int // columns of each row that is on the screen now
	last   string
	hidden bool
}

// draw replaces the region in a single write, and writes nothing when it
// would look the same. Rows wider than the terminal are cut, and rows that
// do not fit its height are left out, the first ones first.
func (r *region) draw(lines []line) {
	width, height := r.usable()
	if n := len(lines); n > height {
		lines = lines[n-height:]
	}
	var body bytes.Buffer
	columns := make([]int, len(lines))
	for i, l := range lines {
		text := cut(live.SafeText(l.text), width-2)
		columns[i] = 2 + utf8.RuneCountInString(text)
		switch {
		case l.flush:
			text = cut(live.SafeText(l.text), width)
			columns[i] = utf8.RuneCountInString(text)
			body.WriteString(text)
		case l.color != "":
			fmt.Fprintf(&body, "%s%s\x1b[0m %s", l.color, l.mark, text)
		default:
			fmt.Fprintf(&body, "%s %s", l.mark, text)
		}
		body.WriteString(clearRight + "\r\n")
	}
	if body.String() == r.last && len(r.drawn) > 0 {
		return
	}
	var out bytes.Buffer
	if !r.hidden {
		out.WriteString(hideCursor)
		r.hidden = true
	}
	r.up(&out)
	out.Write(body.Bytes())
	out.WriteString(clearBelow)
	r.w.Write(out.Bytes())
	r.drawn, r.last = columns, body.String()
}

// above prints text that stays, over the region, which must be drawn again.
func (r *region) above(text string) {
	var out bytes.Buffer
	r.up(&out)
	out.WriteString(clearBelow)
	width, _ := r.usable()
	out.WriteString(strings.ReplaceAll(wrap(live.SafeText(text), width), "\n", "\r\n") + "\r\n")
	r.w.Write(out.Bytes())
	r.drawn, r.last = nil, ""
}

// drawing is a block of lines at the bottom of a terminal that is drawn again and again.
type drawing struct{ region region }

// Draw replaces the text on the screen. Lines wider than the terminal continue below, indented. Of a text
// longer than the screen, the first lines stay.
func (s *drawing) Draw(text string) {
	width, height := s.region.usable()
	var texts []string
	for t := range strings.Lines(wrap(text, width)) {
		texts = append(texts, strings.TrimRight(t, "\n"))
	}
	if len(texts) > height {
		texts = append(slices.Clone(texts[:height-1]), fmt.Sprintf("… and %d more lines", len(texts)-height+1))
	}
	lines := make([]line, len(texts))
	for i, t := range texts {
		lines[i] = line{text: t, flush: true}
	}
	s.region.draw(lines)
}

// Close leaves the lines where they are.
func (s *drawing) Close() { s.region.close() }

// close leaves the rows where they are and shows the cursor again.
func (r *region) close() {
	if r.hidden {
		io.WriteString(r.w, showCursor)
		r.hidden = false
	}
	r.drawn, r.last = nil, ""
}

// up moves the cursor to the region's first row. A terminal that has become
// narrower has wrapped the rows again, each into as many as it needs.
func (r *region) up(out io.Writer) {
	width, _ := r.usable()
	width++
	rows := 0
	for _, columns := range r.drawn {
		rows += max(1, (columns+width-1)/width)
	}
	if rows > 0 {
		fmt.Fprintf(out, "\x1b[%dA\r", rows)
	}
}

// usable is the room for the region: the last column stays empty, because
// terminals differ when it is filled. The row of the cursor stays empty, too.
func (r *region) usable() (width, height int) {
	width, height = r.size()
	if width <= 0 {
		width = live.DefaultWidth
	}
	if height <= 0 {
		height = live.DefaultHeight
	}
	return max(width-1, 4), max(height-1, 1)
}

// wrap breaks lines that are wider than a terminal at word boundaries; continuation lines are indented.
func wrap(text string, width int) string {
	const indent = "    "
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if utf8.RuneCountInString(line) > width && width > 4*len(indent) {
			line = strings.ReplaceAll(wordwrap.WrapString(line, uint(width-len(indent))), "\n", "\n"+indent)
		}
		b.WriteString(line)
	}
	return b.String()
}

// cut shortens s to at most width columns, the last of them "…".
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}
