// Package textfile reads lines, and rows of CSV files, with errors that name the line.
package textfile

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// LineError is an error in a line of a file.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }

// MaxErrors is the number of malformed lines after which a reader stops.
const MaxErrors = 20

// Unmarked returns a reader of r without the byte-order mark that spreadsheets write. If the mark says that the text
// is UTF-16, it returns the text as UTF-8.
func Unmarked(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	switch mark, _ := in.Peek(2); string(mark) {
	case "\xff\xfe", "\xfe\xff":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(in)
	}
	if mark, _, err := in.ReadRune(); err == nil && mark != '\ufeff' {
		_ = in.UnreadRune()
	}
	return in
}

// EachLine calls f with every line of r and its number, from 1 on. Errors of f become LineErrors. A lenient reader
// returns them as skipped. Otherwise up to MaxErrors of them are joined into err.
func EachLine(file string, r io.Reader, lenient bool, f func(number int, line string) error) (skipped []error,
	err error) {
	s := bufio.NewScanner(Unmarked(r))
	s.Buffer(make([]byte, 64<<10), csvrows.MostLine)
	n := 0
	var found []error
	for s.Scan() {
		n++
		if err := f(n, s.Text()); err != nil {
			found = append(found, &LineError{file, n, err})
			if !lenient && len(found) == MaxErrors {
				break
			}
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &LineError{file, n + 1, csvrows.ErrLongLine}
	case err != nil: // the rest of the file cannot be read
		return nil, err
	}
	if lenient {
		return found, nil
	}
	return nil, errors.Join(found...)
}

// Table describes the form of a CSV file. The zero value means commas, and a first line that names the columns.
type Table struct {
	// Separator is the character between fields; 0 means a comma.
	Separator rune
	// Names are the names of the columns, for a file without a header line.
	Names []string
	// Remarks says that lines which begin with # are skipped.
	Remarks bool
	// Each, if not nil, reads the rows instead of EachRow, for files that are not CSV.
	Each EachRows
	// Heads reports whether a row is the header. Rows before it, at most MostTitles, are skipped as titles. Nil
	// means that the first row is the header.
	Heads func(columns []string) bool
}

// EachRows is a function with the signature of Table.EachRow.
type EachRows func(t Table, file string, r io.Reader, lenient bool, head func(columns []string) error,
	row func(line int, fields []string) error) (skipped []error, err error)

// MostTitles is the greatest number of rows before the header.
const MostTitles = 20

// heading reads the header, and drops columns without a name at its end. If none of the first MostTitles rows is the
// header, it is the first row.
func (t Table) heading(in *csv.Reader) (columns []string, err error) {
	for range MostTitles {
		var malformed *csv.ParseError
		row, err := in.Read()
		if err != nil && (columns == nil || !errors.As(err, &malformed)) {
			if columns != nil && err == io.EOF {
				break
			}
			return nil, err
		}
		for len(row) > 1 && strings.TrimSpace(row[len(row)-1]) == "" {
			row = row[:len(row)-1]
		}
		if t.Heads == nil || t.Heads(row) {
			return slices.Clone(row), nil
		}
		if columns == nil {
			columns = slices.Clone(row)
		}
	}
	return columns, nil
}

// FitWidth returns a row with one field for each column. It drops empty fields at the end.
func FitWidth(fields []string, columns int) ([]string, error) {
	n := len(fields)
	for n > columns && strings.TrimSpace(fields[n-1]) == "" {
		n--
	}
	if n != columns {
		return nil, fmt.Errorf("the row has %d fields instead of %d", n, columns)
	}
	return fields[:n], nil
}

// EachRow reads a CSV file. It calls head with the header, then row with every other row and the line on which the
// row begins. All rows must have as many fields as the header; empty fields at the end do not count. The slice is
// reused for the next row; its strings are not. Errors are handled as in EachLine, but an error of head always ends
// the reading.
func EachRow(file string, r io.Reader, lenient bool,
	head func(columns []string) error, row func(line int, fields []string) error,
) (skipped []error, err error) {
	return Table{}.EachRow(file, r, lenient, head, row)
}

// EachRow is the function EachRow for files of this form.
func (t Table) EachRow(file string, r io.Reader, lenient bool,
	head func(columns []string) error, row func(line int, fields []string) error,
) (skipped []error, err error) {
	if t.Each != nil {
		return t.Each(t, file, r, lenient, head, row)
	}
	bounded := csvrows.Bound(Unmarked(r))
	in := csv.NewReader(bounded)
	in.ReuseRecord = true
	if t.Separator != 0 {
		in.Comma = t.Separator
	}
	if t.Remarks && in.Comma != '#' {
		in.Comment = '#'
	}
	in.FieldsPerRecord = -1
	columns := t.Names
	if columns == nil {
		columns, err = t.heading(in)
	}
	if err == io.EOF {
		err = errors.New("the file is empty")
	}
	if err == nil {
		err = head(columns)
	}
	if err != nil {
		return nil, &LineError{file, 1, err}
	}
	var found []error
	for lenient || len(found) < MaxErrors {
		fields, err := in.Read()
		if err == io.EOF {
			break
		}
		line := 0
		var malformed *csv.ParseError
		switch {
		case errors.As(err, &malformed):
			line, err = malformed.StartLine, malformed.Err
		case errors.Is(err, csvrows.ErrLongLine):
			return nil, &LineError{file, bounded.Line(), err}
		case err != nil: // the rest of the file cannot be read
			return nil, err
		default:
			line, _ = in.FieldPos(0)
			if slices.Equal(fields, columns) { // the head of another file behind this one
				continue
			}
			if fields, err = FitWidth(fields, len(columns)); err == nil {
				err = row(line, fields)
			}
		}
		if err != nil {
			found = append(found, &LineError{file, line, err})
		}
	}
	if lenient {
		return found, nil
	}
	return nil, errors.Join(found...)
}

// ErrTooLong is returned for a time that time.Duration cannot hold.
var ErrTooLong = errors.New("is out of range: times must be less than 292 years")

// ParseTime parses a number of units. A unit of 0 means seconds.
func ParseTime(text string, unit time.Duration) (time.Duration, error) {
	unit = cmp.Or(unit, time.Second)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n > math.MaxInt64/int64(unit) || n < math.MinInt64/int64(unit) {
			return 0, fmt.Errorf("time %q %w", text, ErrTooLong)
		}
		return time.Duration(n) * unit, nil
	}
	if unit == time.Second { // exact for late instants too
		if d, ok := ParseSeconds(text); ok {
			return d, nil
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("time %q %w", text, ErrTooLong)
	}
	if err != nil {
		return 0, fmt.Errorf("time %q is not a number", text)
	}
	// Milliseconds since 1970 with decimals have more digits than a float64.
	digits, fraction, ok := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && ok && n >= 1<<32 &&
		strings.Trim(fraction, "0123456789") == "" && n < math.MaxInt64/int64(unit)-1 {
		if rest, err := strconv.ParseFloat("0."+fraction, 64); err == nil {
			return time.Duration(n)*unit + time.Duration(math.Round(rest*float64(unit))), nil
		}
	}
	return Units(x, unit)
}

// Units returns the duration of x units. A unit of 0 means seconds.
func Units(x float64, unit time.Duration) (time.Duration, error) {
	unit = cmp.Or(unit, time.Second)
	d := math.Round(x * float64(unit))
	if math.IsNaN(d) {
		return 0, fmt.Errorf("time %v is not a number", x)
	}
	if math.Abs(d) >= math.MaxInt64 {
		return 0, fmt.Errorf("time %v %w", x, ErrTooLong)
	}
	return time.Duration(d), nil
}

// Seconds returns a duration, at least 0, as seconds with nine decimals, which is exact.
func Seconds(d time.Duration) string {
	b := strconv.AppendInt(make([]byte, 0, 20), int64(d/time.Second), 10)
	point := len(b)
	b = strconv.AppendInt(b, int64(time.Second+d%time.Second), 10) // the digit 1 and nine digits
	b[point] = '.'
	return string(b)
}

// ParseSeconds parses the output of Seconds without rounding; fewer decimals are allowed.
func ParseSeconds(s string) (d time.Duration, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || n > math.MaxInt64/uint64(time.Second)-1 || len(fraction) > 9 {
		return 0, false
	}
	nanos, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 63)
	if err != nil {
		return 0, false
	}
	return time.Duration(n)*time.Second + time.Duration(nanos), true
}
