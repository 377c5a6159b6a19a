package progress

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// mostLine is the largest length of a line that is matched, in bytes.
const mostLine = 64 << 10

// terminalLines splits output into lines as a terminal shows them. It removes colors and other escape sequences, and
// applies backspaces. If a carriage return or a cursor movement draws a line again, each version is a line.
type terminalLines struct {
	line []byte // the current line with its control characters
}

// add processes the next piece of output. It calls each for every line; ended reports whether a line feed ends it.
func (t *terminalLines) add(piece []byte, each func(line string, ended bool)) {
	for {
		end := bytes.IndexAny(piece, "\r\n")
		part := piece
		if end >= 0 {
			part = piece[:end]
		}
		t.line = append(t.line, part[:min(len(part), mostLine-len(t.line))]...)
		if end < 0 {
			return
		}
		t.flush(piece[end] == '\n', each)
		piece = piece[end+1:]
	}
}

// flush ends the current line.
func (t *terminalLines) flush(ended bool, each func(line string, ended bool)) {
	if bytes.ContainsAny(t.line, "\x1b\b\u009b\u009d") {
		drawn(bytes.ReplaceAll(bytes.ReplaceAll(t.line, []byte("\u009b"), []byte("\x1b[")), []byte("\u009d"), []byte("\x1b]")), each)
	} else {
		each(string(t.line), false)
	}
	if t.line = t.line[:0]; ended {
		each("", true)
	}
}

// leaveLine are the final bytes of control sequences that move the cursor to another line or to a given column.
const leaveLine = "ABEFGHfd`"

// drawn calls each with the visible text of a line, each time that the line is drawn.
func drawn(line []byte, each func(line string, ended bool)) {
	parser := ansi.NewParser()
	var cells []string
	at := 0 // the cursor's position
	draw := func() {
		if len(cells) > 0 {
			each(strings.Join(cells, ""), false)
		}
		cells, at = nil, 0
	}
	back := func(n int) {
		if at = max(at-n, 0); at == 0 {
			draw()
		}
	}
	var state byte
	for len(line) > 0 {
		seq, width, n, next := ansi.DecodeSequence(line, state, parser)
		state, line = next, line[n:]
		switch {
		case ansi.HasCsiPrefix(seq):
			final := ansi.Cmd(parser.Command()).Final()
			times, _ := parser.Param(0, 1)
			switch times = min(max(times, 1), mostLine); {
			case final != 0 && strings.IndexByte(leaveLine, final) >= 0:
				draw()
			case final == 'D':
				back(times)
			case final == 'C':
				for range min(times, mostLine-len(cells)) {
					cells, at = put(cells, at, " "), at+1
				}
			}
		case len(seq) == 1 && seq[0] == '\b':
			back(1)
		case len(seq) == 1 && seq[0] == '\t' || width > 0 || len(seq) > 1 && seq[0] >= 0xc0:
			cells, at = put(cells, at, string(seq)), at+1
		}
	}
	draw()
}

// put writes a character at a position of a line.
func put(cells []string, at int, char string) []string {
	if at < len(cells) {
		cells[at] = char
		return cells
	}
	return append(cells, char)
}
