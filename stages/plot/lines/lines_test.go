package lines

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// TestSeriesByQuantum: metrics are drawn along an axis of durations. FCFS does not read the axis, so its line is
// horizontal.
func TestSeriesByQuantum(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Quanta = []time.Duration{time.Second, 300 * time.Millisecond, 100 * time.Millisecond}
	dir := cfg.Write(t)
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := plot.NewData(e)
	s := d.Settings()[0]
	x, ok := AbscissaOf(d, s, "")
	if got := strings.Join(x.Labels, " "); !ok || got != "100ms 300ms 1s" || x.Values[2] != 1 {
		t.Fatalf("the axis is %q, %v", got, x.Values)
	}
	m, _ := measure.MetricByName("mean_jct")
	all := facets(s, x, m, "")
	if len(all) != 1 || len(all[0].lines) != 2 {
		t.Fatalf("panels and lines: %v", all)
	}
	for _, l := range all[0].lines {
		level := l.intervals[0] == l.intervals[1] && l.intervals[1] == l.intervals[2]
		if level != (l.policy == "fcfs") {
			t.Errorf("%s: %v", l.policy, l.intervals)
		}
	}
}

// TestFacets: each combination of other axes has a panel, and each value of the first one has a row.
func TestFacets(t *testing.T) {
	e := &record.Experiment{Plan: record.Plan{
		Axes: []string{"allocation", "jobs", "kind"}, Workloads: make([]record.Named, 1), Hardware: make([]record.Named, 1),
	}}
	jct := 1.0
	for _, policy := range []string{"fcfs", "rr"} {
		for _, allocation := range []string{"strict", "max_prop"} {
			for _, jobs := range []string{"128", "8", "16"} {
				for _, kind := range []string{"a", "b"} {
					for r := 1; r <= 3; r++ {
						c := record.Cell{CellRef: record.CellRef{Policy: policy, Replicate: r, Axes: []record.Setting{
							{Name: "allocation", Value: allocation}, {Name: "jobs", Value: jobs}, {Name: "kind", Value: kind}}}}
						jct++
						c.Metrics.Set(measure.MeanJCT, jct)
						e.Cells, e.Plan.Cells = append(e.Cells, c), append(e.Plan.Cells, c.CellRef)
					}
				}
			}
		}
	}
	figures, err := Draw(plot.NewData(e), "series", "mean_jct_s", "", "", Unbounded)
	if err != nil || len(figures) != 1 || figures[0].Name != "series-jobs-mean_jct_s" ||
		figures[0].Title != "Mean JCT (s) by jobs" {
		t.Fatalf("%v, %v", figures, err)
	}
	d := plot.NewData(e)
	x, _ := AbscissaOf(d, d.Settings()[0], "")
	m, _ := measure.MetricByName("mean_jct")
	all := facets(d.Settings()[0], x, m, "")
	var titles []string
	for _, f := range all {
		titles = append(titles, f.title)
	}
	if got := strings.Join(titles, "; "); got != "allocation strict, kind a; allocation strict, kind b; allocation "+
		"max_prop, kind a; allocation max_prop, kind b" {
		t.Errorf("panels: %s", got)
	}
	if n := columnsOf(all); n != 2 {
		t.Errorf("%d columns", n)
	}
	// 8 comes second in the file and first on the axis: jct 7, 8, 9 under kind a.
	if iv := all[0].lines[0].intervals[0]; iv.Mean != 9 {
		t.Errorf("the first point is at %v", iv)
	}
}

// TestNoSeries: without an axis of numbers there is no picture, and no note
// unless it was requested.
func TestNoSeries(t *testing.T) {
	e, err := record.Open(resultstest.Small().Write(t))
	if err != nil {
		t.Fatal(err)
	}
	d := plot.NewData(e)
	if figures, err := Draw(d, "series", "", "", "", Unbounded); err != nil || len(figures) != 0 {
		t.Errorf("%v, %v", figures, err)
	}
	if figures, err := Draw(d, "series", "", "quantum", "", Unbounded); err != nil || len(figures) != 1 || figures[0].Skipped == "" {
		t.Errorf("%v, %v", figures, err)
	}
}

// TestByClass: each class of jobs has its own panel, with the values of its jobs.
func TestByClass(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Quanta = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond}
	e, err := record.Open(cfg.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	d := plot.NewData(e)
	s := d.Settings()[0]
	x, _ := AbscissaOf(d, s, "")
	all := facets(s, x, measure.MeanJCT, "class")
	if len(all) != 2 || all[0].title != "short" || all[1].title != "long" {
		t.Fatalf("panels are %+v", all)
	}
	of := func(name string) float64 {
		var sum float64
		for _, c := range s.Variants[0].Cells {
			for _, g := range c.Groups {
				if g.By == "class" && g.Name == name {
					sum += measure.MeanJCT.Of(&g.Metrics)
				}
			}
		}
		return sum / float64(len(s.Variants[0].Cells))
	}
	for _, f := range all {
		if got, want := f.lines[0].intervals[0].Mean, of(f.title); math.Abs(got-want) > 1e-9 || want == 0 {
			t.Errorf("%s: %v, want %v", f.title, got, want)
		}
	}
	figures, err := Draw(d, "series", "", "", "class", Unbounded)
	if err != nil || len(figures) != 1 || figures[0].Name != "series-quantum-class-mean_jct_s" || figures[0].Paint == nil {
		t.Fatalf("%+v, %v", figures, err)
	}
	f := figures[0]
	raw, err := canvas.Painting{Paint: f.Paint, Width: f.Width, Height: f.Height,
		Layout: canvas.Layout{Width: 238, FontSize: 8, Style: canvas.Paper}}.Laid().SVG("", "")
	if err != nil || !bytes.Contains(raw, []byte(">mean JCT (s)<")) {
		t.Errorf("no axis is named mean JCT (s), %v", err)
	}
}
