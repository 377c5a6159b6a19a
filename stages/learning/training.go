package learning

import (
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// training has the accuracies that a job reported.
type training struct {
	Class    string
	Points   []point
	Finished bool
}

// point is the accuracy Value at the time At, in seconds after the job's start.
type point struct{ At, Value float64 }

// trainings returns the accuracies that the jobs of a cell reported; nil without reports.
func trainings(e *record.Experiment, c record.Cell) ([]training, error) {
	rows, err := record.ReadLive(e, c.CellRef, record.Progress)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	byJob := map[string]int{}
	var jobs []training
	for _, r := range rows {
		if !stats.Finite(r.Accuracy) {
			continue
		}
		i, ok := byJob[r.Job]
		if !ok {
			i = len(jobs)
			byJob[r.Job] = i
			jobs = append(jobs, training{})
		}
		jobs[i].Points = append(jobs[i].Points, point{r.At, r.Accuracy})
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	err = e.EachJob(c.CellRef, []string{"job", "class", "first_start_s", "state"}, 1, func(r *record.JobRow) bool {
		if i, ok := byJob[r.Job]; ok {
			jobs[i].Class, jobs[i].Finished = strings.Clone(r.Class), r.State == "finished"
			for k := range jobs[i].Points {
				jobs[i].Points[k].At -= max(r.FirstStart, 0)
			}
		}
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return jobs, err
}

// medianTraining returns the median accuracy of the finished jobs over time. It begins when all jobs have reported, and
// ends when half of the jobs have ended. For a single job it returns the job's reports.
func medianTraining(all []training) (median []point) {
	var jobs []training
	var ends []float64
	begin := 0.0
	for _, j := range all {
		if j.Finished {
			jobs = append(jobs, j)
			begin = max(begin, j.Points[0].At)
			ends = append(ends, j.Points[len(j.Points)-1].At)
		}
	}
	switch len(jobs) {
	case 0:
		return nil
	case 1:
		return jobs[0].Points
	}
	slices.Sort(ends)
	end := ends[len(ends)/2]
	if end <= begin {
		return nil
	}
	const instants = 80
	for k := range instants + 1 {
		at := begin + (end-begin)*float64(k)/instants
		values := make([]float64, len(jobs))
		for i, j := range jobs {
			values[i] = j.value(at)
		}
		slices.Sort(values)
		median = append(median, point{at, stats.Quantile(values, 0.5)})
	}
	return median
}

// value returns the accuracy at an instant, linearly interpolated between reports.
func (t training) value(at float64) float64 {
	for i := 1; i < len(t.Points); i++ {
		if t.Points[i].At >= at {
			a, b := t.Points[i-1], t.Points[i]
			if b.At <= a.At {
				return b.Value
			}
			return a.Value + (b.Value-a.Value)*math.Max(0, at-a.At)/(b.At-a.At)
		}
	}
	return t.Points[len(t.Points)-1].Value
}
