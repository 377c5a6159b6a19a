package scheduler

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// When a job ends, its counts go into its result and are dropped. A job without counts has the result of a job that has
// not arrived. It does not depend on previous jobs.
func TestFates(t *testing.T) {
	for _, keep := range []bool{false, true} {
		f := newOutcomes(3, keep)
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

// The check at the end of a run finds jobs that are not final, whose times do not add up, or that still hold something.
// Jobs that have not arrived are allowed only if the run was closed at its horizon.
func TestAccount(t *testing.T) {
	finished := Result{State: Finished, Waiting: 2, Service: 5, Finish: 8}
	for _, c := range []struct {
		name   string
		result Result
		change func(*loop)
		want   string
	}{
		{"finished", finished, nil, ""},
		{"failed", Result{State: Failed, Waiting: 2, Service: 5, Finish: 8}, nil, ""},
		{"stopped", Result{State: Stopped, Waiting: 2, Service: 5, Finish: 8}, nil, ""},
		{"still running", Result{State: Running, Waiting: 2, Service: 5, Finish: 8}, nil, `"j" has no result: it is still running`},
		{"never arrived", Result{State: Pending}, nil, "has no result"},
		{"never arrived in a closed run", Result{State: Pending}, func(l *loop) { l.ending.closed = 10 }, ""},
		{"still queued in a closed run", Result{State: Queued}, func(l *loop) { l.ending.closed = 10 }, "has no result"},
		{"waited too long", Result{State: Finished, Waiting: 3, Service: 5, Finish: 8}, nil, "do not add up"},
		{"ran too short", Result{State: Finished, Waiting: 2, Service: 4, Finish: 8}, nil, "do not add up"},
		{"the engine has one", finished, func(l *loop) { l.tally.started = 1 }, "some still run or wait"},
		{"one is in the list", finished, func(l *loop) { l.running.all = []int32{0} }, "some still run or wait"},
	} {
		l := &loop{jobs: JobSet{List: []Job{{Name: "j", Arrival: 1}}}, outcomes: newOutcomes(1, true), queue: queue.New(1, false)}
		l.outcomes.Kept()[0] = c.result
		if c.change != nil {
			c.change(l)
		}
		err := l.account()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
