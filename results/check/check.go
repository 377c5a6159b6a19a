// Package check recomputes the results of an experiment from its events, by the definitions of docs/results.md, and
// reports where its files differ. It shares no code with the package that wrote them: it has its own parsers and
// arithmetic.
package check

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// Difference is a place in a file that is not as it should be.
type Difference struct {
	File   string `json:"file"`          // below the experiment's folder
	Row    string `json:"row,omitempty"` // the key of the row, or its line
	Column string `json:"column,omitempty"`
	Has    string `json:"has"`
	Want   string `json:"want"`
}

func (d Difference) String() string {
	at := d.File
	if d.Row != "" {
		at += ", " + d.Row
	}
	if d.Column != "" {
		at += ", " + d.Column
	}
	return fmt.Sprintf("%s: %s, should be %s", at, orEmpty(d.Has), orEmpty(d.Want))
}

func orEmpty(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}

// Report holds the findings of a check of one experiment.
type Report struct {
	Dir string `json:"dir"`
	// Cells were recomputed from their events; Values were compared; Files have the sum of their content.
	Cells  int `json:"cells"`
	Values int `json:"values"`
	Files  int `json:"files"`
	// Differences are the first Most, Count all of them.
	Differences []Difference `json:"differences"`
	Count       int          `json:"count"`
	// Unchecked lists the parts that could not be recomputed, in words.
	Unchecked []string `json:"unchecked"`
}

// Most is the number of differences that a Report lists.
const Most = 100

// checker checks one folder.
type checker struct {
	*Report
	plan  plan
	cells map[string]*cell // complete ones, by name
	at    Difference       // the file and row that are compared
}

// Folder checks the experiment in dir.
func Folder(dir string) (*Report, error) {
	folder.Enclose(dir)
	c := &checker{Report: &Report{Dir: dir, Differences: []Difference{}, Unchecked: []string{}}, cells: map[string]*cell{}}
	if err := c.json(&c.plan, "plan.json"); err != nil {
		return nil, err
	}
	for i := range c.plan.Cells {
		c.read(c.cell(&c.plan.Cells[i]))
	}
	c.read(c.shards())
	ended, err := c.ended()
	c.read(err)
	if !ended {
		c.unchecked("the run has not ended: tables are not compared")
		return c.Report, nil
	}
	for _, table := range []func() error{c.metrics, c.timings, c.jobs, c.comparisons, c.estimates, c.profiling, c.fidelity,
		c.fidelityJobs, c.fidelityDecisions, c.sums} {
		c.read(table())
	}
	c.name("trials.csv", "tunings.csv", "remaining.csv", "references.csv", "cluster_speed.csv", "ranking.csv", "choices.csv",
		"sequences.csv", "objectives.csv", "training.csv", "courses.csv", "samples.csv")
	return c.Report, nil
}

// read notes that the compared file cannot be read or is malformed.
func (c *checker) read(err error) {
	if err != nil {
		c.differs("", err.Error(), "readable")
	}
}

// ended reports whether the tables cover the existing cells.
func (c *checker) ended() (bool, error) {
	if _, err := folder.Stat(c.Dir, "SHA256SUMS"); err == nil {
		return true, nil
	}
	var run struct {
		State    string `json:"state"`
		Reported bool   `json:"reported"`
	}
	err := c.json(&run, "run.json")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return run.Reported && run.State != "running", err
}

// name notes the existing ones of some tables: these are not recomputed.
func (c *checker) name(tables ...string) {
	var there []string
	for _, t := range tables {
		if _, err := folder.Stat(c.Dir, t); err == nil {
			there = append(there, t)
		}
	}
	if len(there) > 0 {
		c.unchecked("%s: compared with their sums alone", strings.Join(there, ", "))
	}
}

func (c *checker) unchecked(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(c.Unchecked, s) {
		c.Unchecked = append(c.Unchecked, s)
	}
}

// in sets which file and row are compared.
func (c *checker) in(file, row string) { c.at = Difference{File: file, Row: row} }

func (c *checker) differs(column, has, want string) {
	if c.Count++; len(c.Differences) < Most {
		d := c.at
		d.Column, d.Has, d.Want = column, has, want
		c.Differences = append(c.Differences, d)
	}
}

// text compares a field with its expected text.
func (c *checker) text(column, has, want string) {
	if c.Values++; has != want {
		c.differs(column, has, want)
	}
}

// number compares a printed number with the value that it should have. It may be off by half of its last digit, and by
// the rounding of a sum. NaN is an empty field.
func (c *checker) number(column, has string, want float64) { c.about(column, has, want, 0) }

// about is number for a value that is only known with an error of less than slack.
func (c *checker) about(column, has string, want, slack float64) {
	c.Values++
	v, err := strconv.ParseFloat(has, 64)
	switch known := !math.IsNaN(want) && !math.IsInf(want, 0); {
	case !known && has == "":
	case !known, err != nil, !(math.Abs(v-want) <= lastDigit(has)/2+1e-11*max(1, math.Abs(want))+slack):
		c.differs(column, has, printed(want))
	}
}

// lastDigit is the value of one unit of the last digit of a number.
func lastDigit(s string) float64 {
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	if _, digits, ok := strings.Cut(mantissa, "."); ok {
		e -= len(digits)
	}
	return math.Pow10(e)
}

func printed(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// json reads a file.
func (c *checker) json(v any, name ...string) error {
	raw, err := folder.ReadFile(c.Dir, name...)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", strings.Join(name, "/"), err)
	}
	return nil
}

// row is a row of a table.
type row struct {
	at     map[string]int
	fields []string
	line   int
}

// get returns a field, empty without such a column.
func (r row) get(column string) string {
	if i, ok := r.at[column]; ok && i < len(r.fields) {
		return r.fields[i]
	}
	return ""
}

// value is a field as a number; NaN where it is empty.
func (r row) value(column string) float64 {
	v, err := strconv.ParseFloat(r.get(column), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func (r row) has(column string) bool { _, ok := r.at[column]; return ok }

// each reads a table row by row; the row is reused. Without the table it returns false.
func (c *checker) each(visit func(row) error, name ...string) (bool, error) {
	t, err := c.open(name...)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer t.file.Close()
	for t.next() {
		if err := visit(t.row); err != nil {
			return true, err
		}
	}
	return true, t.err
}

// rows reads a table of the experiment, row by row; differences are at their lines.
func (c *checker) rows(name string, visit func(row)) error {
	_, err := c.each(func(o row) error {
		c.in(name, fmt.Sprintf("line %d", o.line))
		visit(o)
		return nil
	}, name)
	return err
}

// table is one that is read row by row.
type table struct {
	row
	file *folder.File
	csv  *csv.Reader
	err  error
}

func (c *checker) open(name ...string) (*table, error) {
	f, err := folder.Open(c.Dir, name...)
	if err != nil {
		return nil, err
	}
	t := &table{file: f, csv: csv.NewReader(f), row: row{at: map[string]int{}}}
	t.csv.ReuseRecord, t.csv.FieldsPerRecord = true, -1
	head, err := t.csv.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("read %s: %w", strings.Join(name, "/"), err), f.Close())
	}
	for i, column := range head {
		t.at[strings.Clone(column)] = i
	}
	return t, nil
}

// next reads the next row; false at the end.
func (t *table) next() bool {
	fields, err := t.csv.Read()
	t.fields = fields
	t.line, _ = t.csv.FieldPos(0)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = fmt.Errorf("read %s: %w", t.file.Name(), err)
	}
	return err == nil
}

// Copy compares a file with a copy of it that was kept elsewhere, line by line and, of a table, field by field.
func (r *Report) Copy(file string, has, want []byte) {
	c := &checker{Report: r}
	if c.Values++; bytes.Equal(has, want) {
		return
	}
	is, was := bytes.Split(has, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(is), len(was)) {
		var a, b string
		if i < len(is) {
			a = string(is[i])
		}
		if i < len(was) {
			b = string(was[i])
		}
		if a == b {
			continue
		}
		c.in(file, fmt.Sprintf("line %d", i+1))
		heads, fields, kept := strings.Split(string(was[0]), ","), strings.Split(a, ","), strings.Split(b, ",")
		if !strings.HasSuffix(file, ".csv") || len(fields) != len(kept) || len(kept) != len(heads) {
			c.differs("", schema.Shortened(a, mostOfLine), schema.Shortened(b, mostOfLine))
			continue
		}
		for k := range kept {
			if fields[k] != kept[k] {
				c.differs(heads[k], fields[k], kept[k])
			}
		}
	}
}

// mostOfLine is how much of a line is printed.
const mostOfLine = 200
