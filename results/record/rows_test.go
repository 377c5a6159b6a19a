package record

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
)

// If the memory of a GPU is unknown, the field is empty; if it is none, the field is 0.
func TestMemoryOfGPUs(t *testing.T) {
	for _, memory := range []int64{-1, 0, 5} {
		row := GPURow{Memory: memory}
		raw, err := GPUs.Marshal(&row)
		if err != nil {
			t.Fatal(err)
		}
		var back GPURow
		if err := GPUs.Unmarshal(raw, &back); err != nil || back.Memory != memory {
			t.Errorf("%d comes back as %d from %s: %v", memory, back.Memory, raw, err)
		}
	}
}

// Run times of earlier runs stay with the estimate of the same job, model and place, as long as its values stay the
// same.
func TestActualTimesStay(t *testing.T) {
	dir := t.TempDir()
	row := EstimateRow{Job: "j", Hardware: "h", Model: "linear", Threads: 2, GPUs: 1, Predicted: 10, Actual: 8, Runs: 3}
	if err := ReplaceEstimates(dir, []EstimateRow{row}); err != nil {
		t.Fatal(err)
	}
	read, err := Estimates.Read(dir)
	if err != nil || len(read) != 1 || read[0].ErrorPct != 25 {
		t.Fatalf("%+v, %v", read, err)
	}
	for name, change := range map[string]func(*EstimateRow){
		"":         func(*EstimateRow) {},
		"job":      func(r *EstimateRow) { r.Job = "k" },
		"hardware": func(r *EstimateRow) { r.Hardware = "k" },
		"model":    func(r *EstimateRow) { r.Model = "k" },
		"threads":  func(r *EstimateRow) { r.Threads = 1 },
		"GPUs":     func(r *EstimateRow) { r.GPUs = 0 },
		"axes":     func(r *EstimateRow) { r.Axes = "k" },
	} {
		other := row
		if change(&other); other.estimates(row) != (name == "") {
			t.Errorf("rows that differ by %q are of one estimate: %v", name, other.estimates(row))
		}
	}
	for _, r := range []EstimateRow{{Predicted: 1, Actual: -1}, {Predicted: -1, Actual: 1}, {Predicted: 1}} {
		rows := []EstimateRow{r}
		if err := ReplaceEstimates(dir, rows); err != nil || !math.IsNaN(rows[0].ErrorPct) {
			t.Errorf("%+v has an error: %v", rows[0], err)
		}
	}
}

// The disturbances of a cell.
func TestDisturbedCells(t *testing.T) {
	for code, want := range map[string][2]bool{Disturbed: {true, true}, BusyMachine: {true, false}, "other": {false, false}} {
		c := Cell{Warnings: []Warning{{Code: "first"}, {Code: code}}}
		if got := [2]bool{c.Troubled(), c.Paused()}; got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}

// The warnings of a saturated cell, by the known facts.
func TestSaturationInWords(t *testing.T) {
	for _, c := range []struct {
		load   measure.OfferedLoad
		closed float64
		want   string
	}{
		{measure.OfferedLoad{Offered: 2}, 0, ""},
		{measure.OfferedLoad{Saturated: true, Offered: 2}, 5, "when the cell was closed"},
		{measure.OfferedLoad{Saturated: true, Offered: 1.05, Queued: 3}, 0, "arrive 1.1 times as fast"},
		{measure.OfferedLoad{Saturated: true, Offered: 1.04, Queued: 3}, 0, "3 jobs still waited"},
		{measure.OfferedLoad{Saturated: true, Offered: math.NaN()}, 0, "faster than this policy"},
	} {
		cell := Cell{Load: c.load, Closed: c.closed}
		if w, ok := cell.saturation(); ok != (c.want != "") || !strings.Contains(w.Text, c.want) {
			t.Errorf("%+v: %v, %q", c, ok, w.Text)
		}
	}
	names := ColumnNames()
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%s is there twice", n)
		}
		seen[n] = true
	}
	if !seen["job"] || !seen["mean_jct_s"] || !seen["cell"] {
		t.Errorf("columns %v", names)
	}
}
