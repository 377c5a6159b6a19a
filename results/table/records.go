package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// records reads the records of a CSV file. It splits lines at their commas until it finds the first quote. From there
// on, encoding/csv reads the file.
type records struct {
	in     *bufio.Reader
	quoted *csv.Reader
	fields []string
	width  int // number of fields per record; 0 until it is known
	line   int // number of the last record's line
	before int // number of lines before the first quote
}

func newRecords(r io.Reader) *records { return &records{in: bufio.NewReaderSize(r, 1<<16)} }

// next returns the fields of the next record, or io.EOF at the end. The fields are valid until the next call.
func (r *records) next() ([]string, error) {
	if r.quoted != nil {
		return r.nextQuoted()
	}
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || bytes.IndexByte(line, '"') >= 0 {
		r.before = r.line
		r.quoted = csv.NewReader(csvrows.Bound(io.MultiReader(bytes.NewReader(bytes.Clone(line)), r.in)))
		r.quoted.ReuseRecord, r.quoted.FieldsPerRecord = true, r.width
		return r.nextQuoted()
	}
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	r.line++
	rest := strings.TrimRight(string(line), "\r\n")
	if rest == "" {
		return r.next()
	}
	r.fields = r.fields[:0]
	for more := true; more; {
		var field string
		field, rest, more = strings.Cut(rest, ",")
		r.fields = append(r.fields, field)
	}
	if r.width > 0 && len(r.fields) != r.width {
		return nil, fmt.Errorf("line %d: %w", r.line, csv.ErrFieldCount)
	}
	return r.fields, nil
}

// skip skips one record.
func (r *records) skip() error {
	if r.quoted == nil {
		line, err := r.in.Peek(min(r.in.Buffered(), r.in.Size()))
		if end := bytes.IndexByte(line, '\n'); err == nil && end > 1 && bytes.IndexByte(line[:end], '"') < 0 {
			r.line++
			_, err = r.in.Discard(end + 1)
			return err
		}
	}
	_, err := r.next()
	return err
}

func (r *records) nextQuoted() ([]string, error) {
	fields, err := r.quoted.Read()
	if err == nil {
		line, _ := r.quoted.FieldPos(0)
		r.line = r.before + line
	}
	return fields, err
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF, for files without any content.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
