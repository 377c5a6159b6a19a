// Package recompute recomputes the results of an experiment from its events, by the definitions of docs/results.md, and
// reports where its files differ. It has its own parsers of events and tables, and its own arithmetic; it shares only
// the types of plan.json with the code that wrote them.
package recompute

import (
	"bufio"
	"cmp"
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
	"github.com/tfexp/tfexp/results/record"
)

// Difference is a value in a file that differs from the recomputed value.
type Difference struct {
	File   string `json:"file"`          // path below the experiment's folder
	Row    string `json:"row,omitempty"` // the key or the number of the row
	Column string `json:"column,omitempty"`
	Has    string `json:"has"`
	Want   string `json:"want"`
}

func (d Difference) String() string {
	at := slices.DeleteFunc([]string{d.File, d.Row, d.Column}, func(s string) bool { return s == "" })
	return fmt.Sprintf("%s: %s, should be %s", strings.Join(at, ", "), cmp.Or(d.Has, "empty"), cmp.Or(d.Want, "empty"))
}

// Report is the result of checking one experiment.
type Report struct {
	Dir string `json:"dir"`
	// Cells counts the cells that were recomputed from events, Values the values that were compared, and Files the
	// files whose sums are right.
	Cells  int `json:"cells"`
	Values int `json:"values"`
	Files  int `json:"files"`
	// Differences are the first differences, at most Most. Count is the number of all.
	Differences []Difference `json:"differences"`
	Count       int          `json:"count"`
	// Unchecked describes the parts that could not be recomputed.
	Unchecked []string `json:"unchecked"`
}

// Most is the largest number of differences that a Report lists.
const Most = 100

// checker checks one folder.
type checker struct {
	*Report
	plan  record.Plan
	cells map[string]*cell // complete cells, by name
	at    Difference       // the file and row that are being compared
}

// Folder checks the experiment in dir.
func Folder(dir string) *Report {
	folder.Enclose(dir)
	c := &checker{Report: &Report{Dir: dir, Differences: []Difference{}, Unchecked: []string{}}, cells: map[string]*cell{}}
	if !c.json(&c.plan, record.PlanFile) {
		return c.Report
	}
	for i := range c.plan.Cells {
		ref := &c.plan.Cells[i]
		c.cell(ref, ref.Cell)
		c.cell(nil, ref.Cell+"/"+record.TwinDir)
	}
	c.shards()
	if !c.ended() {
		c.unchecked("the run has not ended: tables are not compared")
		return c.Report
	}
	c.metrics()
	c.jobs()
	c.sums()
	return c.Report
}

// ended reports whether the run has written its tables, so that they contain all complete cells.
func (c *checker) ended() bool {
	if _, err := folder.Stat(c.Dir, record.SumsFile); err == nil {
		return true
	}
	var run record.Run
	c.json(&run, record.RunFile)
	return run.Reported && run.State != "running"
}

// sums compares the files with SHA256SUMS.
func (c *checker) sums() {
	listed := map[string]string{} // the sums of the files that exist
	there := c.lines(func(_ int, raw []byte) error {
		want, file, _ := strings.Cut(strings.TrimSuffix(string(raw), "\n"), "  ")
		if before, again := listed[file]; again && before == want {
			return nil
		}
		if c.Files++; c.sum(file, want) {
			listed[file] = want
		}
		return nil
	}, record.SumsFile)
	if there {
		more, first := 0, ""
		_ = record.EachSummed(c.Dir, func(path string, _ fs.FileInfo) {
			if _, ok := listed[path]; !ok {
				more, first = more+1, cmp.Or(first, path)
			}
		})
		if more > 0 {
			c.unchecked(fmt.Sprintf("%s that %s does not list, such as %s", schema.Plural(more, "file"), record.SumsFile, first))
		}
		c.unchecked("tables of comparisons, estimates, fidelity and single features: only their sums are compared")
	} else {
		c.unchecked("there is no SHA256SUMS: a run goes on, was killed, or an earlier version wrote the files")
	}
}

// sum compares the SHA-256 of a file. It reports whether the file can be read.
func (c *checker) sum(file, want string) bool {
	has, err := record.SumOf(c.Dir, file)
	if c.in(file, ""); err != nil {
		c.unreadable(file, err)
	} else if has != want {
		c.differs("SHA-256", has, want)
	}
	return err == nil
}

func (c *checker) unchecked(s string) {
	if !slices.Contains(c.Unchecked, s) {
		c.Unchecked = append(c.Unchecked, s)
	}
}

// in sets the file and the row of later differences.
func (c *checker) in(file, row string) { c.at = Difference{File: file, Row: row} }

func (c *checker) differs(column, has, want string) {
	if c.Count++; len(c.Differences) < Most {
		d := c.at
		d.Column, d.Has, d.Want = column, schema.Shortened(has, mostOfLine), schema.Shortened(want, mostOfLine)
		c.Differences = append(c.Differences, d)
	}
}

// mostOfLine is the largest number of characters of a line that are printed.
const mostOfLine = 200

// unreadable reports that a file cannot be read or is malformed.
func (c *checker) unreadable(file string, err error) {
	c.in(file, "")
	c.differs("", err.Error(), "readable")
}

// text compares a field with its expected text.
func (c *checker) text(column, has, want string) {
	if c.Values++; has != want {
		c.differs(column, has, want)
	}
}

// number compares a printed number with its recomputed value. They may differ by half a unit of the last printed digit,
// by the rounding of a sum, and by slack, for values computed from rounded ones. NaN means an empty field.
func (c *checker) number(column, has string, want, slack float64) {
	c.Values++
	v, err := strconv.ParseFloat(has, 64)
	switch known := !math.IsNaN(want) && !math.IsInf(want, 0); {
	case !known && has != "":
		c.differs(column, has, "")
	case known && (err != nil || !(math.Abs(v-want) <= lastDigit(has)/2+1e-11*max(1, math.Abs(want))+slack)):
		c.differs(column, has, strconv.FormatFloat(want, 'f', 6, 64))
	}
}

// lastDigit returns the value of one unit in the last digit of a printed number.
func lastDigit(s string) float64 {
	mantissa, exponent, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exponent)
	if _, digits, ok := strings.Cut(mantissa, "."); ok {
		e -= len(digits)
	}
	return math.Pow10(e)
}

// number parses a printed number; NaN if the field is empty or not a number.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// json decodes a file into v, and reports whether that succeeded.
func (c *checker) json(v any, file string) bool {
	raw, err := folder.ReadFile(c.Dir, file)
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || file == record.PlanFile) {
		c.unreadable(file, err)
	}
	return err == nil
}

// lines calls visit for each line of a file. It reports whether the file exists and all of it could be read.
func (c *checker) lines(visit func(n int, raw []byte) error, file string) bool {
	f, err := folder.Open(c.Dir, file)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.unreadable(file, err)
		}
		return false
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		raw, err := folder.ReadLine(in)
		if errors.Is(err, io.EOF) && len(raw) == 0 {
			return true
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = visit(n, raw)
		}
		if err != nil {
			c.unreadable(file, fmt.Errorf("line %d: %w", n, err))
			return false
		}
	}
}
