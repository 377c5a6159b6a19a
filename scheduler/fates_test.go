package scheduler

import (
	"testing"
)

// What was counted of a job goes into its result and is gone then; a job of which nothing was counted has the result of
// one that is still to come, whatever the one before it had.
func TestFates(t *testing.T) {
	for _, keep := range []bool{false, true} {
		f := NewFates(3, keep)
		f.Of(1).Resizes++
		f.Of(1).Resizes++
		r := f.Last(1)
		if r.Resizes != 2 || r.FirstStart != Never {
			t.Errorf("job 1 ended with %+v", *r)
		}
		r.State = Stopped
		if told := f.Over(1, r); (told == nil) != keep {
			t.Errorf("kept %v, and told %v", keep, told)
		}
		if keep && f.Kept()[1] != *r {
			t.Errorf("kept is %+v", f.Kept()[1])
		}
		if r := f.Last(1); *r != pending {
			t.Errorf("what was counted of job 1 is still there: %+v", *r)
		}
		r = f.Last(0)
		if *r != pending {
			t.Errorf("job 0 ended with %+v", *r)
		}
		r.State = Finished
		f.Over(0, r)
		if f.Missed(1) != 1 || f.Undone() != (Undone{Waited: 1, Missing: 1}) {
			t.Errorf("undone: %+v", f.Undone())
		}
	}
}
