package axes

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/lines"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

// parallel is an experiment over model, inter and intra. The run time of each model depends on its threads, with a
// little noise.
func parallel(seconds func(model string, inter, intra int) float64) *record.Experiment {
	e := &record.Experiment{Plan: record.Plan{
		Axes:      []string{"model", "inter", "intra"},
		Workloads: make([]record.Named, 1), Hardware: make([]record.Named, 1), Policies: make([]record.Named, 1),
		Plots: []record.Plot{
			{Kind: Heatmap, Metric: "mean_service_s", X: "intra", Y: "inter"},
			{Kind: Speedup, X: "intra"},
		},
	}}
	for _, model := range []string{"cnn", "lenet", "googlenet"} {
		for _, inter := range []int{1, 2} {
			for _, intra := range []int{4, 1, 2, 8} { // not in order
				for r := 1; r <= 3; r++ {
					c := record.Cell{CellRef: record.CellRef{
						Cell: fmt.Sprintf("%s-%d-%d-%d", model, inter, intra, r), Policy: "fcfs", Replicate: r,
						Axes: []record.Setting{{Name: "model", Value: model}, {Name: "inter", Value: strconv.Itoa(inter)},
							{Name: "intra", Value: strconv.Itoa(intra)}},
					}}
					c.Metrics.Set(measure.MeanService, seconds(model, inter, intra)*(1+0.02*float64(r-2)))
					e.Cells, e.Plan.Cells = append(e.Cells, c), append(e.Plan.Cells, c.CellRef)
				}
			}
		}
	}
	return e
}

func amdahl(model string, inter, intra int) float64 {
	serial := map[string]float64{"cnn": 0.1, "lenet": 0.5, "googlenet": 0.3}[model]
	return 20 * (serial + (1-serial)/float64(intra)) / math.Sqrt(float64(inter))
}

// TestHeatmap checks that panels are by model, rows by inter and columns by intra, sorted.
func TestHeatmap(t *testing.T) {
	d := plot.NewData(parallel(amdahl))
	s := d.Settings()[0]
	x, _ := tiles(d, s, "intra", true, "inter")
	y, _ := tiles(d, s, "inter", true, "intra")
	m, _ := measure.MetricByName("mean_service")
	all := heats(s, x, y, m)
	if len(all) != 3 || all[0].title != "model cnn" || strings.Join(x.Labels, " ") != "1 2 4 8" {
		t.Fatalf("panels %v over %v", all, x.Labels)
	}
	for j, inter := range []int{1, 2} {
		for i, intra := range []int{1, 2, 4, 8} {
			if got, want := all[0].means[j][i], amdahl("cnn", inter, intra); math.Abs(got-want) > 1e-9 {
				t.Errorf("inter %d, intra %d: %g, want %g", inter, intra, got, want)
			}
		}
	}
	// By default only axes with numbers are drawn; axes with texts must be named.
	if figures, err := heatmaps(d, "", "model", "intra"); err != nil || len(figures) != 1 || figures[0].Skipped != "" {
		t.Errorf("by model: %v, %v", figures, err)
	}
	if figures, err := heatmaps(d, "", "", ""); err != nil || len(figures) != 1 ||
		figures[0].Name != "heatmap-mean_jct_s-inter-intra" {
		t.Errorf("by default: %v, %v", figures, err)
	}
	if figures, err := heatmaps(d, "", "model", "none"); err != nil || len(figures) != 1 || figures[0].Skipped == "" {
		t.Errorf("without such an axis: %v, %v", figures, err)
	}
}

// TestSpeedup checks that points that follow Amdahl's law give a curve by Amdahl's law.
func TestSpeedup(t *testing.T) {
	d := plot.NewData(parallel(amdahl))
	s := d.Settings()[0]
	x, _ := lines.AbscissaOf(d, s, "intra")
	m, _ := measure.MetricByName("mean_service")
	panels := climbsOf(d, s, x, m)
	if len(panels) != 3 || panels[1].title != "model lenet" || len(panels[1].lines) != 2 ||
		panels[1].lines[1].label != "inter 2" {
		t.Fatalf("panels %+v", panels)
	}
	for i, model := range []string{"cnn", "lenet", "googlenet"} {
		for _, l := range panels[i].lines {
			for k, n := range []int{1, 2, 4, 8} {
				want := amdahl(model, 1, 1) / amdahl(model, 1, n)
				if got := l.speedup[k]; math.Abs(got.Mean-want) > 1e-9 || got.N != 3 {
					t.Errorf("%s, %s on %d: %+v, want %g", model, l.label, n, got, want)
				}
				if got := l.curve(float64(n)); math.Abs(got-want) > 0.05*want {
					t.Errorf("%s, %s: the curve is at %g on %d, want %g (%s)", model, l.label, got, n, want, l.law)
				}
			}
			if !strings.HasPrefix(l.law, "σ 0.") {
				t.Errorf("law %q", l.law)
			}
		}
	}
	if figures, err := speedups(d, "", "model"); err != nil || len(figures) != 1 || figures[0].Skipped == "" {
		t.Errorf("by an axis of text: %v, %v", figures, err)
	}
}

// TestParallelPictures draws both kinds of pictures.
func TestParallelPictures(t *testing.T) {
	dir := t.TempDir()
	if keep := os.Getenv("TFEXP_KEEP_PLOTS"); keep != "" {
		dir = keep
	}
	pictures, err := plot.Draw(context.Background(), parallel(amdahl), dir, plot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plottest.Check(t, pictures)
	if got := plottest.Names(pictures); got != "heatmap-mean_service_s-intra-inter speedup-intra" {
		t.Errorf("pictures: %s", got)
	}
}

// TestSeries checks that metrics are drawn over an axis of durations by default.
func TestSeries(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Quanta = []time.Duration{time.Second, 300 * time.Millisecond, 100 * time.Millisecond}
	e, err := record.Open(cfg.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := plot.Draw(t.Context(), e, t.TempDir(), plot.Options{Formats: []string{canvas.SVG}})
	if err != nil {
		t.Fatal(err)
	}
	plottest.Check(t, pictures)
	if got := plottest.Names(pictures); !strings.Contains(got, " metrics series-quantum cores") {
		t.Errorf("pictures: %s", got)
	}
}
