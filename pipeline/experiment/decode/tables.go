package decode

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// read has a file of an argument read. What is wrong with it is reported.
func (d *Decoder) read(a *eval.Args, at hcl.Range, from Input, read func(io.Reader) error) (digest string, ok bool) {
	digest, err := ReadFile(from, read)
	if err != nil {
		a.OK = false
		d.FileErrors(from, at, err)
	}
	return digest, err == nil
}

// eachRow reads a table row by row.
func (d *Decoder) eachRow(
	a *eval.Args, at hcl.Range, from Input, head func([]string) error, row func(int, []string) error,
) (digest string, ok bool) {
	return d.read(a, at, from, func(text io.Reader) error {
		_, err := workload.EachRow(from.Shown, text, false, head, row)
		return err
	})
}

// columns reads columns of numbers, of the rows that have the texts of where.
func (d *Decoder) columns(
	a *eval.Args, at hcl.Range, from Input, columns []string, where []schema.Setting,
) (rows [][]float64, ok bool) {
	_, ok = d.read(a, at, from, func(text io.Reader) (err error) {
		rows, err = workload.ReadColumns(from.Shown, text, columns, where)
		return err
	})
	return rows, ok
}

// tableRow is a row of a table, with the texts of some columns.
type tableRow struct {
	line  int
	texts []string
}

// csvTable reads columns of a file: those of the first list of which the file has all. It
// returns which that was.
func (d *Decoder) csvTable(na *eval.Args, m eval.Model, at hcl.Range, columns ...[]string) (rows []tableRow, which int,
	ok bool) {
	from := d.Find(m.File)
	var head, wanted []int
	which = -1
	names := func(names []string) error {
		for i, list := range columns {
			if head = columnsOf(names, called(m, list)); which < 0 && head != nil {
				which = i
				break
			}
		}
		var where []string
		for _, w := range m.Where {
			where = append(where, w.Name)
		}
		if wanted = columnsOf(names, where); which < 0 || wanted == nil && len(where) > 0 {
			var all []string
			for _, list := range columns {
				all = append(all, strings.Join(append(called(m, list), where...), ", "))
			}
			return fmt.Errorf("it needs the columns %s; there are %s", strings.Join(all, ", or "), workload.Names(names))
		}
		return nil
	}
	row := func(line int, fields []string) error {
		if !chosen(m, fields, wanted) {
			return nil
		}
		r := tableRow{line: line}
		for _, i := range head {
			r.texts = append(r.texts, strings.TrimSpace(fields[i]))
		}
		rows = append(rows, r)
		return nil
	}
	if _, ok := d.eachRow(na, at, from, names, row); !ok {
		return nil, 0, false
	}
	if len(rows) == 0 {
		na.Fail(at, "Table without rows", "No row of %s is selected.", from.Shown)
		return nil, 0, false
	}
	return rows, which, true
}

// chosen reports whether a row has the texts that are asked for, or numbers that are equal.
func chosen(m eval.Model, row []string, at []int) bool {
	for i, w := range m.Where {
		if !alike(row[at[i]], w.Value) {
			return false
		}
	}
	return true
}

// called returns the names that columns have in a model's file.
func called(m eval.Model, columns []string) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = m.Option(c, c)
	}
	return names
}

// columnsOf returns where columns stand; nil when one is missing.
func columnsOf(head, names []string) []int {
	var at []int
	for _, name := range names {
		i := slices.IndexFunc(head, func(h string) bool { return strings.TrimSpace(h) == name })
		if i < 0 {
			return nil
		}
		at = append(at, i)
	}
	return at
}

// wrongLine reports an error at a line of a model's file.
func (d *Decoder) wrongLine(na *eval.Args, m eval.Model, line int, summary, detail string, values ...any) {
	na.OK = false
	d.LineError(d.Find(m.File), line, summary, fmt.Sprintf(detail, values...))
}

// timed is a value that holds from an instant on.
type timed struct {
	at    time.Duration
	value float64
}

// timeline reads a table of values over time.
func (d *Decoder) timeline(na *eval.Args, m eval.Model, at hcl.Range, column string) ([]timed, bool) {
	rows, _, ok := d.csvTable(na, m, at, []string{"time_s", column})
	if !ok {
		return nil, false
	}
	var values []timed
	for _, r := range rows {
		seconds, value, ok := d.numbers(na, m, r, "time_s", column)
		if !ok {
			return nil, false
		}
		t := timed{time.Duration(seconds * 1e9), value}
		if n := len(values); n > 0 && t.at <= values[n-1].at {
			d.wrongLine(na, m, r.line, "Not in order", "The time %s does not come after %s.", t.at, values[n-1].at)
			return nil, false
		}
		values = append(values, t)
	}
	return values, true
}

// numbers reads the first two texts of a row, neither of them below 0.
func (d *Decoder) numbers(na *eval.Args, m eval.Model, r tableRow, names ...string) (x, y float64, ok bool) {
	values := []*float64{&x, &y}
	for i, name := range names {
		v, err := strconv.ParseFloat(r.texts[i], 64)
		if err != nil || !(v >= 0) || v > maxSeconds {
			d.wrongLine(na, m, r.line, "Malformed line", "%s is %q: not a number from 0 to %g.", m.Option(name, name),
				r.texts[i], maxSeconds)
			return 0, 0, false
		}
		*values[i] = v
	}
	return x, y, true
}
