// Package power gives jobs a property: the power that they draw, and the part of it to which they are capped. This folder
// and a line in stages/all are all that it takes.
package power

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/plot"
)

// power is the block. A capped job takes longer, is told its cap, and comes behind the others.
var power = stages.RegisterProperty(stages.Property{
	Block: &schema.Block{
		Name: "power", Single: true, Doc: "The power that the job draws.", Example: "power { watts = 250 }",
		Args: []schema.Arg{
			{Name: "watts", Type: schema.Number, Required: true, Min: schema.Limit(1), Doc: "While it runs.", Example: "250"},
			{Name: "cap", Type: schema.Number, Default: "1", Min: schema.Limit(0.1), Max: schema.Limit(1),
				Doc: "The part of the power that it may draw; it is slower by as much.", Example: "0.5"},
		},
	},
	Request: func(v schema.Settings, j *scheduler.Job) {
		if schema.Get[float64](v, "cap") < 1 {
			j.Priority++
		}
	},
	Work: func(v schema.Settings, w *simulated.Scaling) {
		w.Scaled = time.Duration(float64(w.Scaled) / schema.Get[float64](v, "cap"))
	},
	Launch: func(v schema.Settings, l *launch.Job) {
		l.Env = append(l.Env, fmt.Sprintf("POWER_CAP=%g", schema.Get[float64](v, "cap")))
	},
})

// drawn is what the jobs of a class draw at some values of the axes.
type drawn struct {
	Class string           `json:"class"`
	At    []schema.Setting `json:"at,omitempty"`
	Watts float64          `json:"watts"`
}

// asked is what plan.json has of it.
var asked = stages.Ask("power", 60, func(x stages.Asking) (all []drawn) {
	for _, c := range x.Cells {
		for _, s := range c.Workload.Submits {
			if v, ok := power.Of(s.Job); ok {
				watts := schema.Get[float64](v, "watts") * schema.Get[float64](v, "cap")
				all = append(all, drawn{s.Job.Name, c.Axes, watts})
			}
		}
	}
	return all
})

// Row is a row of energy.csv: what the jobs of a class in a cell used.
type Row struct {
	Cell  string  `csv:"cell"`
	Class string  `csv:"class"`
	Watts float64 `csv:"watts"`
	Used  float64 `csv:"energy_kwh"`
}

// Energy is there only where jobs draw power.
var Energy = tell.Register[Row]("energy.csv", nil)

func init() {
	stages.Register(&stages.Stage{
		Name: "energy", Reads: []stages.Artifact{stages.Tables}, Writes: []stages.Artifact{stages.Findings, stages.Sections},
		Files: []string{Energy.File}, Always: true,
		Idle: func(r *stages.Run) bool { return len(asked.Of(r.Plan)) == 0 },
		Key:  func(*stages.Run) ([]stages.Line, error) { return []stages.Line{{Label: "energy", Value: "1"}}, nil },
		Run: func(_ context.Context, r *stages.Run) error {
			e, err := record.Open(r.Dir)
			if err != nil {
				return err
			}
			rows, err := used(e)
			if err != nil {
				return err
			}
			return Energy.Replace(r.Dir, rows)
		},
	})
	plot.Register(plot.Kind{
		PictureKind: tell.PictureKind{Rank: 900, Name: "energy", Doc: "what jobs use", Section: "energy"},
		Draw:        func(d *plot.Data, _ plot.Ask) ([]plot.Figure, error) { return picture(d.Dir) },
	})
}

func used(e *record.Experiment) (rows []Row, err error) {
	for _, c := range e.Cells {
		for _, p := range asked.Of(&e.Plan) {
			if !slices.Equal(p.At, c.Axes) {
				continue
			}
			row := Row{Cell: c.Cell, Class: p.Class, Watts: p.Watts}
			if err := e.EachJob(c.CellRef, []string{"class", "service_s"}, 1, func(j *record.JobRow) bool {
				if j.Class == p.Class {
					row.Used += j.Service * p.Watts / 3.6e6
				}
				return true
			}); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

var _ = analysis.Register(analysis.Part{
	Name: "energy", Title: "Energy", InReport: analysis.Verdicts + 300, OnTerminal: analysis.Verdicts + 300,
	Tell: func(e *record.Experiment) (s tell.Section, err error) {
		rows, err := Energy.Read(e.Dir)
		if err != nil || len(rows) == 0 {
			return s, err
		}
		sum, t := 0.0, tell.NewTable(2, "cell", "class", "energy (kWh)")
		for _, r := range rows {
			t.Add(r.Cell, r.Class, tell.Number(r.Used))
			sum += r.Used
		}
		said := tell.Item{Sentences: []string{fmt.Sprintf("All jobs used %s kWh.", tell.Number(sum))}}
		s.Members = map[string]any{"energy_kwh": sum}
		s.Terminal, s.Report = []tell.Item{said}, []tell.Item{said, {Table: t}, {Pictures: true}}
		return s, nil
	},
})

func picture(dir string) ([]plot.Figure, error) {
	rows, err := Energy.Read(dir)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return []plot.Figure{{
		Picture: plot.Picture{Name: "energy", Kind: "energy", Title: "Energy", Caption: "Bars, one a class and cell."},
		Width:   200, Height: 100,
		Paint: func(c draw.Canvas) {
			for i, r := range rows {
				left := vg.Length(10 * i)
				c.FillPolygon(nil, []vg.Point{{X: left}, {X: left + 8}, {X: left + 8, Y: vg.Length(r.Used)}, {X: left, Y: vg.Length(r.Used)}})
			}
		},
	}}, nil
}
