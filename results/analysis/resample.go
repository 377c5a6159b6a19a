package analysis

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// jobColumns are the columns of jobs.csv with values for a mean over jobs, or with the group of a job.
var jobColumns = []string{"job", "class", "user", "arrival_s", "waiting_s", "first_run_delay_s", "service_s", "jct_s",
	"slowdown",
	"bounded_slowdown", "state", "threads_requested", "gpus"}

// resample divides the jobs of the first cells of two variants into the stretches of a log that a block bootstrap
// draws from. It returns none where the cells did not record their jobs, or had different jobs.
func resample(e *record.Experiment, base, v Variant, of Value, asked record.Compare) ([]stats.Block, error) {
	if of.OfJob == nil {
		return nil, nil
	}
	b, err := jobsOf(e, base.Cells[0].CellRef, of)
	if b == nil || err != nil {
		return nil, err
	}
	c, err := jobsOf(e, v.Cells[0].CellRef, of)
	if len(b) != len(c) || err != nil {
		return nil, err
	}
	return blocks(b, c, asked.Block), nil
}

// blocks adds up jobs, by the stretch of the log in which they arrived.
func blocks(b, c []jobValue, length float64) []stats.Block {
	var all []stats.Block
	at := map[int]int{}
	for i := range b {
		if b[i].name != c[i].name {
			return nil
		}
		if !stats.Finite(b[i].value) || !stats.Finite(c[i].value) {
			continue
		}
		day := int(math.Floor(b[i].arrival / length))
		k, ok := at[day]
		if !ok {
			k = len(all)
			at[day] = k
			all = append(all, stats.Block{})
		}
		all[k].N++
		all[k].Baseline += b[i].value
		all[k].Candidate += c[i].value
	}
	return all
}

// jobValue is the value of a job in a cell.
type jobValue struct {
	name           string
	arrival, value float64
}

// jobsOf reads the values that a mean averages; nil where the cell did not record its jobs.
func jobsOf(e *record.Experiment, c record.CellRef, of Value) ([]jobValue, error) {
	jobs := []jobValue{}
	err := e.EachJob(c, jobColumns, 1, func(r *record.JobRow) bool {
		if of.By != "" && measure.GroupOf(of.By, r.Class, r.User, r.ThreadsRequested, r.GPUs) != of.Group {
			return true
		}
		j := jobValue{name: r.Job, arrival: r.Arrival, value: math.NaN()}
		if r.State == "finished" {
			j.value = of.OfJob(&r.Outcome)
		}
		jobs = append(jobs, j)
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resample the log: %w", err)
	}
	return jobs, nil
}
