package analysis

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// early are the functions that EndEarly adds.
var early []func(p *record.Plan, class string) bool

// EndEarly adds a function that reports whether the jobs of a class end before all of their epochs. Estimates are
// of all epochs, so such runs do not judge them.
func EndEarly(reports func(p *record.Plan, class string) bool) bool {
	early = append(early, reports)
	return true
}

func endEarly(p *record.Plan, class string) bool {
	return slices.ContainsFunc(early, func(reports func(*record.Plan, string) bool) bool { return reports(p, class) })
}

// WriteTables is WriteTablesOf the experiment in dir.
func WriteTables(dir string) error {
	e, err := record.Open(dir)
	if err != nil {
		return err
	}
	return WriteTablesOf(e)
}

// WriteTablesOf writes jobs.csv, metrics.csv, timings.csv, comparisons.csv and, where real
// cells were simulated as well, fidelity.csv and fidelity_jobs.csv of an experiment
// over its complete cells, in the order of the plan, and puts the actual run times
// into estimates.csv, and writes accuracy.csv and profiling.csv.
func WriteTablesOf(e *record.Experiment) error {
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
			for i, est := range estimates { // the one in use comes before the ones compared with it
				if endEarly(&e.Plan, r.Class) || !shows(r, est) || !within(est.Axes, c.Axes) {
					continue
				}
				if c.Real() && est.Role == record.EstimateUsed {
					longer = simulated.longer(c, r.Job, est)
					if e, ok := simulated.inForce(est); ok {
						actual[i].latest.add(e, r.Service, longer)
					}
				}
				actual[i].add(est, r.Service, c, longer)
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
	if _, err := record.Comparisons.Write(e.Dir, comparisons); err != nil {
		return err
	}
	for _, t := range more {
		if err := t.write(e); err != nil {
			return err
		}
	}
	if err := writeFidelity(e); err != nil {
		return err
	}
	if len(estimates) > 0 {
		if err := writeAccuracy(e, estimates, actual); err != nil {
			return err
		}
	}
	return folder.SyncDir(e.Dir)
}

// more are the tables that features add, computed over the complete cells.
var more []tables

type tables struct {
	files []string
	write func(*record.Experiment) error
}

// AddTables adds tables that are written along with the tables of every experiment, by the names of their
// files.
func AddTables(files []string, write func(*record.Experiment) error) []string {
	more = append(more, tables{files, write})
	return files
}

// AddedTables are the files of these tables.
func AddedTables() (files []string) {
	for _, t := range more {
		files = append(files, t.files...)
	}
	return files
}
