package realise

import (
	"testing"

	"github.com/tfexp/tfexp/scheduler"
)

// Workloads are kept up to a number of jobs, the newest of any size.
func TestDraws(t *testing.T) {
	d := draws{kept: map[drawnKey]realisation{}}
	keep := func(replicate, jobs int) {
		d.keep(drawnKey{replicate: replicate}, realisation{jobs: make([]scheduler.Job, jobs)})
	}
	kept := func(replicate int) bool { _, ok := d.kept[drawnKey{replicate: replicate}]; return ok }
	keep(1, maxDrawn/2)
	keep(2, maxDrawn/2)
	if !kept(1) || !kept(2) {
		t.Error("dropped too early")
	}
	keep(3, 1)
	if kept(1) || !kept(2) || !kept(3) || d.jobs != maxDrawn/2+1 {
		t.Errorf("kept %v, %d jobs", d.order, d.jobs)
	}
	keep(4, 2*maxDrawn)
	if len(d.kept) != 1 || !kept(4) || d.jobs != 2*maxDrawn {
		t.Errorf("kept %v, %d jobs", d.order, d.jobs)
	}
}
