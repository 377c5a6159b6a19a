package simulated

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// lossy is a fleet whose nodes are lost at a given mean interval.
type lossy struct {
	script
	between time.Duration
}

func (l *lossy) Between([]int) time.Duration { return l.between }

// on returns an engine for one job of 10 s on one core of a node of the fleet.
func on(t *testing.T, fleet Fleet, checkpoints ...*Checkpoint) *Engine {
	t.Helper()
	o := Options{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}}, Fleet: fleet,
		Checkpoints: checkpoints}
	e, err := New([]scheduler.Job{{Name: "a", Threads: 1}}, []Scaling{FullRequest(10*second, 1)}, o)
	must(t, err)
	return e
}

// TestResumedOnOtherCores: a job takes 4 s on two cores. After 1 s, the remaining 3 s would take 6 s on one core.
func TestResumedOnOtherCores(t *testing.T) {
	e := newEngine(t, Options{}, FullRequest(4*second, 2))
	must(t, e.Start(0, cores(2)))
	until(t, e, second, second)
	must(t, e.Pause(0))
	must(t, e.Resume(0, cores(1)))
	until(t, e, 3*second, 3*second)
	must(t, e.Pause(0))
	must(t, e.Resume(0, cores(2)))
	until(t, e, scheduler.Never, 5*second, 0)
}

// TestMovesOfASavingJob: a job that is moved after 4 s writes a checkpoint of its work since the last one, for 2 s, and
// reads it for 1 s when it resumes. Moved again at once it has nothing new to write.
func TestMovesOfASavingJob(t *testing.T) {
	e := on(t, &script{}, &Checkpoint{Every: 60 * second, Cost: 2 * second, Restore: second})
	if _, err := e.Move(0); err == nil || !strings.Contains(err.Error(), "has not started") {
		t.Errorf("a job that has not started is moved: %v", err)
	}
	must(t, e.Start(0, cores(1)))
	until(t, e, 4*second, 4*second)
	for _, c := range []struct{ at, spent time.Duration }{{4 * second, 2 * second}, {5 * second, 0}} {
		a, err := e.Move(0)
		must(t, err)
		if a.Done != 4*second || a.Kept != 4*second || a.Checkpoints != c.spent {
			t.Errorf("moved at %s: %+v", c.at, a)
		}
		must(t, e.Start(0, cores(1)))
		until(t, e, 5*second, 5*second) // nothing is done yet
	}
	until(t, e, scheduler.Never, 12*second, 0) // 1 s to read, and 6 s
}

// TestMovesOfAJobThatSavesNothing checks that a moved job without checkpoints starts again, and that its attempts
// report their completed work.
func TestMovesOfAJobThatSavesNothing(t *testing.T) {
	e := on(t, &script{})
	must(t, e.Start(0, cores(1)))
	until(t, e, 4*second, 4*second)
	a, err := e.Move(0)
	if must(t, err); a != (scheduler.Attempt{Done: 4 * second}) {
		t.Errorf("moved at 4 s: %+v", a)
	}
	must(t, e.Start(0, cores(1)))
	_, news, err := e.Next(t.Context(), scheduler.Never)
	must(t, err)
	if len(news) != 1 || news[0].At != 14*second || news[0].Attempt == nil || news[0].Attempt.Done != 10*second {
		t.Errorf("%+v", news)
	}
	plain := newEngine(t, Options{}, FullRequest(second, 1))
	must(t, plain.Start(0, cores(1)))
	if _, news, err = plain.Next(t.Context(), scheduler.Never); err != nil || len(news) != 1 || news[0].Attempt != nil {
		t.Errorf("%+v, %v: where nothing is lost there are no attempts", news, err)
	}
}

// TestAJobGoesOnAfterItsServer checks that a job can start again if its attempt ended after a warning, although the
// engine reported its end.
func TestAJobGoesOnAfterItsServer(t *testing.T) {
	e := on(t, &script{{Kind: scheduler.NodeWarned, At: 4 * second, Until: 9 * second}},
		&Checkpoint{Every: 60 * second, Cost: second})
	must(t, e.Start(0, cores(1)))
	_, news, err := e.Next(t.Context(), scheduler.Never)
	if must(t, err); len(news) != 2 || news[0].Kind != scheduler.JobEnded && news[1].Kind != scheduler.JobEnded {
		t.Fatalf("%+v", news)
	}
	until(t, e, 6*second, 6*second)
	must(t, e.Start(0, cores(1)))
	until(t, e, scheduler.Never, 13*second, 0) // the checkpoint, and 6 s
}

type intervalFunc func(cost, between time.Duration) time.Duration

func (f intervalFunc) Interval(cost, between time.Duration) time.Duration { return f(cost, between) }

// TestIntervalByARule checks that a rule receives the cost of a checkpoint and the mean time between losses. It is not
// called if there are no losses. Intervals are at least a nanosecond.
func TestIntervalByARule(t *testing.T) {
	for _, c := range []struct{ between, every, end time.Duration }{
		{8 * second, 4 * second, 12 * second}, {scheduler.Never, 0, 10 * second}, {8 * second, 0, scheduler.Never},
		{scheduler.Never - 1, 9 * second, 11 * second},
	} {
		asked := 0
		e := on(t, &lossy{between: c.between}, &Checkpoint{Cost: second, Rule: intervalFunc(func(cost, between time.Duration) time.Duration {
			if asked++; cost != second || between != c.between {
				t.Errorf("the rule is asked with %s and %s", cost, between)
			}
			return c.every
		})})
		must(t, e.Start(0, cores(1)))
		want := 1
		if c.between == scheduler.Never {
			want = 0
		}
		if asked != want || e.at(0).end != c.end {
			t.Errorf("%+v: asked %d times, and ends at %s", c, asked, e.at(0).end)
		}
	}
}

// TestOneUnknownNeighbour checks that two jobs do not share GPUs if the speed of one of them next to the other is
// unknown.
func TestOneUnknownNeighbour(t *testing.T) {
	knows := &Special{Beside: map[string]float64{"a": 0.5, "b": 0.5}}
	for _, c := range []struct{ first, second *Special }{{knows, nil}, {nil, knows}, {nil, nil}, {knows, knows}} {
		jobs := []scheduler.Job{{Name: "a", Class: "a", Threads: 1, GPUs: 1},
			{Number: 1, Name: "b", Class: "b", Threads: 1, GPUs: 1}}
		e, err := New(jobs, []Scaling{{Scaled: second, Special: c.first}, {Scaled: second, Special: c.second}},
			Options{})
		must(t, err)
		g := cores(1)
		must(t, e.Start(0, g))
		g.Beside = &cluster.Beside{Job: 0}
		known := c.first != nil && c.second != nil
		if err := e.Start(1, g); (err == nil) != known {
			t.Errorf("%+v: %v", c, err)
		}
		if known {
			until(t, e, scheduler.Never, 2*second, 0, 1)
		}
	}
}

// TestSpeedOfSpecialWork: rare properties of work do not change its speed on more threads, except a course and a crew,
// which have their own speeds.
func TestSpeedOfSpecialWork(t *testing.T) {
	for about, c := range map[string]struct {
		special *Special
		want    float64
	}{
		"nothing": {nil, 2}, "neighbors": {&Special{Beside: map[string]float64{"b": 0.5}}, 2},
		"a course": {&Special{Begin: func() Course { return nil }}, 1}, "a crew": {&Special{Crew: pairs{}}, 1},
	} {
		if got := (&Scaling{Parallel: 1, Special: c.special}).Speed(2); got != c.want {
			t.Errorf("with %s the speed on two threads is %g, want %g", about, got, c.want)
		}
	}
}

type pairs struct{}

func (pairs) Speed(parts []scheduler.Part) float64 { return float64(len(parts)) / 2 }
