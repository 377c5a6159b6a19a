// Package tracking writes the results of an experiment as the runs that trackers of experiments read, one file a
// layout: a run a cell, with its axes, metrics, curves and pictures.
package tracking

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// Format is a layout that a tracker reads.
type Format struct {
	Name  string // the name that users write: "tensorboard"
	Rank  int    // its place in lists
	Title string
	// Folder is the default folder.
	Folder string
	// Doc describes its runs there, and Open how to see them; Open has one %s for the folder.
	Doc, Open string
	// Write writes an experiment below a folder, and creates the folder if needed. It replaces an earlier export
	// of the experiment there, and touches nothing else. It returns the number of runs.
	Write func(e *record.Experiment, dir string) (runs int, err error)
}

var formats = schema.NewRegistry("tracking: format", func(f Format) string { return f.Name },
	func(f Format) int { return f.Rank })

// All lists the formats.
func All() []Format { return formats.All() }

// Curve is a value that changes while a cell runs.
type Curve struct {
	Name   string // "loss/long-1": the quantity, and its job
	Points []Point
}

// Point is a value of a curve.
type Point struct {
	At    float64 // in seconds from the start of the cell
	Step  int64   // epochs, steps of training, or milliseconds
	Value float64
}

// params are the settings of a cell: its place in the matrix, without the values that differ between
// replicates.
func params(c record.CellRef) []record.Setting {
	return append([]record.Setting{{Name: "workload", Value: c.Workload}, {Name: "hardware", Value: c.Hardware},
		{Name: "policy", Value: c.Policy}, {Name: "engine", Value: c.Engine}}, c.Axes...)
}

// value is the value of a metric of a cell.
type value struct {
	name  string
	value float64
}

// values are the metrics that are known of a cell.
func values(c *record.Cell) (out []value) {
	for _, m := range measure.AllMetrics() {
		if v := m.Of(&c.Metrics); !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, value{m.Name, v})
		}
	}
	return out
}

// runs are the cells of the matrix and the trials of searches.
func runs(e *record.Experiment) []record.Cell { return slices.Concat(e.Cells, e.Trials) }

// started is when a run began, in seconds since 1970; 0 where that is not known.
func started(e *record.Experiment) float64 {
	t, err := time.Parse(time.RFC3339, e.Run.Started)
	if err != nil {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// mostPoints bounds the points of a curve of a cell's resources: more cannot be seen.
const mostPoints = 1000

// curves returns the curves of a cell: the reports of its programs, and its resources over time.
func curves(e *record.Experiment, c record.CellRef) ([]Curve, error) {
	reported, err := training(e, c)
	if err != nil {
		return nil, err
	}
	held, err := occupancy(e, c)
	return append(reported, held...), err
}

// training returns the losses and accuracies that programs reported, in the order of their first reports. Steps are
// epochs, or steps of training if the program counts no epochs.
func training(e *record.Experiment, c record.CellRef) ([]Curve, error) {
	rows, err := record.ReadLive(e, c, record.Progress)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read progress of cell %s: %w", c.Cell, err)
	}
	epochs := map[string]bool{}
	for _, r := range rows {
		epochs[r.Job] = epochs[r.Job] || r.Epoch > 0
	}
	var out []Curve
	add := func(name string, p Point) {
		if math.IsNaN(p.Value) {
			return
		}
		i := slices.IndexFunc(out, func(c Curve) bool { return c.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, Curve{Name: name})
		}
		out[i].Points = append(out[i].Points, p)
	}
	for _, r := range rows {
		step := r.Step
		if epochs[r.Job] {
			step = r.Epoch
		}
		add("loss/"+r.Job, Point{r.At, int64(step), r.Loss})
		add("accuracy/"+r.Job, Point{r.At, int64(step), r.Accuracy})
	}
	return out, nil
}

// occupancy returns the cores in use and the jobs that wait over time; steps are milliseconds. Of a cell with many
// changes it has each second, fourth, eighth, …
func occupancy(e *record.Experiment, c record.CellRef) ([]Curve, error) {
	cores, waiting := Curve{Name: "over time/cores in use"}, Curve{Name: "over time/jobs waiting"}
	every, n := 1, 0
	err := e.EachOccupancy(c, 1, func(o *measure.Occupancy) bool {
		if n%every == 0 {
			step := int64(math.Round(o.At * 1000))
			cores.Points = append(cores.Points, Point{o.At, step, float64(o.CoresHeld)})
			waiting.Points = append(waiting.Points, Point{o.At, step, float64(o.Queued + o.Paused)})
		}
		if n++; len(cores.Points) == 2*mostPoints {
			every *= 2
			cores.Points, waiting.Points = halve(cores.Points), halve(waiting.Points)
		}
		return true
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && n == 0 {
		return nil, nil
	}
	return []Curve{cores, waiting}, err
}

// halve keeps every second point.
func halve(points []Point) []Point {
	kept := points[:0]
	for i := 0; i < len(points); i += 2 {
		kept = append(kept, points[i])
	}
	return kept
}
