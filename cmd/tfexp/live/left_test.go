package live

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// The remaining time falls while a cell runs, and rises when the cell takes longer than predicted: the others may, too.
func TestLeftMovesWithinACell(t *testing.T) {
	x := &experiment{done: map[string]ended{}}
	for _, name := range []string{"a-r1", "b-r1", "b-r2"} {
		ref := record.CellRef{Cell: name, Policy: name[:1], Engine: "process", PredictedSeconds: 100}
		x.plan.Cells = append(x.plan.Cells, ref)
	}
	for elapsed, want := range map[time.Duration]float64{0: 300, 40 * time.Second: 260, 150 * time.Second: 300} {
		x.now = map[string]time.Time{"a-r1": time.Now().Add(-elapsed)}
		if got := x.left(); got == nil || *got < want-1 || *got > want+1 {
			t.Errorf("after %v: %v, want about %v s", elapsed, *got, want)
		}
	}
}
