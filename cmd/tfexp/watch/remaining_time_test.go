package watch

import (
	"math"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// The remaining time falls while a cell runs. It rises when the cell takes longer than predicted, because other cells
// may too.
func TestLeftMovesWithinACell(t *testing.T) {
	x := &experiment{done: map[string]completeCell{}}
	for _, name := range []string{"a-r1", "b-r1", "b-r2"} {
		ref := record.CellRef{Cell: name, Policy: name[:1], Engine: "process", PredictedSeconds: 100}
		x.plan.Cells = append(x.plan.Cells, ref)
	}
	for elapsed, want := range map[time.Duration]float64{0: 300, 40 * time.Second: 260, 150 * time.Second: 300} {
		x.now = map[string]time.Time{"a-r1": time.Now().Add(-elapsed)}
		got := x.remainingTime()
		if got == nil || math.Abs(got.Seconds-want) > 0.1*want || got.Low >= want || want >= got.High {
			t.Errorf("after %v: %+v, want about %v s", elapsed, got, want)
		}
	}
}

// The progress of the running cell shows how long the cell takes, and changes the prediction of other cells too.
func TestLeftByProgress(t *testing.T) {
	x := &experiment{done: map[string]completeCell{}, now: map[string]time.Time{"a-r1": time.Now().Add(-100 * time.Second)},
		stands: map[string]*progressFollower{"a-r1": {last: &record.CellProgress{At: 90, Share: 0.9}, read: time.Now()}}}
	for _, name := range []string{"a-r1", "b-r1"} {
		x.plan.Cells = append(x.plan.Cells, record.CellRef{Cell: name, Policy: name[:1], Engine: "process", PredictedSeconds: 50})
	}
	if got := x.remainingTime(); got == nil || math.Abs(got.Seconds-120) > 20 || got.High < 120 { // 10 s and 110 s
		t.Errorf("%+v", got)
	}
	x.stands["a-r1"].last = &record.CellProgress{At: 90, Share: 0.5}
	if got := x.remainingTime(); math.Abs(got.Seconds-280) > 28 || got.High < 280 { // 90 s and 190 s
		t.Errorf("%+v", got)
	}
}

// Cells take five times as long as predicted. After one cell of this run has finished, the others are expected to take
// as long, although two earlier cells took their predicted time. Two cells at the same time halve the remaining time.
func TestLeftLearnsFromFinishedCells(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	x := &experiment{done: map[string]completeCell{}, now: map[string]time.Time{}, began: began}
	for i := range 8 {
		ref := record.CellRef{Cell: string(rune('a' + i)), Policy: string(rune('p' + i%2)), Engine: "process", PredictedSeconds: 10}
		x.plan.Cells = append(x.plan.Cells, ref)
	}
	check := func(what string, want float64) {
		t.Helper()
		got := x.remainingTime()
		if got == nil || math.Abs(got.Seconds-want) > 0.12*want || got.Low >= want || want >= got.High {
			t.Errorf("%s: %+v, want about %v s", what, got, want)
		}
	}
	check("before any", 80)
	x.done["a"] = completeCell{state: record.CellFinished, seconds: 10, began: began.Add(-24 * time.Hour)}
	x.done["b"] = x.done["a"]
	check("after two of yesterday", 60)
	x.done["c"] = completeCell{state: record.CellFinished, seconds: 50, began: began}
	check("after one of this run", 250)
	x.done["d"] = x.done["c"]
	check("after two of this run", 200)
	x.now["e"], x.now["f"] = time.Now().Add(-20*time.Second), time.Now().Add(-20*time.Second)
	check("two run side by side", 80)
}
