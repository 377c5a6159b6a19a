package recompute

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// table reads a CSV file row by row.
type table struct {
	c      *checker
	name   string
	file   *folder.File // nil if the file is missing or has ended
	broken bool         // whether the file could not be read to its end
	csv    *csv.Reader
	at     map[string]int // column numbers by name
	fields []string       // fields of the current row
	line   int
}

// open opens a table. A missing file is a table without rows.
func (c *checker) open(name string) *table {
	t := &table{c: c, name: name, at: map[string]int{}}
	f, err := folder.Open(c.Dir, name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.fail(err.Error(), "readable")
		}
		return t
	}
	t.file, t.csv = f, csv.NewReader(csvrows.Bound(f))
	t.csv.ReuseRecord = true
	if !t.next() {
		t.fail("", "a table")
	}
	for i, column := range t.fields {
		t.at[strings.Clone(column)] = i
	}
	return t
}

// fail reports a difference after which the rest of the table is not compared. It reports only the first one of a
// table.
func (t *table) fail(has, want string) {
	if t.c.in(t.name, ""); !t.broken {
		t.c.differs("", has, want)
	}
	t.broken = true
}

// next reads the next row. At the end it closes the file and returns false.
func (t *table) next() bool {
	if t.file == nil {
		return false
	}
	fields, err := t.csv.Read()
	if err == nil {
		t.fields = fields
		t.line, _ = t.csv.FieldPos(0)
		return true
	}
	if !errors.Is(err, io.EOF) {
		t.fail(err.Error(), "readable")
	}
	t.close()
	return false
}

func (t *table) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// in sets the current row for later differences. what describes the row.
func (t *table) in(what string) {
	t.c.in(t.name, strings.TrimSpace(fmt.Sprintf("line %d %s", t.line, what)))
}

func (t *table) has(column string) bool { _, ok := t.at[column]; return ok }

// get returns a field of the row, empty if the table lacks the column.
func (t *table) get(column string) string {
	if i, ok := t.at[column]; ok {
		return t.fields[i]
	}
	return ""
}

// number returns a field of the row as a number; NaN if it is empty.
func (t *table) number(column string) float64 { return number(t.get(column)) }

// place compares the first columns of a row with the name and axes of its cell.
func (t *table) place(k *cell) {
	for _, x := range [][2]string{{"cell", k.Cell}, {"workload", k.Workload}, {"hardware", k.Hardware},
		{"policy", k.Policy}, {"replicate", strconv.Itoa(k.Replicate)}} {
		t.c.text(x[0], t.get(x[0]), x[1])
	}
	for _, axis := range t.c.plan.Axes {
		want := ""
		for _, a := range k.Axes {
			if a.Name == axis {
				want = a.Value
			}
		}
		t.c.text(axis, t.get(axis), want)
	}
}

// metrics compares metrics.csv and timings.csv, which have one row for each cell in the order of the plan.
func (c *checker) metrics() {
	c.perCell("metrics.csv", func(t *table, k *cell) {
		c.text("engine", t.get("engine"), k.Engine)
		c.text("state", t.get("state"), k.State)
		for column := range k.Metrics {
			if t.has(column) {
				c.text(column, t.get(column), field(k.Metrics, column))
			}
		}
		c.text("saturated", t.get("saturated"), field(k.Load, "saturated"))
		c.text("queued_at_last_arrival", t.get("queued_at_last_arrival"), field(k.Load, "queued_at_last_arrival"))
		c.number("offered_load", t.get("offered_load"), number(field(k.Load, "offered_load")), 0)
	})
	c.perCell("timings.csv", func(t *table, k *cell) {
		if c.number("seconds", t.get("seconds"), k.Seconds, 0); k.Busy >= 0 && t.has("busy_cores") {
			c.number("busy_cores", t.get("busy_cores"), k.Busy, 0)
		}
	})
}

func (c *checker) perCell(name string, compare func(*table, *cell)) {
	cells, i := c.complete(), 0
	t := c.open(name)
	for ; t.next(); i++ {
		if i >= len(cells) {
			t.fail("cell "+t.get("cell"), "the end")
			continue
		}
		t.in("(" + cells[i].Cell + ")")
		t.place(cells[i])
		compare(t, cells[i])
	}
	if len(t.at) > 0 && i < len(cells) {
		t.fail("the end", "cell "+cells[i].Cell)
	}
}

// jobs compares jobs.csv of the experiment with jobs.csv of each cell.
func (c *checker) jobs() {
	whole := c.open("jobs.csv")
	if whole.file == nil {
		return
	}
	defer whole.close()
	for _, k := range c.complete() {
		t := c.open(record.CellsDir + "/" + k.Cell + "/jobs.csv")
		for t.next() {
			if !whole.next() {
				t.close()
				whole.fail("the end", "job "+t.get("job"))
				return
			}
			whole.in(fmt.Sprintf("(job %s of %s)", t.get("job"), k.Cell))
			whole.place(k)
			for column := range t.at {
				if whole.has(column) && !slices.Contains(c.plan.Axes, column) {
					c.text(column, whole.get(column), t.get(column))
				}
			}
		}
	}
	if whole.next() {
		whole.fail("job "+whole.get("job"), "the end")
	}
}
