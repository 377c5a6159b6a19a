package report

import (
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// failure is a job that did not finish, or a cell that failed as a whole.
type failure struct {
	Cell, Job, At, Reason string
	// Log has the last lines of the job's log.
	Log string
}

func (v *view) failures(e *record.Experiment) error {
	for _, c := range e.FailedCells() {
		if c.Error != "" {
			v.addFailure(failure{Cell: c.Cell, Reason: c.Error})
		}
		for _, f := range c.Failures {
			if len(v.Failures) == mostFailures {
				v.MoreFailures++
				continue
			}
			log, err := folder.Tail(e.Dir, tailLines, record.CellsDir, c.Cell, record.LogsDir, f.Job+".log")
			if err != nil {
				return err
			}
			v.addFailure(failure{c.Cell, f.Job, table.WithUnit(f.At, "s"), f.Reason, secret.Redact(log)})
		}
		v.MoreFailures += max(0, measure.Failed.CountOf(&c.Metrics)-len(c.Failures))
	}
	return nil
}

func (v *view) addFailure(f failure) {
	if len(v.Failures) == mostFailures {
		v.MoreFailures++
		return
	}
	v.Failures = append(v.Failures, f)
}

// tailLines is the number of lines of a log that the page shows.
const tailLines = 12
