package contract

import (
	"bytes"
)

// Tail finds progress lines in the output of a running program. The zero value is ready to use.
type Tail struct {
	// News, if not nil, is called for lines about other events than progress (see Progress.News).
	News func(Progress)

	line []byte // the beginning of a line that may be a progress line
	skip bool   // whether the rest of the current line is skipped
}

// maxTail is the largest length of a line that is parsed, in bytes.
const maxTail = 64 << 10

// Add processes the next piece of output, and calls each for every progress line that it completes. It skips lines that
// are malformed or report no finished unit; Parse warns about these after the program's end.
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
