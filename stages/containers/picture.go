// Package containers draws the usage of the containers of jobs.
package containers

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Kind is the name of these pictures in experiment files.
const Kind = "containers"

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 90, Name: Kind,
		Doc:     "the usage of containers over time",
		OfCells: "pictures of what containers used",
	},
	Draw: func(d *plot.Data, a plot.Ask) ([]plot.Figure, error) { return containers(d, a.MaxCells) },
})

// containers draws the usage of each cell's containers over time: CPU, memory and held cores. Experiments without
// containers have no such picture and no note about it.
func containers(d *plot.Data, most int) ([]plot.Figure, error) {
	var out []plot.Figure
	cells := 0
	for _, c := range d.Cells {
		rows, err := record.ReadLive(d.Experiment, c.CellRef, record.Containers)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(rows) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if cells++; cells > most {
			continue
		}
		held, err := d.Occupancy(c.CellRef)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		out = append(out, containersFigure(c, rows, held, fmt.Sprintf("What containers used under %s, replicate %d%s",
			c.Variant(), c.Replicate,
			d.Where(plot.Setting{Workload: c.Workload, Hardware: c.Hardware}))))
	}
	if cells > most {
		for i := range out {
			out[i].Caption += plot.SomeOf(most, cells, "cell")
		}
	}
	return out, nil
}

func containersFigure(c record.Cell, rows []record.ContainerRow, held []measure.Occupancy, title string) plot.Figure {
	all := float64(max(c.Cores, 1))
	cpu := total(rows, func(r record.ContainerRow) float64 { return r.CPU / all })
	memory := total(rows, func(r record.ContainerRow) float64 { return r.MemoryPct })
	var cores []canvas.Level
	for _, o := range held {
		cores = append(cores, canvas.Level{At: o.At, Held: 100 * float64(o.CoresHeld) / all})
	}
	panel := func(label string, rows []canvas.Level, i int) canvas.Usage {
		return canvas.Usage{Label: label, Rows: rows, Cores: 100, Ink: canvas.Hue(i)}
	}
	panels := []canvas.Usage{
		panel("CPU used, of all cores", cpu, 0),
		panel("memory used, of what each container may have, added up", memory, 1),
	}
	if len(cores) > 0 {
		panels = append(panels, panel(fmt.Sprintf("cores held, of %d", c.Cores), canvas.Thin(cores, canvas.MostBins), 2))
	}
	return plot.CoresFigure(plot.Picture{Name: "containers-" + c.Cell, Kind: Kind, Cell: c.Cell, Title: title,
		Caption: "Sampled about once a second, all containers together. Dashed line: all cores, or all of the memory that " +
			"one container may have."}, panels, max(highest(cpu), highest(memory)), func(v float64) string {
		return table.Number(v) + "%"
	})
}

// total adds up the usage of all containers for each second. A container that was sampled several times in a second
// counts with its mean.
func total(rows []record.ContainerRow, value func(record.ContainerRow) float64) []canvas.Level {
	type seen struct {
		sum float64
		n   int
	}
	var out []canvas.Level
	var jobs []string // in the order of their first rows, so that sums are reproducible
	now := map[string]seen{}
	second := -1.0
	flush := func() {
		if second < 0 {
			return
		}
		sum := 0.0
		for _, j := range jobs {
			sum += now[j].sum / float64(now[j].n)
		}
		// A second without a sample had no containers.
		if n := len(out); n > 0 && second-out[n-1].At > 2 {
			out = append(out, canvas.Level{At: out[n-1].At + 1, Held: 0})
		}
		out = append(out, canvas.Level{At: second, Held: sum})
		jobs = jobs[:0]
		clear(now)
	}
	for _, r := range rows {
		if s := math.Floor(r.At); s != second {
			flush()
			second = s
		}
		s, known := now[r.Container()]
		if !known {
			jobs = append(jobs, r.Container())
		}
		now[r.Container()] = seen{s.sum + value(r), s.n + 1}
	}
	flush()
	return canvas.Thin(out, canvas.MostBins)
}

// highest returns the largest value of rows.
func highest(rows []canvas.Level) (most float64) {
	for _, r := range rows {
		most = max(most, r.Held)
	}
	return most
}
