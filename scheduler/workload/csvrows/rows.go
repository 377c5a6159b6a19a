// Package csvrows limits the length of rows when untrusted CSV files are read.
package csvrows

import (
	"fmt"
	"io"
)

// MostLine is the greatest length of a row, in bytes.
const MostLine = 1 << 20

// ErrLongLine is returned for a longer row.
var ErrLongLine = fmt.Errorf("the line is longer than %d MiB", MostLine>>20)

// Bound returns a reader of a CSV file that fails at a row of more than MostLine bytes. Otherwise a file without
// line ends would be read into memory as a whole.
func Bound(r io.Reader) *Rows { return &Rows{from: r} }

// Rows is a reader that limits the rows of a CSV file. A row with quotes can have several lines.
type Rows struct {
	from   io.Reader
	n      int  // bytes since the start of the last row
	line   int  // line feeds before it
	feeds  int  // line feeds in it
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

// Line returns the line on which the last row starts, counted from 1.
func (r *Rows) Line() int { return r.line + 1 }
