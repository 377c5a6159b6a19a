package plot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// TestGanttOfTooMany: cells with very many jobs, or jobs in very many pieces, get no
// Gantt chart, but their other pictures.
func TestGanttOfTooMany(t *testing.T) {
	for name, much := range map[string]func(*record.Cell){
		"jobs":        func(c *record.Cell) { c.Metrics.Set(measure.Jobs, 5_001) },
		"preemptions": func(c *record.Cell) { c.Metrics.Set(measure.Preemptions, 200_000) },
		"resizes":     func(c *record.Cell) { c.Metrics.Set(measure.Resizes, 200_000) },
	} {
		t.Run(name, func(t *testing.T) { testGanttOfTooMany(t, much) })
	}
}

func testGanttOfTooMany(t *testing.T, much func(*record.Cell)) {
	dir := resultstest.Small().Write(t)
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.Cells {
		much(&e.Cells[i])
	}
	pictures, err := Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir), svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if (p.Kind == Gantt) != strings.Contains(p.Skipped, "cannot be told apart") {
			t.Errorf("%s: skipped: %q", p.Name, p.Skipped)
		}
		if p.Kind != Gantt {
			if _, err := os.Stat(p.SVG); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestMetricsByClass: each class of jobs has its own panel, over an axis that names the metric.
func TestMetricsByClass(t *testing.T) {
	e, err := record.Open(resultstest.Small().Write(t))
	if err != nil {
		t.Fatal(err)
	}
	d := NewData(e)
	figures, err := d.metrics("mean_waiting", "class")
	if err != nil || len(figures) != 1 || figures[0].Name != "metrics-mean_waiting_s-class" || figures[0].Paint == nil {
		t.Fatalf("%+v, %v", figures, err)
	}
	f := figures[0]
	raw, err := canvas.Painting{Paint: f.Paint, Width: f.Width, Height: f.Height,
		Layout: canvas.Layout{Width: 238, FontSize: 8, Style: canvas.Paper}}.Laid().SVG("", "")
	if err != nil || !bytes.Contains(raw, []byte(">mean waiting time (s)<")) {
		t.Errorf("no axis is named mean waiting time (s), %v", err)
	}
	if figures, err := d.metrics("", "user"); err != nil || len(figures) != 1 ||
		figures[0].Skipped != "all jobs are of one user" {
		t.Errorf("%+v, %v", figures, err)
	}
}
