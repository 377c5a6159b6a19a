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

// Control sequences (ECMA-48) that all terminals since the VT100 support.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearRight = "\x1b[K" // clears from the cursor to the end of the line
	clearBelow = "\x1b[J" // clears from the cursor to the end of the screen
)

// line is one row of the region. Only the mark has control sequences, so text can be cut at any character.
type line struct {
	mark  string // "✓", "✗", "▸" or a space: one column wide
	color string // the control sequence before the mark, or empty
	text  string
	flush bool // the row has no mark: its text begins in the first column
}

// region is a block of lines at the bottom of a terminal that is redrawn in place. The cursor stays below it, so that
// output of other programs does not overwrite it.
type region struct {
	w      io.Writer
	size   func() (width, height int)
	drawn  []int // width of each row on the screen, in columns
	last   string
	hidden bool
}

// draw replaces the region in a single write; it writes nothing if the region is unchanged. It cuts rows wider than the
// terminal. If the rows do not fit, it omits the first ones.
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

// above prints text above the region, where it stays. The region must be drawn again afterwards.
func (r *region) above(text string) {
	var out bytes.Buffer
	r.up(&out)
	out.WriteString(clearBelow)
	width, _ := r.usable()
	out.WriteString(strings.ReplaceAll(wrap(live.SafeText(text), width), "\n", "\r\n") + "\r\n")
	r.w.Write(out.Bytes())
	r.drawn, r.last = nil, ""
}

// drawing is a text at the bottom of a terminal that is redrawn in place.
type drawing struct{ region region }

// Draw replaces the text on the screen. Lines wider than the terminal are wrapped and indented. If the text does not
// fit, the last lines are omitted.
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

// Close ends the drawing; its lines stay on the screen.
func (s *drawing) Close() { s.region.close() }

// close ends the region: its rows stay on the screen, and the cursor is shown again.
func (r *region) close() {
	if r.hidden {
		io.WriteString(r.w, showCursor)
		r.hidden = false
	}
	r.drawn, r.last = nil, ""
}

// up moves the cursor to the first row of the region. If the terminal has become narrower, it has wrapped the rows; up
// counts the resulting rows.
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

// usable returns the available width and height. The last column stays empty, because terminals behave differently
// after a full row. The cursor's row stays empty too.
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

// wrap breaks lines that are wider than width at spaces, and indents the continuation lines.
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

// cut shortens s to width columns; the last one becomes "…".
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}
