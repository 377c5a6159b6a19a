package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

const s = time.Second

func cores(n int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: 0, Hi: n}} }

// A job goes through every kind of event. The test checks the change by each event and the holdings after it.
func TestEventsOfALife(t *testing.T) {
	l := ledger.New(1)
	other := l.Add() // arrives, and never starts
	l.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: other})
	for _, x := range []struct {
		event scheduler.Event
		step  ledger.Step
		state scheduler.State
		held  int
	}{
		{scheduler.Event{At: 1 * s, Kind: scheduler.Arrive}, ledger.Step{}, scheduler.Queued, 0},
		{scheduler.Event{At: 2 * s, Kind: scheduler.Level}, ledger.Step{}, scheduler.Queued, 0},
		{scheduler.Event{At: 3 * s, Kind: scheduler.Start, Cores: cores(4), GPUs: cores(1), Alternative: 2},
			ledger.Step{Began: true}, scheduler.Running, 4},
		{scheduler.Event{At: 4 * s, Kind: scheduler.Predict, Cores: cores(4)}, ledger.Step{}, scheduler.Running, 4},
		{scheduler.Event{At: 5 * s, Kind: scheduler.ResizeJob, Cores: cores(2)},
			ledger.Step{Ended: true, Began: true, Held: 2 * s, Cores: 4, GPUs: 1}, scheduler.Running, 2},
		{scheduler.Event{At: 6 * s, Kind: scheduler.Pause},
			ledger.Step{Ended: true, Held: s, Cores: 2}, scheduler.Paused, 0},
		{scheduler.Event{At: 6 * s, Kind: scheduler.ResizeJob, Cores: cores(8)}, ledger.Step{}, scheduler.Paused, 0},
		{scheduler.Event{At: 9 * s, Kind: scheduler.Resume, Cores: cores(3)},
			ledger.Step{Began: true}, scheduler.Running, 3},
		{scheduler.Event{At: 9 * s, Kind: scheduler.Retry}, ledger.Step{Ended: true, Cores: 3}, scheduler.Queued, 0},
		{scheduler.Event{At: 10 * s, Kind: scheduler.Start, Cores: cores(1)},
			ledger.Step{Began: true}, scheduler.Running, 1},
		{scheduler.Event{At: 12 * s, Kind: scheduler.Fail},
			ledger.Step{Ended: true, Held: 2 * s, Cores: 1}, scheduler.Failed, 0},
		{scheduler.Event{At: 13 * s, Kind: scheduler.Start, Cores: cores(1)}, ledger.Step{}, scheduler.Failed, 0},
	} {
		step := l.Event(&x.event)
		if d := cmp.Diff(x.step, step); d != "" {
			t.Errorf("%s at %s: %s", x.event.Kind, x.event.At, d)
		}
		held, _ := l.Held()
		if got := l.Job(0).State(); got != x.state || held != x.held {
			t.Errorf("after %s at %s: %s with %d cores, want %s with %d",
				x.event.Kind, x.event.At, got, held, x.state, x.held)
		}
	}
	j := l.Job(0)
	if j.FirstStart != 3*s || j.End() != 12*s || j.Pauses != 1 ||
		j.Resizes != 1 || j.Retries != 1 || j.Alternative != 0 {
		t.Errorf("%+v", *j)
	}
	if d := cmp.Diff(ledger.Counts{Queued: 1, Failed: 1}, l.Counts()); d != "" {
		t.Error(d)
	}
}

// Events of jobs that do not exist change nothing.
func TestUnknownJobs(t *testing.T) {
	l := ledger.New(1)
	for _, job := range []int{-1, 1} {
		e := scheduler.Event{Kind: scheduler.Arrive, Job: job}
		if l.Takes(&e) || l.Event(&e) != (ledger.Step{}) {
			t.Errorf("job %d is taken", job)
		}
	}
	if d := cmp.Diff(ledger.Counts{Pending: 1}, l.Counts()); d != "" {
		t.Error(d)
	}
}
