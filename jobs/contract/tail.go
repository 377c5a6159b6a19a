package contract

import (
	"bytes"
)

// Tail finds the progress lines in the output of a program while it runs. The
// zero value is ready.
type Tail struct {
	// News, if it is set, is called for lines of other kinds than progress:
	// checkpoints, changes, refusals (see Progress.News).
	News func(Progress)

	line []byte // the beginning of a line that may be one
	skip bool   // the rest of the present line is of no interest
}

// maxTail bounds the length of a line that is parsed, in bytes.
const maxTail = 64 << 10

// Add takes the next piece of output, and calls each for every progress line
// that it completes. Lines that are broken, or have no finished unit, are
// passed over: Parse names them when the program has ended.
func (t *Tail) Add(piece []byte, each func(Progress)) {
	for len(piece) > 0 {
		end := bytes.IndexAny(piece, "\r\n")
		part := piece
		if end >= 0 {
			part = piece[:end]
		}
		if !t.skip {
			t.line = append(t.line, part...)
			first := bytes.TrimLeft(t.line, " \t")
			t.skip = len(first) > 0 && first[0] != '{' || len(t.line) > maxTail
		}
		if end < 0 {
			break
		}
		if !t.skip && bytes.Contains(t.line, []byte(`"tfexp"`)) {
			switch p, err := decode(t.line); {
			case err != nil || p == nil || p.problem() != "":
			case p.News():
				if p.leaveOut(); t.News != nil && p.News() {
					t.News(*p)
				}
			case p.Epoch > 0 || p.Step > 0:
				p.leaveOut()
				each(*p)
			}
		}
		t.line, t.skip = t.line[:0], false
		piece = piece[end+1:]
	}
	if t.skip {
		t.line = t.line[:0]
	}
}
