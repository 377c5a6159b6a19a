package watch

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// The remaining time falls while a cell runs, and rises when the cell takes longer than predicted: the others may, too.
func TestLeftMovesWithinACell(t *testing.T) {
	x := &experiment{done: map[string]completeCell{}}
	for _, name := range []string{"a-r1", "b-r1", "b-r2"} {
		ref := record.CellRef{Cell: name, Policy: name[:1], Engine: "process", PredictedSeconds: 100}
		x.plan.Cells = append(x.plan.Cells, ref)
	}
	for elapsed, want := range map[time.Duration]float64{0: 300, 40 * time.Second: 260, 150 * time.Second: 300} {
		x.now = map[string]time.Time{"a-r1": time.Now().Add(-elapsed)}
		if got := x.remainingTime(); got == nil || *got < want-1 || *got > want+1 {
			t.Errorf("after %v: %v, want about %v s", elapsed, *got, want)
		}
	}
}

// Where the progress of the running cell is known, it says how long the cell takes, and so of the others.
func TestLeftByProgress(t *testing.T) {
	x := &experiment{done: map[string]completeCell{}, now: map[string]time.Time{"a-r1": time.Now().Add(-100 * time.Second)},
		stands: map[string]*progressFollower{"a-r1": {last: &record.CellProgress{At: 90, Share: 0.9}, read: time.Now()}}}
	for _, name := range []string{"a-r1", "b-r1"} {
		x.plan.Cells = append(x.plan.Cells, record.CellRef{Cell: name, Policy: name[:1], Engine: "process", PredictedSeconds: 50})
	}
	if got := x.remainingTime(); got == nil || *got < 119 || *got > 122 { // 10 s of this one, and 110 s of the other
		t.Errorf("%v", *got)
	}
	x.stands["a-r1"].last = &record.CellProgress{At: 90, Share: 0.5}
	if got := x.remainingTime(); *got < 278 || *got > 282 { // 90 s and 190 s
		t.Errorf("%v", *got)
	}
}
