package scheduler_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// sluggish makes a simulated engine behave like one on a real clock. Next returns late, with everything that has
// happened in the meantime. The end of a job is sometimes reported only at the following call, so the scheduler still
// acts on an ended job.
type sluggish struct {
	*simulated.Engine
	lag    time.Duration
	hide   func() bool
	hidden []Notice
}

func (s *sluggish) gone(job int) bool {
	for _, e := range s.hidden {
		if e.Job == job {
			return true
		}
	}
	return false
}

func (s *sluggish) Pause(job int) error {
	if s.gone(job) {
		return nil
	}
	return s.Engine.Pause(job)
}

func (s *sluggish) Migrate(job int, g Grant) error {
	return s.Resume(job, g)
}

func (s *sluggish) Resume(job int, g Grant) error {
	if s.gone(job) {
		return nil
	}
	return s.Engine.Resume(job, g)
}

func (s *sluggish) Resize(job int, g Grant) error {
	if s.gone(job) {
		return nil
	}
	return s.Engine.Resize(job, g)
}

func (s *sluggish) Next(ctx context.Context, until time.Duration) (time.Duration, []Notice, error) {
	ended := s.hidden
	s.hidden = nil
	now := s.Now()
	if len(ended) == 0 {
		var err error
		if now, ended, err = s.Engine.Next(ctx, max(until, now)); err != nil {
			return now, nil, err
		}
		ended = slices.Clone(ended)
	}
	for late := now + s.lag; now < late; {
		n, more, err := s.Engine.Next(ctx, late)
		if err != nil {
			return now, nil, err
		}
		now = n
		ended = append(ended, more...)
	}
	if len(ended) > 0 && s.hide() {
		last := len(ended) - 1
		s.hidden = append(s.hidden, ended[last])
		ended = ended[:last:last]
	}
	return now, ended, nil
}

// On an engine that reports late, the trace is still valid and every job finishes.
func TestAnyRunOnASluggishEngineIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		r := Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs, Resizes: drawResizes(t, jobs)}
		inner, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		engine := &sluggish{Engine: inner, lag: time.Duration(rapid.IntRange(1, 1500).Draw(t, "lag")) * time.Millisecond}
		engine.hide = func() bool { return rapid.Bool().Draw(t, "hide") }
		var tr trace
		r.Engine, r.Recorder = engine, &tr
		o, err := r.Execute(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", r.Policy, err)
		}
		for _, v := range validate.Trace(c, jobs, r.Resizes, tr.events, &o) {
			t.Errorf("%s: %s", r.Policy, v)
		}
	})
}

// A quantum of round robin begins when the job really starts. With a lag of 100 ms, a quantum of 1 s ends after 1.1 s,
// every time.
func TestAQuantumBeginsAtTheRealStart(t *testing.T) {
	jobs := number([]Job{at(0, 1, 3), at(0, 1, 3)})
	inner, err := simulated.New(jobs, works(jobs), simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tr trace
	r := Run{Policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": time.Second}}, Cluster: one(1), Jobs: jobs,
		Recorder: &tr,
		Engine:   &sluggish{Engine: inner, lag: 100 * time.Millisecond, hide: func() bool { return false }}}
	if _, err := r.Execute(context.Background()); err != nil {
		t.Fatal(err)
	}
	var pauses []time.Duration
	for _, e := range tr.events {
		if e.Kind == Pause {
			pauses = append(pauses, e.At)
		}
	}
	// The arrivals at 0 are reported at 0.1 s.
	ms := time.Millisecond
	if want := []time.Duration{1200 * ms, 2300 * ms, 3400 * ms, 4500 * ms}; !slices.Equal(pauses, want) {
		t.Errorf("pauses at %v, want %v", pauses, want)
	}
}
