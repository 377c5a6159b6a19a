package analysis

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
	"github.com/tfexp/tfexp/results/tuning"
)

// targeted reports whether the jobs of a class are done at a target loss: estimates
// are of all their epochs, so such runs do not show how good they were.
func targeted(p record.Plan, class string) bool {
	return slices.ContainsFunc(p.Targets, func(t record.Target) bool { return t.Class == class })
}

// WriteTables writes jobs.csv, metrics.csv, timings.csv, comparisons.csv and, where real
// cells were simulated as well, fidelity.csv and fidelity_jobs.csv of the
// experiment in dir over its complete cells, in the order of the plan, and
// puts the actual run times into estimates.csv, with accuracy.csv and
// profiling.csv beside it.
func WriteTables(dir string) error {
	e, err := record.Open(dir)
	if err != nil {
		return err
	}
	estimates, err := record.Estimates.Read(e.Dir)
	if err != nil {
		return err
	}
	actual := make([]outcomes, len(estimates))
	var each func(record.CellRef, *record.JobRow)
	if len(estimates) > 0 {
		simulated := predicted{e: e}
		each = func(c record.CellRef, r *record.JobRow) {
			longer := 1.0
			for i, est := range estimates { // the one in use stands before those that are compared with it
				if targeted(e.Plan, r.Class) || !shows(r, est) || !within(est.Axes, c.Axes) {
					continue
				}
				if c.Real() && est.Role == record.EstimateUsed {
					longer = simulated.longer(c, r.Job, est)
					if e, ok := simulated.inForce(est); ok {
						actual[i].latest.add(e, r.Service, longer)
					}
				}
				actual[i].add(est, r.Service, c.Real(), longer)
			}
		}
	}
	if err := errors.Join(e.WriteJobs(each), e.WriteCells(), e.WriteServers()); err != nil {
		return fmt.Errorf("write tables: %w", err)
	}
	comparisons, err := Comparisons(e)
	if err != nil {
		return err
	}
	if _, err := record.Comparisons.Write(dir, comparisons); err != nil {
		return err
	}
	if err := writeTrials(e); err != nil {
		return err
	}
	if err := writeFidelity(e); err != nil {
		return err
	}
	if len(estimates) > 0 {
		if err := writeAccuracy(e, estimates, actual); err != nil {
			return err
		}
	}
	return tell.SyncDir(dir)
}

// writeTrials writes trials.csv and tunings.csv.
func writeTrials(e *record.Experiment) error {
	trials, tunings := tuning.Rows(e)
	tuning.Rank(e, tunings)
	return errors.Join(record.Trials.Replace(e.Dir, trials), record.Tunings.Replace(e.Dir, tunings))
}
