package plot

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func estimatesDrawAll(t testing.TB, dir string) []record.Picture {
	t.Helper()
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir),
		Options{MaxGantts: 2, Formats: []string{"svg"}})
	if err != nil {
		t.Fatal(err)
	}
	return pictures
}

func TestPredicted(t *testing.T) {
	pictures := plottest.Of(estimatesDrawAll(t, resultstest.Small().Write(t)), Predicted)
	plottest.Check(t, pictures)
	if got := plottest.Names(pictures); got != "predicted" {
		t.Errorf("pictures %s", got)
	}
	plottest.Golden(t, pictures, *update)
}

func TestRealAboveSimulated(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Twins = true
	dir := cfg.Write(t)
	all := estimatesDrawAll(t, dir)
	plottest.Check(t, all)
	got := plottest.Of(all, Fidelity)
	if want := "fidelity-mixed-machine-fcfs-r1 fidelity-mixed-machine-rr-quantum=300ms-r1"; plottest.Names(got) != want {
		t.Fatalf("pictures %s, want %s", plottest.Names(got), want)
	}
	raw, err := os.ReadFile(got[0].SVG)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">real<", ">simulated<"} {
		if strings.Count(string(raw), want) != 1 {
			t.Errorf("the picture does not say %s once", want)
		}
	}
	// Both charts have the axis of the longer one: the same ticks, twice.
	if strings.Count(string(raw), ">time since the cell&#39;s start (s)<") != 2 ||
		strings.Count(string(raw), ">1.0<") != strings.Count(string(raw), ">5.0<") {
		t.Error("the two charts do not have the same axis")
	}
	// The picture depends only on the files, also for a replicate whose first cell has no twin.
	if err := os.RemoveAll(filepath.Join(dir, record.CellsDir, "mixed-machine-fcfs-r1", record.TwinDir)); err != nil {
		t.Fatal(err)
	}
	if got := plottest.Of(estimatesDrawAll(t, dir), Fidelity); got[0].Cell != "mixed-machine-fcfs-r2" {
		t.Errorf("without the simulation of the first replicate %s is drawn", got[0].Cell)
	}
}

func TestFidelityIsSkippedForAReason(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Twins, cfg.Records = true, record.MetricsOnly
	for _, p := range plottest.Of(estimatesDrawAll(t, cfg.Write(t)), Fidelity) {
		if !strings.Contains(p.Skipped, "only its metrics") {
			t.Errorf("%s: skipped %q", p.Name, p.Skipped)
		}
	}
	cfg.Missing = 10
	got := plottest.Of(estimatesDrawAll(t, cfg.Write(t)), Fidelity)
	if len(got) != 1 || got[0].Skipped != "no real cell has been simulated yet" {
		t.Errorf("of no cells: %+v", got)
	}
}
