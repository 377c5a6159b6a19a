package table

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// AddAll writes the same bytes as Add, for any number of rows.
func TestAddAll(t *testing.T) {
	for _, n := range []int{0, 1, 2, blockRows - 1, blockRows, blockRows + 1, 10*blockRows + 7} {
		fill := func(i int, r *every) { *r = every{Text: fmt.Sprint("job,", i), N: i, At: float64(i) / 4} }
		var one, all bytes.Buffer
		by, err := newWriter(&one, everyTable, []string{"axis"})
		if err != nil {
			t.Fatal(err)
		}
		at, err := newWriter(&all, everyTable, []string{"axis"})
		if err != nil {
			t.Fatal(err)
		}
		var row every
		for i := range n {
			fill(i, &row)
			if err := by.Add(&row, []string{"x"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := at.AddAll(n, fill, []string{"x"}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), all.Bytes()) {
			t.Errorf("%d rows: AddAll writes %d bytes, Add %d, or others", n, all.Len(), one.Len())
		}
	}
}

// full is a writer that accepts a number of writes and then fails.
type full struct {
	left  int
	bytes int
}

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	if f.left == 0 {
		return 0, errFull
	}
	f.left--
	f.bytes += len(b)
	return len(b), nil
}

// After a failed write, AddAll writes nothing more: later rows would be in the wrong place.
func TestAddAllToAFullDisk(t *testing.T) {
	disk := &full{left: 3} // has room for the header and two blocks
	w, err := newWriter(disk, everyTable, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = w.AddAll(9*blockRows, func(i int, r *every) { r.N = i % 10 }, nil)
	if !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	header := len(everyTable.Header(nil))
	if line := len(",0,0.000000,0.000000,0,false\n"); disk.bytes != header+2*blockRows*line {
		t.Errorf("%d bytes were written: not those of two blocks of lines of %d bytes", disk.bytes, line)
	}
}
