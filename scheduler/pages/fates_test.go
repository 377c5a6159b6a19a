package pages

import (
	"testing"

	"github.com/tfexp/tfexp/scheduler/trace"
)

// What was counted of a job is in its result when it ends, once; results are kept, or go with the last events. Stopped jobs
// and those that never come are counted.
func TestFates(t *testing.T) {
	for _, keep := range []bool{true, false} {
		f := NewFates(5, keep)
		f.Of(1).Preemptions++
		f.Of(1).Preemptions++
		f.Of(3).Restarts++
		for job, state := range []trace.State{trace.Finished, trace.Stopped, trace.Failed, trace.Stopped} {
			r := f.Last(int32(job))
			want := trace.Result{State: trace.Pending, FirstStart: trace.Never, Finish: trace.Never}
			if job == 1 {
				want.Preemptions = 2
			} else if job == 3 {
				want.Restarts = 1
			}
			if *r != want {
				t.Errorf("job %d ends with %+v, want %+v", job, *r, want)
			}
			if r.State = state; job == 3 {
				r.FirstStart = 0
			}
			if out := f.Over(int32(job), r); keep != (out == nil) || keep != (f.Kept() != nil) || out != nil && out.State != state {
				t.Errorf("keep %t: the last event has %+v, and %d are kept", keep, out, len(f.Kept()))
			}
			if keep && f.Kept()[job].State != state {
				t.Errorf("job %d is kept as %+v", job, f.Kept()[job])
			}
		}
		if got := f.Of(1).Preemptions; got != 0 {
			t.Errorf("a job that is over goes on with %d pauses", got)
		}
		if keep && (len(f.Kept()) != 5 || f.Kept()[4].State != trace.Pending) {
			t.Errorf("of 5 jobs %d are kept", len(f.Kept()))
		}
		if want := (trace.Undone{Started: 1, Waited: 1, Missing: 3}); f.Missed(3) != 3 || f.Undone() != want {
			t.Errorf("undone are %+v, want %+v", f.Undone(), want)
		}
	}
}

// A table has the pages that its jobs need, of which the last may be shorter.
func TestPagesOfATable(t *testing.T) {
	for jobs, want := range map[int]int{0: 0, 1: 1, size: 1, size + 1: 2, 3*size - 1: 3} {
		table := New(jobs, func(job int32, value *int32) { *value = job }, -1)
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
