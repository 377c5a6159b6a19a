// Package csvrows bounds the rows of CSV files, which programs read that do not trust them.
package csvrows

import (
	"fmt"
	"io"
)

// MostLine is the greatest length of a line of a file, in bytes.
const MostLine = 1 << 20

// ErrLongLine is returned for a longer line.
var ErrLongLine = fmt.Errorf("the line is longer than %d MiB", MostLine>>20)

// Bound returns a reader of a CSV file that fails at a row of more than 1 MiB, so that a file without an end of a
// line is not taken into memory as a whole.
func Bound(r io.Reader) *Rows { return &Rows{from: r} }

// Rows bounds the rows of a CSV file, which quotes may stretch over lines.
type Rows struct {
	from   io.Reader
	n      int  // bytes since the last row began
	line   int  // line feeds before that
	feeds  int  // line feeds since
	quoted bool // within quotes
}

// Read implements io.Reader.
func (r *Rows) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	for _, c := range b[:n] {
		r.n++
		switch c {
		case '"':
			r.quoted = !r.quoted
		case '\n':
			r.feeds++
			if !r.quoted {
				r.line, r.n, r.feeds = r.line+r.feeds, 0, 0
			}
		}
		if r.n > MostLine {
			return 0, ErrLongLine
		}
	}
	return n, err
}

// Line is the line on which the last row begins, counted from 1.
func (r *Rows) Line() int { return r.line + 1 }
