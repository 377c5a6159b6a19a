package datafile

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/language"
)

// Read opens the file of an argument, calls read with its content, and reports errors of the file.
func Read(d *language.Decoder, a *eval.Args, at hcl.Range, from language.Input, read func(io.Reader) error) (
	digest string, ok bool,
) {
	digest, err := ReadFile(from, read)
	if err != nil {
		a.OK = false
		FileErrors(d.Finder, from, at, err)
	}
	return digest, err == nil
}

// EachRow reads a CSV file row by row. It skips rows that do not match where: columns with equal texts or equal
// numbers. head must report a column of where that is missing.
func EachRow(
	d *language.Decoder, a *eval.Args, at hcl.Range, from language.Input, where []schema.Setting,
	head func([]string) error, row func(int, []string) error,
) (digest string, ok bool) {
	chosen := make([]int, len(where))
	return Read(d, a, at, from, func(text io.Reader) error {
		_, err := textfile.EachRow(from.Shown, text, false, func(names []string) error {
			for i, name := range names {
				names[i] = strings.TrimSpace(name)
			}
			for i, w := range where {
				chosen[i] = slices.Index(names, w.Name)
			}
			return head(names)
		}, func(line int, fields []string) error {
			for i, w := range where {
				if chosen[i] >= 0 && !SameTextOrNumber(fields[chosen[i]], w.Value) {
					return nil
				}
			}
			return row(line, fields)
		})
		return err
	})
}

// SameTextOrNumber reports whether two texts are equal, or are the same number.
func SameTextOrNumber(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err == nil && err2 == nil && x == y
}

// Columns reads columns of positive numbers, from the rows that match where.
func Columns(
	d *language.Decoder, a *eval.Args, at hcl.Range, from language.Input, columns []string, where []schema.Setting,
) (rows [][]float64, ok bool) {
	var places []int
	_, ok = EachRow(d, a, at, from, where, func(head []string) (err error) {
		places, err = PlacesOf(head, append(slices.Clone(columns), NamesOf(where)...))
		return err
	}, func(_ int, fields []string) error {
		numbers := make([]float64, len(columns))
		for i, name := range columns {
			text := strings.TrimSpace(fields[places[i]])
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || !(x > 0) || math.IsInf(x, 0) {
				return fmt.Errorf("%s %q is not a number above 0", name, text)
			}
			numbers[i] = x
		}
		rows = append(rows, numbers)
		return nil
	})
	return rows, ok
}

// PlacesOf returns the indices of columns in head.
func PlacesOf(head, columns []string) ([]int, error) {
	places := make([]int, len(columns))
	for i, name := range columns {
		var err error
		if places[i], err = textfile.Column(head, name); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// NamesOf returns the names of settings.
func NamesOf(settings []schema.Setting) []string {
	return schema.Each(settings, func(s schema.Setting) string { return s.Name })
}

// CSVRow is a row of a table with the texts of some columns.
type CSVRow struct {
	Line  int
	Texts []string
}

// CSVTable reads columns of a file. It uses the first list of columns that the file has completely, and returns the
// list's index.
func CSVTable(d *language.Decoder, na *eval.Args, m eval.Model, at hcl.Range, columns ...[]string) (
	rows []CSVRow, which int, ok bool,
) {
	from, where := d.Find(m.File), NamesOf(m.Where)
	var head []int
	names := func(names []string) error {
		which = slices.IndexFunc(columns, func(list []string) bool {
			places, err := PlacesOf(names, called(m, list))
			head = places
			return err == nil
		})
		if _, err := PlacesOf(names, where); which < 0 || err != nil {
			var all []string
			for _, list := range columns {
				all = append(all, strings.Join(append(called(m, list), where...), ", "))
			}
			return fmt.Errorf("it needs the columns %s; there are %s", strings.Join(all, ", or "), textfile.Names(names))
		}
		return nil
	}
	row := func(line int, fields []string) error {
		r := CSVRow{Line: line}
		for _, i := range head {
			r.Texts = append(r.Texts, strings.TrimSpace(fields[i]))
		}
		rows = append(rows, r)
		return nil
	}
	if _, ok := EachRow(d, na, at, from, m.Where, names, row); !ok {
		return nil, 0, false
	}
	if len(rows) == 0 {
		na.Fail(at, "Table without rows", "No row of %s is selected.", from.Shown)
		return nil, 0, false
	}
	return rows, which, true
}

// called returns the names of columns in the file of a model.
func called(m eval.Model, columns []string) []string {
	return schema.Each(columns, func(c string) string { return m.Option(c, c) })
}

// WrongLine reports an error at a line of the file of a model.
func WrongLine(d *language.Decoder, na *eval.Args, m eval.Model, line int, summary, detail string, values ...any) {
	na.OK = false
	LineError(d.Finder, d.Find(m.File), line, summary, fmt.Sprintf(detail, values...))
}

// Numbers parses the first len(names) texts of a row as numbers of at least 0. Names are the columns, for errors.
func Numbers(d *language.Decoder, na *eval.Args, m eval.Model, r CSVRow, names ...string) ([]float64, bool) {
	values := make([]float64, len(names))
	for i, name := range names {
		v, err := strconv.ParseFloat(r.Texts[i], 64)
		if err != nil || !(v >= 0) || v > MaxSeconds {
			WrongLine(d, na, m, r.Line, "Malformed line", "%s is %q: not a number from 0 to %g.", m.Option(name, name),
				r.Texts[i], MaxSeconds)
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

// WholeNumbers works as Numbers, for numbers that must be whole.
func WholeNumbers(d *language.Decoder, na *eval.Args, m eval.Model, r CSVRow, names ...string) ([]float64, bool) {
	values, ok := Numbers(d, na, m, r, names...)
	for i, v := range values {
		if v != math.Trunc(v) {
			WrongLine(d, na, m, r.Line, "Malformed line", "%s is %g: it is a whole number.", names[i], v)
			return nil, false
		}
	}
	return values, ok
}

// Ascending reports an error if the last of times is not later than the one before it.
func Ascending(d *language.Decoder, na *eval.Args, m eval.Model, r CSVRow, times []time.Duration,
	t time.Duration) bool {
	if n := len(times); n > 0 && t <= times[n-1] {
		WrongLine(d, na, m, r.Line, "Not in order", "The time %s does not come after %s.", t, times[n-1])
		return false
	}
	return true
}
