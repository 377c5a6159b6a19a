package servers

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/plottest"
	"github.com/tfexp/tfexp/stages/servers/market"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestFront: an option is on the front when no other is at least as good in both and better in one.
func TestFront(t *testing.T) {
	all := []option{}
	for _, p := range [][2]float64{{1, 9}, {2, 5}, {3, 5}, {4, 1}, {5, 2}, {2, 5}} {
		all = append(all, option{time: stats.Interval{Mean: p[0]}, cost: stats.Interval{Mean: p[1]}})
	}
	front(all)
	want := []bool{true, true, false, true, false, true}
	for i, w := range want {
		if all[i].front != w {
			t.Errorf("option %d at %g and %g: on the front %v, want %v", i, all[i].time.Mean, all[i].cost.Mean,
				all[i].front, w)
		}
	}
}

// TestColumnOf: servers are sorted by the part of the run in which they existed. Servers that never existed do not
// count. A server that was revoked after the run does not count as revoked.
func TestColumnOf(t *testing.T) {
	c := columnOf([]record.ServerRow{
		{Up: 0, Down: 100}, {Up: 0, Down: 50, Revoked: 1}, {Up: -1, Down: -1}, {Up: 20, Down: 30, Revoked: 1}, {Up: 0,
			Down: 150, Revoked: 1},
	}, 100)
	if c.revoked != 2 || len(c.lives) != 4 || c.lives[0].part != 0.1 || c.lives[1].part != 0.5 || c.lives[2].revoked {
		t.Errorf("%+v", c)
	}
}

// TestPictures draws every kind from an experiment's files.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	e := &record.Experiment{Dir: dir, Plan: record.Plan{
		Axes: []string{"interval"}, Workloads: make([]record.Named, 1), Hardware: make([]record.Named,
			1), Policies: make([]record.Named, 1),
		Plots: []record.Plot{{Kind: CostTime}, {Kind: Lifetimes}, {Kind: Revocations},
			{Kind: Intervals}},
	}}
	asks(e, "K80")
	var servers []record.ServerRow
	for i, interval := range []string{"60", "240", "900"} {
		c := record.Cell{CellRef: record.CellRef{Cell: "c" + interval, Hardware: "h", Replicate: 1,
			Axes: []record.Setting{{Name: "interval", Value: interval}}}}
		c.Metrics.Set(measure.Makespan, 40000+1000*float64(i))
		c.Metrics.Set(measure.MeanJCT, 40000+1000*float64(i))
		c.Metrics.Set(measure.Cost, 10-float64(i))
		e.Cells, e.Plan.Cells = append(e.Cells, c), append(e.Plan.Cells, c.CellRef)
		for k := range i + 1 {
			servers = append(servers, record.ServerRow{Cell: c.Cell, Device: "K80", Market: market.Spot, Up: 0,
				Down: 4000 * float64(k+1), Revoked: k})
		}
	}
	if err := record.Servers.Replace(dir, servers); err != nil {
		t.Fatal(err)
	}
	pictures, err := plot.Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir), plot.Options{Formats: []string{"svg"}})
	if err != nil {
		t.Fatal(err)
	}
	plottest.Check(t, pictures)
	if got := plottest.Names(pictures); got != "cost_time lifetimes revocations intervals" {
		t.Errorf("pictures: %s", got)
	}
	plottest.Golden(t, pictures, *update)
}

// TestNothingToDraw: an experiment without servers has none of these pictures, without a note.
func TestNothingToDraw(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir(), Plan: record.Plan{
		Plots: []record.Plot{{Kind: CostTime}, {Kind: Lifetimes}, {Kind: Revocations},
			{Kind: Intervals}},
	}}
	pictures, err := plot.Draw(context.Background(), e, filepath.Join(e.Dir, record.PlotsDir), plot.Options{})
	if err != nil || len(pictures) != 0 {
		t.Errorf("%+v, %v", pictures, err)
	}
}

// TestCrowded draws options that lie close together on two sorts of hardware, and cells, some without a lost server.
func TestCrowded(t *testing.T) {
	dir := t.TempDir()
	e := &record.Experiment{Dir: dir, Plan: record.Plan{
		Axes: []string{"interval"}, Workloads: make([]record.Named, 1), Hardware: make([]record.Named, 2), Policies: make([]record.Named, 2),
		Plots: []record.Plot{{Kind: CostTime}, {Kind: Lifetimes}, {Kind: Revocations}, {Kind: Intervals}},
	}}
	asks(e, "K80", "V100")
	var servers []record.ServerRow
	for i := range 14 {
		c := record.Cell{CellRef: record.CellRef{Cell: fmt.Sprint("crowded", i), Hardware: []string{"east", "west"}[i%2], Policy: []string{"a", "b"}[i/2%2],
			Replicate: 1, Axes: []record.Setting{{Name: "interval", Value: fmt.Sprint(60*(i+1), "s")}}}}
		c.Metrics.Set(measure.Makespan, 40000+float64(300*(i%5)))
		c.Metrics.Set(measure.MeanJCT, 39000+float64(200*(i%7)))
		c.Metrics.Set(measure.Cost, 10+0.2*float64(i%4))
		e.Cells, e.Plan.Cells = append(e.Cells, c), append(e.Plan.Cells, c.CellRef)
		for k := range i % 4 {
			servers = append(servers, record.ServerRow{Cell: c.Cell, Device: []string{"K80", "V100"}[k%2], Market: market.Spot,
				Up: float64(500 * (k - 1)), Down: float64(9000*k) - 1, Revoked: (i + k) % 2})
		}
	}
	if err := record.Servers.Replace(dir, servers); err != nil {
		t.Fatal(err)
	}
	pictures, err := plot.Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir), plot.Options{Formats: []string{"svg"}})
	if err != nil {
		t.Fatal(err)
	}
	plottest.Check(t, pictures)
	for _, p := range pictures {
		if p.Skipped != "" {
			continue
		}
		raw, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		plottest.Same(t, "crowded-"+p.Name+".svg", raw, *update)
	}
}

// asks has an experiment ask for curves of lives, and for a job that saves its work.
func asks(e *record.Experiment, devices ...string) {
	var curves []market.Curve
	for i, d := range devices {
		curves = append(curves, market.CurveOf(d, market.Exponential{Mean: 3600e9 * time.Duration(i+1)}, 0))
	}
	LifetimesMember.Set(&e.Plan, curves)
	CheckpointsMember.Set(&e.Plan, []CheckpointSettings{{Job: "train", Between: 3600, Cost: 10, Restart: 60, Work: 36000}})
}
