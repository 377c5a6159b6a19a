package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// AccuracyRow is a row of accuracy.csv: how well a model's estimates, made
// before the jobs ran, predicted the real runs of jobs that held their full
// request throughout. What is not known is NaN, an empty field.
type AccuracyRow struct {
	// Model is as in estimates.csv; By is "all", "job" or "resource", Group which.
	Model, By, Group string
	// Estimates that were fitted, and Runs that they are compared with.
	Estimates, Runs int
	// MeanAbs, SD and Bias are the mean of the absolute errors, and the standard
	// deviation and mean of the signed ones, by run: (predicted − actual) / actual
	// in percent. Above 0 estimates are too long.
	MeanAbs, SD, Bias float64
	// Coverage is the part of the runs that the intervals of Level hold.
	Coverage, Level float64
	// Choices counts the jobs that ran on more than one resource. Of these,
	// BestRank is the place (1 is best) that the resource predicted fastest really
	// has, and Regret by how much it is slower than the one that was fastest, in
	// percent; means over Choices.
	Choices          int
	BestRank, Regret float64
}

// The groups of accuracy.csv.
const (
	ByAll      = "all"
	ByJob      = "job"
	ByResource = "resource"
)

// outcomes are the runs that an estimate is compared with.
type outcomes struct {
	seconds []float64 // service times
	real    []float64 // those of real cells
	covered int       // of real
}

func (o *outcomes) add(e EstimateRow, service float64, real bool) {
	o.seconds = append(o.seconds, service)
	if !real {
		return
	}
	o.real = append(o.real, service)
	if e.Low >= 0 && e.Low <= service && service <= e.High {
		o.covered++
	}
}

// resource names what an estimate is for: "here, 2 threads".
func (r EstimateRow) resource() string {
	s := fmt.Sprintf("%s, %d threads", r.Hardware, r.Threads)
	if r.Threads == 1 {
		s = r.Hardware + ", 1 thread"
	}
	if r.GPUs > 0 {
		s += fmt.Sprintf(", %d GPUs", r.GPUs)
	}
	return s
}

// writeAccuracy puts what the jobs really took into estimates.csv, and writes
// accuracy.csv and profiling.csv.
func (e *Experiment) writeAccuracy(rows []EstimateRow, actual []outcomes) error {
	for i := range rows {
		rows[i].Actual, rows[i].ActualSD, rows[i].Runs, rows[i].Covered = -1, -1, len(actual[i].seconds), actual[i].covered
		if rows[i].Runs > 0 {
			rows[i].Actual = stat.Mean(actual[i].seconds, nil)
		}
		if rows[i].Runs > 1 {
			rows[i].ActualSD = stat.StdDev(actual[i].seconds, nil)
		}
	}
	if err := writeEstimates(e.Dir, rows); err != nil {
		return err
	}
	samples, err := e.Samples()
	if err != nil {
		return err
	}
	cost := 0.0
	for _, s := range samples {
		cost += max(s.Cost, 0)
	}
	return errors.Join(
		writeOrRemove(filepath.Join(e.Dir, AccuracyFile), accuracyColumns, accuracy(rows, actual)),
		writeOrRemove(filepath.Join(e.Dir, ProfilingFile), profilingColumns, e.profiling(cost)))
}

// writeOrRemove writes a table; one without rows is not there.
func writeOrRemove[T any](path string, columns []column[T], rows []T) error {
	if len(rows) > 0 {
		return writeTable(path, columns, rows)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old table: %w", err)
	}
	return nil
}

// accuracy sums up the estimates that have real runs: for each model over all,
// by job, and by resource, in the order of estimates.csv.
func accuracy(rows []EstimateRow, actual []outcomes) []AccuracyRow {
	var models []string
	for i, r := range rows {
		if len(actual[i].real) > 0 && !slices.Contains(models, r.Model) {
			models = append(models, r.Model)
		}
	}
	var out []AccuracyRow
	for _, model := range models {
		for _, by := range []struct {
			name  string
			group func(EstimateRow) string
		}{
			{ByAll, func(EstimateRow) string { return "" }},
			{ByJob, func(r EstimateRow) string { return r.Job }},
			{ByResource, EstimateRow.resource},
		} {
			var groups []string
			members := map[string][]int{}
			for i, r := range rows {
				if r.Model != model || len(actual[i].real) == 0 {
					continue
				}
				g := by.group(r)
				if members[g] == nil {
					groups = append(groups, g)
				}
				members[g] = append(members[g], i)
			}
			for _, g := range groups {
				row := summarise(rows, actual, members[g])
				row.Model, row.By, row.Group = model, by.name, g
				if by.name != ByResource { // within a resource there is nothing to choose
					row.Choices, row.BestRank, row.Regret = choices(rows, actual, members[g])
				}
				out = append(out, row)
			}
		}
	}
	return out
}

// summarise is the accuracy of some of the estimates.
func summarise(rows []EstimateRow, actual []outcomes, members []int) AccuracyRow {
	row := AccuracyRow{Estimates: len(members), SD: math.NaN(), Coverage: math.NaN(), BestRank: math.NaN(), Regret: math.NaN()}
	var errs []float64
	covered, bounded := 0, 0
	for _, i := range members {
		for _, s := range actual[i].real {
			errs = append(errs, 100*(rows[i].Predicted-s)/s)
		}
		if rows[i].Low >= 0 {
			bounded += len(actual[i].real)
			covered += actual[i].covered
		}
		row.Level = rows[i].Level
	}
	row.Runs = len(errs)
	row.Bias = stat.Mean(errs, nil)
	if len(errs) > 1 {
		row.SD = stat.StdDev(errs, nil)
	}
	for _, e := range errs {
		row.MeanAbs += math.Abs(e) / float64(len(errs))
	}
	if bounded > 0 {
		row.Coverage = float64(covered) / float64(bounded)
	}
	return row
}

// choices looks at the jobs that ran on several resources: which place the one
// predicted fastest really has, and how much slower than the fastest it is.
func choices(rows []EstimateRow, actual []outcomes, members []int) (n int, rank, regret float64) {
	type choice struct{ predicted, actual float64 }
	type job struct{ name, axes string }
	var jobs []job
	of := map[job][]choice{}
	for _, i := range members {
		j := job{rows[i].Job, rows[i].Axes}
		if of[j] == nil {
			jobs = append(jobs, j)
		}
		of[j] = append(of[j], choice{rows[i].Predicted, stat.Mean(actual[i].real, nil)})
	}
	var ranks, regrets mean
	for _, j := range jobs {
		all := of[j]
		if len(all) < 2 {
			continue
		}
		best := slices.MinFunc(all, func(a, b choice) int { return cmp.Compare(a.predicted, b.predicted) })
		fastest, place := best.actual, 1
		for _, c := range all {
			fastest = min(fastest, c.actual)
			if c.actual < best.actual {
				place++
			}
		}
		ranks.add(float64(place))
		regrets.add(100 * (best.actual - fastest) / fastest)
	}
	return ranks.n, ranks.value(), regrets.value()
}
