package tracking_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/jobs/eventfile"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/results/tracking"
)

// results is a small experiment; one of its cells reported losses, and two pictures were drawn.
func results(t *testing.T) *record.Experiment {
	t.Helper()
	dir := resultstest.Small().Write(t)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("cells/mixed-machine-fcfs-r1/progress.csv", "t_s,job,epoch,step,loss,accuracy,seconds,threads,used_s,left_s,left_told_s\n"+
		"0.5,long-1,1,10,0.75,0.5,0.5,1,,,\n1,long-1,2,20,0.25,,0.5,1,,,\n1.5,short-1,0,7,2,,,1,,,\n")
	// A picture of one pixel.
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\rIDATx\xdac\xfc\xcf\xc0P\x0f\x00\x04\x85\x01\x80\x84\xa9\x8c!\x00\x00\x00\x00IEND\xaeB`\x82"
	write("plots/gantt-a.png", png)
	write("plots/metrics.png", png)
	write("plots/pictures.json", `[{"name": "gantt-a", "kind": "gantt", "cell": "mixed-machine-fcfs-r1", "png": "gantt-a.png"},
		{"name": "metrics", "kind": "metrics", "png": "metrics.png"}, {"name": "none", "kind": "jct", "skipped": "no data"}]`)
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// export writes the results in a format, and returns the folder.
func export(t *testing.T, format string, e *record.Experiment, dir string) {
	t.Helper()
	i := slices.IndexFunc(tracking.All(), func(f tracking.Format) bool { return f.Name == format })
	n, err := tracking.All()[i].Write(e, dir)
	if err != nil || n != len(e.Cells) {
		t.Fatalf("%d runs, %v; want %d", n, err, len(e.Cells))
	}
}

// TestTensorBoard reads back the scalars, and exports twice.
func TestTensorBoard(t *testing.T) {
	e := results(t)
	dir := t.TempDir()
	export(t, "tensorboard", e, dir)
	gone := filepath.Join(dir, "fcfs_vs_rr", "gone")
	if err := os.Rename(filepath.Join(dir, "fcfs_vs_rr", e.Cells[1].Cell), gone); err != nil {
		t.Fatal(err)
	}
	export(t, "tensorboard", e, dir)
	if _, err := os.Stat(gone); err == nil {
		t.Error("the run of a cell that is no more stayed")
	}
	// A picture is in the file of its cell, by its kind, or in that of the whole experiment, by its name.
	for run, picture := range map[string]string{"": "metrics", "mixed-machine-fcfs-r1": "gantt", e.Cells[1].Cell: ""} {
		raw, err := os.ReadFile(filepath.Join(dir, "fcfs_vs_rr", run, "events.out.tfevents.0.tfexp"))
		if err != nil {
			t.Fatal(err)
		}
		last := "_hparams_/session_end_info"
		if run == "" {
			last = "_hparams_/experiment"
		}
		if !strings.Contains(string(raw), last) {
			t.Errorf("the run %q has no %s", run, last)
		}
		_, after, found := strings.Cut(string(raw), "\x0a"+string(rune(len(picture)))+picture)
		if n := strings.Count(string(raw), "IEND"); picture == "" && n != 0 ||
			picture != "" && (n != 1 || !found || !strings.Contains(after, "IEND")) {
			t.Errorf("the run %q has %d pictures, none is %q", run, n, picture)
		}
	}
	all, err := eventfile.Follow(dir).Next()
	if err != nil {
		t.Fatal(err)
	}
	jct, _ := measure.MetricByName("mean_jct")
	found := 0
	for _, s := range all {
		cell := strings.TrimPrefix(s.Run, "fcfs_vs_rr/")
		i := slices.IndexFunc(e.Cells, func(c record.Cell) bool { return c.Cell == cell })
		if s.Tag == jct.Name && float32(s.Value) == float32(jct.Of(&e.Cells[i].Metrics)) {
			found++
		}
	}
	if found != len(e.Cells) {
		t.Errorf("%d cells have their mean JCT; want %d", found, len(e.Cells))
	}
	const start = 1767323045 // 2026-01-02T03:04:05Z
	for _, want := range []eventfile.Scalar{
		{Tag: "loss/long-1", Step: 2, Value: 0.25, Wall: start + 1},
		{Tag: "loss/short-1", Step: 7, Value: 2, Wall: start + 1.5},
		{Tag: "accuracy/long-1", Step: 1, Value: 0.5, Wall: start + 0.5},
	} {
		want.Run = "fcfs_vs_rr/mixed-machine-fcfs-r1"
		if !slices.Contains(all, want) {
			t.Errorf("there is no %+v", want)
		}
	}
}

// TestMLflow reads the files of runs, exports twice, and leaves the runs of others alone.
func TestMLflow(t *testing.T) {
	e := results(t)
	dir := t.TempDir()
	own := filepath.Join(dir, "7", "0123", "meta.yaml")
	for path, text := range map[string]string{filepath.Join(dir, "7", "meta.yaml"): "experiment_id: '7'\nname: fcfs_vs_rr\n", own: "run_id: '0123'\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	export(t, "mlflow", e, dir)
	export(t, "mlflow", e, dir)
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "7", "*", "params", "policy"))
	if err != nil || len(runs) != len(e.Cells) {
		t.Fatalf("%d runs, %v; want %d", len(runs), err, len(e.Cells))
	}
	read := func(pattern string) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "7", "*", pattern))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		raw, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if got := read("metrics/loss/long-1"); got != "1767323045500 0.75 1\n1767323046000 0.25 2\n" {
		t.Errorf("losses are %q", got)
	}
	read("artifacts/plots/gantt-a.png")
	read("artifacts/plots/metrics.png")
}

// TestTrackersRead opens both layouts with the Python packages that they are for.
func TestTrackersRead(t *testing.T) {
	python := os.Getenv("TFEXP_TRACKERS")
	var missing error
	if python == "" {
		missing = errors.New("TFEXP_TRACKERS names no Python")
	}
	need.This(t, "trackers", missing,
		"python3 -m venv DIR && DIR/bin/pip install tensorboard mlflow-skinny; TFEXP_TRACKERS=DIR/bin/python")
	e := results(t)
	board, store := t.TempDir(), t.TempDir()
	export(t, "tensorboard", e, board)
	export(t, "mlflow", e, store)
	out, err := exec.Command(python, "testdata/read.py", filepath.Join(board, "fcfs_vs_rr"), store).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
