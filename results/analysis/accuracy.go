package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// outcomes are the finished runs of a job with which one of its estimates is compared.
type outcomes struct {
	seconds []float64 // service times
	real    []float64 // of real cells
	errors  []float64 // of the predictions of real, in percent
	cells   []string  // of real
	covered int       // of real
	// latest has the same runs, compared with the estimates that the scheduler used in their cells.
	latest latest
}

// latest are runs, each compared with the estimate that the scheduler used in its cell. Corrected is true if earlier
// cells had corrected such an estimate.
type latest struct {
	errors           []float64 // in percent
	bounded, covered int
	corrected        bool
}

// add adds a run, longer as in outcomes.add.
func (l *latest) add(e record.Estimated, service, longer float64) {
	l.errors = append(l.errors, 100*(longer*e.Predicted-service)/service)
	l.corrected = l.corrected || e.Runs > 0
	if e.Low < 0 {
		return
	}
	l.bounded++
	if longer*e.Low <= service && service <= longer*e.High {
		l.covered++
	}
}

// add adds a run in a cell. longer is the predicted time of the run in its cell, divided by its predicted time without
// neighbors.
func (o *outcomes) add(e record.EstimateRow, service float64, cell record.CellRef, longer float64) {
	o.seconds = append(o.seconds, service)
	if !cell.Real() {
		return
	}
	o.real, o.cells = append(o.real, service), append(o.cells, cell.Cell)
	o.errors = append(o.errors, 100*(longer*e.Predicted-service)/service)
	if e.Low >= 0 && longer*e.Low <= service && service <= longer*e.High {
		o.covered++
	}
}

// predicted predicts how long jobs take next to their neighbors, and at the speed that the machine had. It reads this
// from the simulations of the real cells.
type predicted struct {
	e         *record.Experiment
	cell      string // whose jobs it knows
	service   map[string]record.JobRow
	estimated []record.Estimated // in force when it began
}

// inForce returns the estimate of a job that the scheduler used in the current cell.
func (p *predicted) inForce(used record.EstimateRow) (record.Estimated, bool) {
	for _, e := range p.estimated {
		if e.Job == used.Job && e.Threads == used.Threads && e.GPUs == used.GPUs && e.Factor > 0 {
			return e, true
		}
	}
	return record.Estimated{Factor: 1}, false
}

// longer returns the predicted time of a real run, divided by its predicted time without neighbors. It returns 1 if the
// cell has no simulation, or if the job did not hold its full request there.
func (p *predicted) longer(c record.CellRef, job string, used record.EstimateRow) float64 {
	if p.cell != c.Cell {
		p.cell, p.service, p.estimated = c.Cell, map[string]record.JobRow{}, nil
		if i := slices.IndexFunc(p.e.Cells, func(known record.Cell) bool { return known.Cell == c.Cell }); i >= 0 {
			p.estimated = p.e.Cells[i].Estimated
		}
		columns := []string{"job", "class", "state", "service_s", "threads_requested", "threads_mean", "gpus", "resizes"}
		_ = p.e.EachJob(c.Twin(), columns, 1, func(r *record.JobRow) bool {
			row := *r
			row.Hardware = c.Hardware
			p.service[r.Job] = row
			return true
		})
	}
	row, ok := p.service[job]
	if !ok || !shows(&row, used) || used.Predicted <= 0 || row.Service <= 0 {
		return 1
	}
	e, _ := p.inForce(used)
	return row.Service / used.Predicted / e.Factor
}

// resource names the hardware and the threads of an estimate: "here, 2 threads".
func resource(r record.EstimateRow) string {
	s := fmt.Sprintf("%s, %d threads", r.Hardware, r.Threads)
	if r.Threads == 1 {
		s = r.Hardware + ", 1 thread"
	}
	if r.GPUs > 0 {
		s += fmt.Sprintf(", %d GPUs", r.GPUs)
	}
	return s
}

// writeAccuracy puts the real run times of jobs into estimates.csv, and writes
// accuracy.csv and profiling.csv.
func writeAccuracy(e *record.Experiment, rows []record.EstimateRow, actual []outcomes) error {
	for i := range rows {
		rows[i].Actual, rows[i].ActualSD, rows[i].Runs, rows[i].Covered = -1, -1, len(actual[i].seconds), actual[i].covered
		if rows[i].Runs > 0 {
			rows[i].Actual = stat.Mean(actual[i].seconds, nil)
		}
		if rows[i].Runs > 1 {
			rows[i].ActualSD = stat.StdDev(actual[i].seconds, nil)
		}
	}
	if err := record.ReplaceEstimates(e.Dir, rows); err != nil {
		return err
	}
	samples, err := record.Samples.Read(e.Dir)
	if err != nil {
		return err
	}
	cost := 0.0
	for _, s := range samples {
		cost += max(s.Cost, 0)
	}
	return errors.Join(
		record.Accuracy.Replace(e.Dir, accuracy(rows, actual)),
		record.Profiling.Replace(e.Dir, profiling(e, cost)))
}

// accuracy returns the rows of accuracy.csv: for each model one over all real runs, one for each job and one for each
// resource, in the order of estimates.csv.
func accuracy(rows []record.EstimateRow, actual []outcomes) []record.AccuracyRow {
	var models []string
	for i, r := range rows {
		if len(actual[i].real) > 0 && !slices.Contains(models, r.Model) {
			models = append(models, r.Model)
		}
	}
	var out []record.AccuracyRow
	for _, model := range models {
		for _, by := range []struct {
			name  string
			group func(record.EstimateRow) string
		}{
			{record.ByAll, func(record.EstimateRow) string { return "" }},
			{record.ByJob, func(r record.EstimateRow) string { return r.Job }},
			{record.ByResource, resource},
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
				row.Model, row.By, row.Group, row.Made = model, by.name, g, record.MadeBefore
				if by.name != record.ByResource { // within a resource there is nothing to choose
					row.Choices, row.BestRank, row.Regret = choices(rows, actual, members[g])
				}
				out = append(out, row)
				if row, ok := summariseLatest(rows, actual, members[g]); ok {
					row.Model, row.By, row.Group, row.Made = model, by.name, g, record.MadeCorrected
					out = append(out, row)
				}
			}
		}
	}
	return out
}

// summariseLatest returns the accuracy of the estimates that the scheduler used in each cell. It returns false if no
// earlier cell had corrected one of them.
func summariseLatest(rows []record.EstimateRow, actual []outcomes, members []int) (record.AccuracyRow, bool) {
	row := record.AccuracyRow{Estimates: len(members), BestRank: math.NaN(), Regret: math.NaN()}
	var all latest
	for _, i := range members {
		l := actual[i].latest
		all.errors = append(all.errors, l.errors...)
		all.bounded, all.covered, all.corrected = all.bounded+l.bounded, all.covered+l.covered, all.corrected || l.corrected
		row.Level = rows[i].Level
	}
	addErrors(&row, all.errors, all.covered, all.bounded)
	row.Machine = machineError(actual, members)
	return row, all.corrected
}

// summarise returns the accuracy of some of the estimates, whose indices are members.
func summarise(rows []record.EstimateRow, actual []outcomes, members []int) record.AccuracyRow {
	row := record.AccuracyRow{Estimates: len(members), BestRank: math.NaN(), Regret: math.NaN()}
	var errs []float64
	covered, bounded := 0, 0
	for _, i := range members {
		errs = append(errs, actual[i].errors...)
		if rows[i].Low >= 0 {
			bounded += len(actual[i].real)
			covered += actual[i].covered
		}
		row.Level = rows[i].Level
	}
	addErrors(&row, errs, covered, bounded)
	row.Machine = machineError(actual, members)
	return row
}

// machineError is the mean of the absolute errors in percent of predicting each run by one run of the same job in
// another cell, over all such pairs; NaN without any. The machine, and not an estimate, causes it. Neighbors count as
// the predictions say: a run with prediction p that took p/w predicts one with prediction q as q/w.
func machineError(actual []outcomes, members []int) float64 {
	var errors stats.Mean
	for _, i := range members {
		o := &actual[i]
		for a, known := range o.errors {
			for b, run := range o.errors {
				if o.cells[a] != o.cells[b] && known > -100 {
					errors.Add(100 * math.Abs((100+run)/(100+known)-1))
				}
			}
		}
	}
	return errors.Value()
}

// addErrors fills in the errors in percent, and the share of the bounded runs, which have an interval, that were in it.
func addErrors(row *record.AccuracyRow, errs []float64, covered, bounded int) {
	row.Runs, row.Bias, row.SD = len(errs), stat.Mean(errs, nil), stat.StdDev(errs, nil)
	for _, e := range errs {
		row.MeanAbs += math.Abs(e) / float64(len(errs))
	}
	row.Coverage = float64(covered) / float64(bounded) // NaN without any
}

// choices returns, over the n jobs that ran on several resources, the mean rank of the resource that was predicted to
// be the fastest, and by how many percent it was slower than the fastest.
func choices(rows []record.EstimateRow, actual []outcomes, members []int) (n int, rank, regret float64) {
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
	var ranks, regrets stats.Mean
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
		ranks.Add(float64(place))
		regrets.Add(100 * (best.actual - fastest) / fastest)
	}
	return ranks.N, ranks.Value(), regrets.Value()
}

// shows reports whether a run can be compared with an estimate: it has the same job and request, finished, and held its
// full request all the time.
func shows(r *record.JobRow, e record.EstimateRow) bool {
	return r.Whole() && r.Class == e.Job && r.Hardware == e.Hardware && r.ThreadsRequested == e.Threads &&
		r.GPUs == e.GPUs
}

// within reports whether a cell's axes have all the values of an estimate's
// ("hidden=64 batch=32").
func within(axes string, have []record.Setting) bool {
	if axes == "" {
		return true
	}
	for want := range strings.FieldsSeq(axes) {
		found := false
		for _, s := range have {
			found = found || s.Name+"="+strings.ReplaceAll(s.Value, " ", "") == want
		}
		if !found {
			return false
		}
	}
	return true
}

// AccuracySentence writes a row of accuracy.csv as text: "The model linear was off by 26% on average (standard
// deviation 29%, bias +1.3%) over 24 real runs; the machine's own speed between samples and runs explains 22 points of
// it. 92% of the runs fell inside the 90% interval."
func AccuracySentence(r record.AccuracyRow) string {
	whose := r.Model
	if r.Made == record.MadeCorrected {
		whose += ", corrected by earlier cells,"
	}
	s := fmt.Sprintf("The model %s was off by %s%% on average", whose, table.Number(r.MeanAbs))
	if stats.Finite(r.SD) {
		s += fmt.Sprintf(" (standard deviation %s%%, bias %s)", table.Number(r.SD), table.Signed(r.Bias/100))
	}
	s += " over " + schema.Plural(r.Runs, "real run")
	if r.Group != "" {
		s += " of " + r.Group
	}
	if r.Machine > 0 {
		part := "all"
		if r.Machine < r.MeanAbs {
			part = table.Number(r.Machine) + " points"
		}
		s += fmt.Sprintf("; the machine's own speed between samples and runs explains %s of it", part)
	}
	if stats.Finite(r.Coverage) {
		only := ""
		if r.Coverage < r.Level && table.Share(r.Coverage) != table.Share(r.Level) {
			only = "Only "
		}
		s += fmt.Sprintf(". %s%s of the runs fell inside the %s interval", only, table.Share(r.Coverage),
			table.Share(r.Level))
	}
	return s + "."
}

// ProfilingSentence writes a row of profiling.csv as text: "Profiling took 3.2 s. With its estimates, …; in makespan
// alone, profiling cost 3.8 s more than it saved."
func ProfilingSentence(r record.ProfilingRow) string {
	change := func(gain float64) string {
		if gain >= 0 {
			return table.WithUnit(gain, "s") + " shorter"
		}
		return table.WithUnit(-gain, "s") + " longer"
	}
	s := fmt.Sprintf("Profiling took %s. With its estimates, the makespan under %s was %s and the mean JCT %s than "+
		"under %s, on average over %s; "+
		"in makespan alone, profiling ",
		table.WithUnit(r.Cost, "s"), r.Policy, change(r.Makespan), change(r.JCT), r.Baseline,
		schema.Plural(r.Pairs, "pair"))
	if r.Net >= 0 {
		return s + fmt.Sprintf("saved %s more than it cost.", table.WithUnit(r.Net, "s"))
	}
	return s + fmt.Sprintf("cost %s more than it saved.", table.WithUnit(-r.Net, "s"))
}
