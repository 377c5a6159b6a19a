package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// A run that reaches its horizon is closed: what runs, is paused or waits is
// stopped, what comes later stays pending, and all of it is accounted for.
//
//	A  1111X     finished at 4 would be 6: stopped
//	B  ....X     waits behind A: stopped where it waits
//	C      (7)   never arrives
func TestHorizonClosesTheRun(t *testing.T) {
	jobs := number([]Job{at(0, 1, 6), at(1, 1, 2), at(7, 1, 1)})
	o, tr := simulate(t, Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Until: 4 * time.Second}, nil)
	if o.Closed != 4*time.Second || o.End != 4*time.Second {
		t.Errorf("closed at %s, the last event at %s", o.Closed, o.End)
	}
	for i, want := range []State{Stopped, Stopped, Pending} {
		if o.Jobs[i].State != want {
			t.Errorf("job %d is %s, want %s", i, o.Jobs[i].State, want)
		}
	}
	if w := o.Jobs[1]; w.Waiting != 3*time.Second || w.Service != 0 || w.FirstStart != Never ||
		w.Reason != "the cell was closed at its time limit, 4s" {
		t.Errorf("the job that waited: %+v", w)
	}
	if last := tr.events[len(tr.events)-1]; last.Kind != Stop || last.Job != 1 {
		t.Errorf("the last event is %+v", last)
	}
}

// A run that ends at or before its horizon has the same events as a run without a horizon.
func TestHorizonThatIsNotReached(t *testing.T) {
	jobs := number([]Job{at(0, 1, 4)})
	for _, until := range []time.Duration{0, 4 * time.Second, time.Hour} {
		o, _ := simulate(t, Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Until: until}, nil)
		if o.Closed != 0 || o.Jobs[0].State != Finished {
			t.Errorf("until %s: closed at %s, the job is %s", until, o.Closed, o.Jobs[0].State)
		}
	}
}

// The horizon is reached in every state of a job: at the end of its turn, while it is paused, under all orders.
func TestHorizonUnderEveryOrder(t *testing.T) {
	for _, order := range []Order{FCFS, RoundRobin, Priority, SJF, "srtf", "las", "edf", "fair"} {
		for _, allocation := range []Allocation{Strict, AlwaysAttend, MaxProp} {
			for until := 1; until < 12; until++ {
				jobs := number([]Job{at(0, 2, 5), malleable(at(0, 2, 4)), level(2, at(1, 1, 6)), at(2, 2, 1), at(9, 2, 3)})
				p := Policy{Order: order, Allocation: allocation, Settings: Settings{"quantum": time.Second}}
				if order == Priority {
					p.Preemption = PausePreemption
				}
				simulate(t, Run{Policy: p, Cluster: one(2), Jobs: jobs, Until: time.Duration(until) * time.Second}, nil)
			}
		}
	}
}

// If pausing and resuming use up all turns, no job ever ends. The run then ends with an error. One nanosecond of
// progress in a turn is enough to continue.
func TestLivelock(t *testing.T) {
	for _, c := range []struct {
		name   string
		costs  simulated.Overheads
		policy Policy
		stuck  bool
	}{
		{"resuming takes the quantum", simulated.Overheads{Resume: time.Second},
			Policy{Order: RoundRobin, Settings: Settings{"quantum": time.Second}}, true},
		{"together they take it", simulated.Overheads{Pause: 400 * time.Millisecond, Resume: 700 * time.Millisecond},
			Policy{Order: RoundRobin, Settings: Settings{"quantum": time.Second}}, true},
		{"half of it, least attained service", simulated.Overheads{Resume: 500 * time.Millisecond},
			Policy{Order: "las", Settings: Settings{"quantum": time.Second}}, false},
		{"half of it", simulated.Overheads{Resume: 500 * time.Millisecond},
			Policy{Order: RoundRobin, Settings: Settings{"quantum": time.Second}}, false},
		{"starting takes many turns", simulated.Overheads{Start: 500 * time.Second},
			Policy{Order: RoundRobin, Settings: Settings{"quantum": time.Second}}, false},
	} {
		jobs := number([]Job{at(0, 1, 100), at(0, 1, 100), at(0, 1, 300)})
		engine, err := simulated.New(jobs, works(jobs), simulated.Options{Overheads: c.costs})
		if err != nil {
			t.Fatal(err)
		}
		o, err := Run{Policy: c.policy, Cluster: one(1), Jobs: jobs, Engine: engine}.Execute(context.Background())
		if errors.Is(err, ErrLivelock) != c.stuck || !c.stuck && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range o.Jobs {
			if want := map[bool]State{true: Stopped, false: Finished}[c.stuck]; o.Jobs[i].State != want {
				t.Errorf("%s: job %d is %s", c.name, i, o.Jobs[i].State)
			}
		}
	}
}

// lazy is an engine whose Next always returns at once without notices.
type lazy struct{ Engine }

func (lazy) Next(context.Context, time.Duration) (time.Duration, []Notice, error) { return 0, nil, nil }

func TestEngineThatDoesNotAdvance(t *testing.T) {
	jobs := number([]Job{at(1, 1, 1)})
	_, err := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs,
		Engine: lazy{newFlaky(t, jobs)}}.Execute(context.Background())
	if err == nil || errors.Is(err, ErrStuck) {
		t.Errorf("%v", err)
	}
}

// If an engine loses a job, the run ends with an error, with or without a horizon. The job does not count as finished.
func TestLostJobIsAnError(t *testing.T) {
	for _, until := range []time.Duration{0, time.Minute} {
		jobs := number([]Job{at(0, 1, 1), at(0, 1, 2)})
		engine := newFlaky(t, jobs)
		engine.ends = func(ended []Notice) []Notice {
			return slices.DeleteFunc(ended, func(e Notice) bool { return e.Job == 1 })
		}
		o, err := Run{Policy: Policy{}, Cluster: one(2), Jobs: jobs, Engine: engine,
			Until: until}.Execute(context.Background())
		if err == nil || o.Jobs[0].State != Finished || o.Jobs[1].State != Running {
			t.Errorf("until %s: %v; the jobs are %s and %s", until, err, o.Jobs[0].State, o.Jobs[1].State)
		}
	}
}
