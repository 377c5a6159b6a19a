package plot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

// svg draws no PNGs, to save time; another test draws them.
var svg = Options{Formats: []string{"svg"}}

func drawAll(t testing.TB, dir string, o Options) []Picture {
	t.Helper()
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, record.PlotsDir)
	if keep := os.Getenv("TFEXP_KEEP_PLOTS"); keep != "" {
		out = filepath.Join(keep, t.Name())
	}
	pictures, err := Draw(context.Background(), e, out, o)
	if err != nil {
		t.Fatal(err)
	}
	return pictures
}

func names(pictures []Picture) string { return plottest.Names(pictures) }

func check(t testing.TB, pictures []Picture) { plottest.Check(t, pictures) }

func TestSmall(t *testing.T) {
	pictures := drawAll(t, resultstest.Small().Write(t), svg)
	check(t, pictures)
	want := "answer gantt-mixed-machine-fcfs-r1 gantt-mixed-machine-fcfs-r2 gantt-mixed-machine-fcfs-r3 " +
		"gantt-mixed-machine-fcfs-r4 " +
		"gantt-mixed-machine-fcfs-r5 gantt-mixed-machine-rr-quantum=300ms-r1 gantt-mixed-machine-rr-quantum=300ms-r2 " +
		"gantt-mixed-machine-rr-quantum=300ms-r3 gantt-mixed-machine-rr-quantum=300ms-r4 " +
		"gantt-mixed-machine-rr-quantum=300ms-r5 " +
		"jct metrics cores predicted"
	if got := names(pictures); got != want {
		t.Errorf("pictures:\n%s\nwant:\n%s", got, want)
	}
}

func TestPNG(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	pictures := drawAll(t, resultstest.Small().Write(t), Options{MaxGantts: 2})
	check(t, pictures)
	for _, p := range pictures {
		if p.PNG == "" {
			t.Errorf("%s has no PNG", p.Name)
		}
	}
}

// TestLayouts: narrow pictures have the requested width, with fewer panels in a row. Pictures for paper have no title.
func TestLayouts(t *testing.T) {
	dir := resultstest.Small().Write(t)
	for _, o := range []Options{
		{Layout: canvas.Layout{Width: 238, FontSize: 8, Style: canvas.Paper}},
		{Layout: canvas.Layout{Style: canvas.Dark}},
	} {
		o.MaxGantts, o.Formats = 2, []string{canvas.SVG, canvas.PDF}
		for _, p := range drawAll(t, dir, o) {
			raw, err := os.ReadFile(p.SVG)
			if err != nil {
				t.Fatal(err)
			}
			pdf, err := os.ReadFile(p.PDF)
			if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) {
				t.Errorf("%s: no PDF, %v", p.Name, err)
			}
			if paper := o.Style == canvas.Paper; paper != bytes.Contains(raw, []byte(` width="238pt"`)) ||
				paper == bytes.Contains(raw, []byte("bold")) || bytes.Contains(raw, []byte("prefers-color-scheme")) {
				t.Errorf("%s for %s: %.200s", p.Name, o.Style, raw)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	cfg := resultstest.Small()
	cfg.FailJob, cfg.Missing = 1, 3
	pictures := drawAll(t, cfg.Write(t), svg)
	check(t, pictures)
	if len(pictures) != 7+5 {
		t.Errorf("%d pictures: %s", len(pictures), names(pictures))
	}
}

func TestManyJobs(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Long, cfg.Short, cfg.Cores, cfg.Replicates = 20, 180, 16, 3
	check(t, drawAll(t, cfg.Write(t), svg))
}

func TestTwoJobs(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Long, cfg.Short, cfg.Cores, cfg.Replicates = 1, 1, 1, 1
	check(t, drawAll(t, cfg.Write(t), svg))
}

func TestManyCells(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Replicates = 3
	for q := range 10 { // with FCFS and the first, 12 variants
		cfg.Quanta = append(cfg.Quanta, time.Duration(q+4)*100*time.Millisecond)
	}
	pictures := drawAll(t, cfg.Write(t), svg)
	check(t, pictures)
	gantts := 0
	for _, p := range pictures {
		if p.Kind != Gantt {
			continue
		}
		gantts++
		if !strings.HasSuffix(p.Cell, "-r1") || !strings.Contains(p.Caption, "Drawn for 12 of 36 cells") {
			t.Errorf("%s: %s", p.Cell, p.Caption)
		}
	}
	if gantts != 12 {
		t.Errorf("%d Gantt charts for 12 variants", gantts)
	}
}

func TestNothingToDraw(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Missing = 10
	for _, p := range drawAll(t, cfg.Write(t), svg) {
		if p.Skipped == "" {
			t.Errorf("%s was drawn from no cells", p.Name)
		}
	}
	cfg = resultstest.Small()
	cfg.Records = record.MetricsOnly
	pictures := drawAll(t, cfg.Write(t), svg)
	check(t, pictures)
	for _, p := range pictures {
		if drawn := p.Skipped == ""; drawn != (p.Kind == Metrics || p.Kind == Answer) {
			t.Errorf("with metrics alone, %s: skipped %q", p.Name, p.Skipped)
		}
	}
}

// TestSameBytes: equal files give equal bytes, and the file of a picture that is no longer drawn is removed.
func TestSameBytes(t *testing.T) {
	dir := resultstest.Small().Write(t)
	first := map[string]string{}
	for _, p := range drawAll(t, dir, svg) {
		raw, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		first[p.SVG] = string(raw)
	}
	for _, p := range drawAll(t, dir, svg) {
		raw, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		if first[p.SVG] != string(raw) {
			t.Errorf("%s differs the second time", p.Name)
		}
	}
	if len(drawAll(t, dir, Options{MaxGantts: 2, Formats: []string{"svg"}})) != 7 {
		t.Error("two Gantt charts and five others were expected")
	}
	left, err := filepath.Glob(filepath.Join(dir, record.PlotsDir, "gantt-*.svg"))
	if err != nil || len(left) != 2 {
		t.Errorf("%d Gantt charts are left, %v", len(left), err)
	}
}

func TestGolden(t *testing.T) {
	dir := resultstest.Small().Write(t)
	plottest.Golden(t, drawAll(t, dir, Options{MaxGantts: 2, Formats: []string{"svg"}}), *update)
}

func BenchmarkDraw(b *testing.B) {
	dir := resultstest.Small().Write(b)
	for b.Loop() {
		drawAll(b, dir, Options{})
	}
}

// TestQueueAndNodes: the length of the queue is drawn where it is asked for, and several nodes have names.
func TestQueueAndNodes(t *testing.T) {
	e, err := record.Open(resultstest.Small().Write(t))
	if err != nil {
		t.Fatal(err)
	}
	e.Plan.Plots = []record.Plot{{Kind: Queue}, {Kind: Gantt}}
	e.Plan.Hardware[0].Nodes = []record.NodeRef{{Name: "left", Cores: 1}, {Name: "right", Cores: 1}}
	pictures, err := Draw(t.Context(), e, t.TempDir(), Options{MaxGantts: 2, Formats: []string{canvas.SVG}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, pictures)
	if got := names(pictures); got != "answer queue gantt-mixed-machine-fcfs-r1 gantt-mixed-machine-rr-quantum=300ms-r1" {
		t.Fatalf("pictures: %s", got)
	}
	for i, words := range [][]string{{"Length of the queue", ">7</text>"}, {">left</text>", ">right</text>"}} {
		raw, err := os.ReadFile(pictures[i+1].SVG)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !bytes.Contains(raw, []byte(w)) {
				t.Errorf("%s lacks %q", pictures[i+1].Name, w)
			}
		}
		if keep := os.Getenv("TFEXP_KEEP_PLOTS"); keep != "" {
			_ = os.WriteFile(filepath.Join(keep, pictures[i+1].Name+".svg"), raw, 0o644)
		}
	}
}
