package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// Each event that takes the cores of a job ends the job or returns it to the queue, and is counted.
func TestEventsThatEndAnAttempt(t *testing.T) {
	ran := ledger.Step{Ended: true, Held: 2 * s, Cores: 3, GPUs: 2}
	for _, c := range []struct {
		kind   scheduler.EventKind
		state  scheduler.State
		counts ledger.Counts
		change func(*ledger.Job)
	}{
		{scheduler.Retry, scheduler.Queued, ledger.Counts{Queued: 1}, func(j *ledger.Job) { j.Retries = 1 }},
		{scheduler.Revoke, scheduler.Queued, ledger.Counts{Queued: 1}, func(*ledger.Job) {}},
		{scheduler.Move, scheduler.Queued, ledger.Counts{Queued: 1}, func(*ledger.Job) {}},
		{scheduler.Profiled, scheduler.Queued, ledger.Counts{Queued: 1}, func(*ledger.Job) {}},
		{scheduler.Reconfigure, scheduler.Queued, ledger.Counts{Queued: 1}, func(*ledger.Job) {}},
		{scheduler.Pause, scheduler.Paused, ledger.Counts{Paused: 1}, func(j *ledger.Job) { j.Pauses = 1 }},
		{scheduler.Finish, scheduler.Finished, ledger.Counts{Finished: 1}, func(*ledger.Job) {}},
		{scheduler.Fail, scheduler.Failed, ledger.Counts{Failed: 1}, func(*ledger.Job) {}},
		{scheduler.Stop, scheduler.Stopped, ledger.Counts{Stopped: 1}, func(*ledger.Job) {}},
	} {
		l := ledger.New(1)
		l.Event(&scheduler.Event{At: 1 * s, Kind: scheduler.Arrive})
		l.Event(&scheduler.Event{At: 5 * s, Kind: scheduler.Start, Cores: cores(3), GPUs: cores(2), Alternative: 1})
		if n, g := l.Held(); n != 3 || g != 2 || !l.Job(0).Runs() || l.Job(0).Waits() || l.Job(0).Over() {
			t.Errorf("%s: holds %d cores and %d GPUs before", c.kind, n, g)
		}
		want := *l.Job(0)
		if step := l.Event(&scheduler.Event{At: 7 * s, Kind: c.kind}); step != ran {
			t.Errorf("%s: %+v", c.kind, step)
		}
		n, g := l.Held()
		j := l.Job(0)
		if end := j.End(); j.Over() && end != 7*s || !j.Over() && end != scheduler.Never {
			t.Errorf("%s: it ended at %s", c.kind, end)
		}
		if n != 0 || g != 0 || j.State() != c.state || j.Cores != 0 || j.GPUs != 0 || j.Since != 7*s || j.Runs() ||
			j.Waits() != (c.state == scheduler.Queued || c.state == scheduler.Paused) || j.Over() == j.Waits() {
			t.Errorf("%s: %+v, %s, %d cores and %d GPUs are held", c.kind, *j, j.State(), n, g)
		}
		if d := cmp.Diff(c.counts, l.Counts()); d != "" {
			t.Errorf("%s: %s", c.kind, d)
		}
		c.change(&want)
		got := *j
		got.Since, got.Cores, got.GPUs = want.Since, want.Cores, want.GPUs
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b ledger.Job) bool {
			return a.FirstStart == b.FirstStart && a.Pauses == b.Pauses && a.Resizes == b.Resizes && a.Retries == b.Retries &&
				a.Alternative == b.Alternative
		})); d != "" {
			t.Errorf("%s: %s", c.kind, d)
		}
	}
	// New settings for a job that has not started do not end an attempt.
	l := ledger.New(2)
	l.Event(&scheduler.Event{At: 1 * s, Kind: scheduler.Arrive})
	if step := l.Event(&scheduler.Event{At: 2 * s, Kind: scheduler.Reconfigure}); step != (ledger.Step{}) ||
		l.Job(0).Since != s {
		t.Errorf("%+v, %+v", step, *l.Job(0))
	}
	if l.Len() != 2 || l.Counts().Waiting() != 1 || l.Counts().Pending != 1 {
		t.Errorf("%+v", l.Counts())
	}
}
