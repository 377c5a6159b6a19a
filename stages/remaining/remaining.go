// Package remaining is the stage about jobs with a target loss. It compares when a job reached its target with
// predictions by models of loss curves at earlier times of the run.
package remaining

import (
	"context"
	"errors"
	"io/fs"
	"math"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

var _ = stages.Register(&stages.Stage{
	Name:   "remaining",
	Reads:  []stages.Artifact{stages.Cells, stages.RunSummary},
	Writes: []stages.Artifact{stages.ExtraTables},
	Files:  []string{Remaining.File},
	Key: func(*stages.Run) ([]stages.KeyLine, error) {
		return []stages.KeyLine{{Label: "remaining", Value: version}}, nil
	},
	Idle:   func(r *stages.Run) bool { return len(Targets.Of(r.Plan)) == 0 },
	Always: true,
	Run: func(_ context.Context, r *stages.Run) error {
		e, err := r.Results()
		if err != nil {
			return err
		}
		return write(e)
	},
})

// version is part of the key: increase it when the table changes.
const version = "5"

// Parts are the fractions of a run after which the rest is predicted.
var Parts = []float64{0.1, 0.2, 0.4, 0.6}

// level is the level of the intervals. seed is the seed of random draws.
const (
	level = 0.9
	seed  = 1
)

// write writes remaining.csv of an experiment.
func write(e *record.Experiment) error {
	var rows []RemainingRow
	if targets := Targets.Of(&e.Plan); len(targets) > 0 {
		for _, c := range e.Cells {
			if !c.Real() { // the losses come from a file and are the same in all cells
				rows = append(rows, ofRecorded(c.Cell, targets)...)
				targets = nil
				continue
			}
			more, err := ofCell(e, c.CellRef)
			if err != nil {
				return err
			}
			rows = append(rows, more...)
		}
	}
	return Remaining.Replace(e.Dir, rows)
}

// ofRecorded returns rows for the recorded losses of simulated jobs, once for each target.
func ofRecorded(cell string, targets []Target) (rows []RemainingRow) {
	for _, t := range targets {
		lines := make([]record.ProgressRow, len(t.Losses))
		for i, loss := range t.Losses {
			lines[i] = record.ProgressRow{Epoch: i + 1, Step: i + 1, Loss: loss, Seconds: math.NaN()}
		}
		rows = append(rows, ofJob(trained(lines, t), RemainingRow{Cell: cell, Job: t.Class}, t)...)
	}
	return rows
}

// ofCell returns the rows of a cell's finished jobs with a target.
func ofCell(e *record.Experiment, c record.CellRef) ([]RemainingRow, error) {
	jobs, err := e.Jobs(c)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	progress, err := record.ReadLive(e, c, record.Progress)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines := map[string][]record.ProgressRow{}
	for _, p := range progress {
		lines[p.Job] = append(lines[p.Job], p)
	}
	var rows []RemainingRow
	for _, j := range jobs {
		for _, t := range Targets.Of(&e.Plan) {
			if t.Class == j.Class && j.State == "finished" {
				rows = append(rows, ofJob(trained(lines[j.Job], t), RemainingRow{Cell: c.Cell, Job: j.Job}, t)...)
			}
		}
	}
	return rows, nil
}

// curve has the reports of a job: the loss and the seconds of each unit.
type curve struct {
	points  []losscurve.Point
	seconds []float64
}

// trained returns the curve of a job up to its target. A restarted job reports units again; the last report of a unit
// counts.
func trained(lines []record.ProgressRow, t Target) curve {
	var c curve
	for _, p := range lines {
		unit := p.Epoch
		if t.Steps {
			unit = p.Step
		}
		if unit == 0 || math.IsNaN(p.Loss) {
			continue
		}
		for n := len(c.points); n > 0 && c.points[n-1].Step >= float64(unit); n-- {
			c.points, c.seconds = c.points[:n-1], c.seconds[:n-1]
		}
		c.points = append(c.points, losscurve.Point{Step: float64(unit), Loss: p.Loss, Rate: p.Rate})
		c.seconds = append(c.seconds, p.Seconds)
		if p.Loss <= t.Loss {
			break
		}
	}
	return c
}

// ofJob predicts the rest of a run after each of Parts. A run that is too short has no rows.
func ofJob(c curve, row RemainingRow, t Target) []RemainingRow {
	n := len(c.points)
	if n <= losscurve.Least {
		return nil
	}
	last := c.points[n-1]
	row.Class, row.Target, row.Loss, row.Reached, row.Level = t.Class, t.Loss, last.Loss, last.Loss <= t.Loss, level
	var rows []RemainingRow
	for _, part := range Parts {
		cut := max(int(math.Round(part*float64(n))), losscurve.Least)
		if cut >= n {
			continue
		}
		for _, m := range losscurve.Models() {
			row := row
			row.Model, row.Part, row.Done = m.Name, part, int(c.points[cut-1].Step)
			predict(&row, m, c, cut, float64(t.Units)-c.points[cut-1].Step)
			rows = append(rows, row)
		}
	}
	return rows
}

// predict sets the prediction of a model from the first cut points, and the actual values.
func predict(row *RemainingRow, m losscurve.Model, c curve, cut int, most float64) {
	row.Predicted, row.Low, row.High, row.Never = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	row.Actual, row.ErrorPct, row.PredictedSeconds, row.ActualSeconds = math.NaN(), math.NaN(), -1, -1
	if row.Reached {
		row.Actual = c.points[len(c.points)-1].Step - c.points[cut-1].Step
		row.ActualSeconds = sum(c.seconds[cut:])
	}
	f, ok := m.Forecast(c.points[:cut], losscurve.Ask{Target: row.Target, Level: level, Most: most, Seed: seed})
	if !ok {
		return
	}
	row.Predicted, row.Low, row.High, row.Never = f.Steps, f.Low, f.High, f.Never
	perUnit := losscurve.StepTime(c.seconds[:cut]) / (c.points[cut-1].Step / float64(cut))
	row.PredictedSeconds = f.Steps * perUnit
	if row.Reached {
		row.ErrorPct = 100 * (f.Steps - row.Actual) / row.Actual
		row.Covered = f.Low <= row.Actual && row.Actual <= f.High
	}
}

func sum(seconds []float64) float64 {
	s := 0.0
	for _, v := range seconds {
		s += v
	}
	return s
}
