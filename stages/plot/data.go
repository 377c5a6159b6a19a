package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/tfexp/tfexp/results"
)

// data is what the pictures are drawn from. The rows of a few cells are kept;
// those of many are read each time, as they may be millions.
type data struct {
	*results.Experiment
	variants []results.Variant
	jobs     map[string][]results.JobRow // by cell; none for a cell without rows
}

func newData(e *results.Experiment) *data {
	return &data{Experiment: e, variants: e.Variants(), jobs: map[string][]results.JobRow{}}
}

// rows are a cell's jobs; none when the cell recorded only its metrics.
func (d *data) rows(c results.CellRef) ([]results.JobRow, error) {
	rows, ok := d.jobs[c.Cell]
	if ok {
		return rows, nil
	}
	rows, err := d.Jobs(c)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(d.Cells) <= mostKept {
		d.jobs[c.Cell] = rows
	}
	return rows, nil
}

const mostKept = 50

// setting is one workload on one hardware: what is compared in one picture.
type setting struct {
	workload, hardware string
	variants           []results.Variant // with at least one complete cell
}

// settings groups the variants, in the order of the plan.
func (d *data) settings() []setting {
	var out []setting
	for _, v := range d.variants {
		if len(v.Cells) == 0 {
			continue
		}
		i := 0
		for i < len(out) && (out[i].workload != v.Workload || out[i].hardware != v.Hardware) {
			i++
		}
		if i == len(out) {
			out = append(out, setting{workload: v.Workload, hardware: v.Hardware})
		}
		out[i].variants = append(out[i].variants, v)
	}
	return out
}

// suffix tells the setting's pictures from those of others: "" when there is
// but one.
func (d *data) suffix(s setting) string {
	if len(d.Plan.Workloads) <= 1 && len(d.Plan.Hardware) <= 1 {
		return ""
	}
	return "-" + s.workload + "-" + s.hardware
}

// place says in words which setting a title is about.
func (d *data) place(s setting) string {
	out := ""
	if len(d.Plan.Workloads) > 1 {
		out += " – " + s.workload
	}
	if len(d.Plan.Hardware) > 1 {
		out += " on " + s.hardware
	}
	return out
}

// classes are the job classes of a cell in the order of its jobs.
func classes(rows []results.JobRow) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range rows {
		if !seen[r.Class] {
			seen[r.Class] = true
			out = append(out, r.Class)
		}
	}
	return out
}

func index(list []string, s string) int {
	for i, v := range list {
		if v == s {
			return i
		}
	}
	return -1
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// someOf says that only the first n of all are shown; "" when all are.
func someOf(n, all int, noun string) string {
	if n >= all {
		return ""
	}
	return fmt.Sprintf(" Only the first %d of %d %ss are shown.", n, all, noun)
}
