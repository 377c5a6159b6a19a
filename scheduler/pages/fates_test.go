package pages

import (
	"testing"

	"github.com/tfexp/tfexp/scheduler/trace"
)

// What becomes of jobs is kept, or goes with the last event of each; stopped jobs and those that never come are counted.
func TestFates(t *testing.T) {
	for _, keep := range []bool{true, false} {
		f := NewFates(size+1, keep)
		if r := f.Of(size); r.State != trace.Pending || r.FirstStart != trace.Never || r.Finish != trace.Never {
			t.Errorf("a job that has not come is %+v", r)
		}
		for job, state := range []trace.State{trace.Finished, trace.Stopped, trace.Failed, trace.Stopped} {
			f.Of(int32(job)).State = state
			if job == 3 {
				f.Of(3).FirstStart = 0
			}
			var e trace.Event
			f.Last(int32(job), &e)
			if keep != (e.Result == nil) || keep != (f.Kept() != nil) {
				t.Errorf("keep %t: the last event has %+v, and %d are kept", keep, e.Result, len(f.Kept()))
			}
			if r := e.Result; !keep && r.State != state || keep && f.Kept()[job].State != state {
				t.Errorf("job %d has not become %s", job, state)
			}
			f.Over(int32(job))
		}
		if keep && (len(f.Kept()) != size+1 || f.Kept()[size].State != trace.Pending) {
			t.Errorf("of %d jobs %d are kept", size+1, len(f.Kept()))
		}
		if want := (trace.Undone{Started: 1, Waited: 1, Missing: 3}); f.Missed(3) != 3 || f.Undone() != want {
			t.Errorf("undone are %+v, want %+v", f.Undone(), want)
		}
	}
}

// A table has the pages that its jobs need, of which the last may be shorter.
func TestPagesOfATable(t *testing.T) {
	for jobs, want := range map[int]int{0: 0, 1: 1, size: 1, size + 1: 2, 3*size - 1: 3} {
		table := New(jobs, func(job int32) int32 { return job }, -1)
		if len(table.pages) != want || len(table.open) != want {
			t.Errorf("%d jobs are on %d pages, want %d", jobs, len(table.pages), want)
		}
		for j := range int32(jobs) {
			if *table.At(j) != j {
				t.Errorf("job %d has %d", j, *table.At(j))
			}
		}
		n := 0
		for range table.All() {
			n++
		}
		if n != jobs {
			t.Errorf("of %d jobs %d are listed", jobs, n)
		}
		for j := range int32(jobs) {
			table.Over(j)
		}
		if len(table.spare) != want {
			t.Errorf("%d of %d pages are given back", len(table.spare), want)
		}
	}
}
