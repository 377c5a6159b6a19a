package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// clumsy is a virtual engine. Each attempt takes the predicted time of its job, on any number of cores. The first
// attempts of a job fail.
type clumsy struct {
	jobs  []Job
	fails map[int]int           // by job: number of attempts that fail
	early map[int]time.Duration // by job: after which time they fail; the predicted time if missing
	now   time.Duration
	left  []time.Duration
	end   map[int]time.Duration // by running job: its end
}

func (c *clumsy) Start(job int, _ Grant) error {
	if _, runs := c.end[job]; runs {
		return fmt.Errorf("job %d runs already", job)
	}
	c.left[job] = c.jobs[job].Predicted
	if early, ok := c.early[job]; ok && c.fails[job] > 0 {
		c.left[job] = early
	}
	return c.Resume(job, Grant{})
}
func (c *clumsy) Pause(job int) error {
	c.left[job] = c.end[job] - c.now
	delete(c.end, job)
	return nil
}
func (c *clumsy) Resume(job int, _ Grant) error {
	c.end[job] = c.now + c.left[job]
	return nil
}
func (c *clumsy) Resize(int, Grant) error { return nil }
func (c *clumsy) Stop(int) error          { return nil }
func (c *clumsy) Next(_ context.Context, until time.Duration) (time.Duration, []Notice, error) {
	for _, at := range c.end {
		until = min(until, at)
	}
	c.now = until
	var ended []Notice
	for j := range c.jobs {
		if at, runs := c.end[j]; runs && at <= c.now {
			delete(c.end, j)
			e := Notice{Kind: JobEnded, Job: j, At: at, State: Finished}
			if c.fails[j]--; c.fails[j] >= 0 {
				e.State, e.Reason = Failed, "exit status 1"
			}
			ended = append(ended, e)
		}
	}
	return c.now, ended, nil
}

// A job that fails holds nothing and waits at the end of the queue. It restarts as often as allowed. After that it has
// failed.
func TestRetries(t *testing.T) {
	policies := []Policy{
		{}, {Order: RoundRobin, Settings: Settings{"quantum": time.Second}}, {Order: Priority, Preemption: PausePreemption},
		{Allocation: MaxProp}, {Allocation: AlwaysAttend, Backfill: EASY},
		{Order: "las", Preemption: PausePreemption, Settings: Settings{"quantum": time.Second}},
		{Order: "fair", Settings: Settings{"quantum": time.Second}},
	}
	for _, p := range policies {
		jobs := number([]Job{at(0, 2, 3), at(0, 1, 2), malleable(at(1, 2, 4)), level(1, at(2, 1, 1))})
		jobs[0].Own().Retries, jobs[0].Memory = 2, 5
		jobs[1].Own().Retries = 1
		jobs[2].Own().Retries = 3
		cluster := Cluster{Nodes: []Node{{Name: "n", Threads: 2, Memory: 8}}}
		e := &clumsy{jobs: jobs, fails: map[int]int{0: 2, 1: 2, 2: 1, 3: 1}, left: make([]time.Duration, len(jobs)),
			end: map[int]time.Duration{}}
		var tr trace
		o, err := Run{Policy: p, Cluster: cluster, Jobs: jobs, Engine: e, Recorder: &tr}.Execute(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		for _, v := range validate.Trace(cluster, jobs, nil, tr.events, &o) {
			t.Errorf("%s: %s", p, v)
		}
		for j, want := range []struct {
			state    State
			restarts int
		}{{Finished, 2}, {Failed, 1}, {Finished, 1}, {Failed, 0}} {
			if r := o.Jobs[j]; r.State != want.state || r.Restarts != want.restarts {
				t.Errorf("%s: job %s is %s after %d restarts, want %+v", p, jobs[j].Name, r.State, r.Restarts, want)
			}
			// Each attempt takes the whole predicted time.
			if r := o.Jobs[j]; r.Service != time.Duration(r.Restarts+1)*jobs[j].Predicted {
				t.Errorf("%s: job %s ran for %s in %d attempts", p, jobs[j].Name, r.Service, r.Restarts+1)
			}
		}
	}
}

// Under FCFS a failed job keeps its place in the queue, which follows from its arrival.
func TestRetryGantt(t *testing.T) {
	jobs := number([]Job{at(0, 1, 2), at(1, 1, 2)})
	jobs[0].Own().Retries = 1
	e := &clumsy{jobs: jobs, fails: map[int]int{0: 1}, left: make([]time.Duration, 2), end: map[int]time.Duration{}}
	var tr trace
	if _, err := (Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: e,
		Recorder: &tr}).Execute(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := gantt(jobs, tr.events); got != "A |1111|\nB | ...11|\n" {
		t.Error(got)
	}
}

// A restarted job must do all of its work again. A fails at 4, when B arrives. B is shorter, so it goes first.
func TestRetryIsPredictedAnew(t *testing.T) {
	for _, p := range []Policy{{Order: "srtf"}, {Order: SJF, Backfill: EASY}} {
		jobs := number([]Job{at(0, 1, 4), at(4, 1, 3)})
		jobs[0].Own().Retries = 1
		e := &clumsy{jobs: jobs, fails: map[int]int{0: 1}, left: make([]time.Duration, 2), end: map[int]time.Duration{}}
		var tr trace
		if _, err := (Run{Policy: p, Cluster: one(1), Jobs: jobs, Engine: e,
			Recorder: &tr}).Execute(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := gantt(jobs, tr.events); got != "A |1111...1111|\nB |    111|\n" {
			t.Errorf("%s:\n%s", p, got)
		}
	}
}

// Under easy backfill a job that passes the first must end before its
// reservation, which a restarted job holds up for its whole time: C fits next
// to A's second attempt and ends before it.
//
//	A  11      fails
//	A    1111
//	B   .....22
//	C   .1111
func TestReservationsKnowOfRetries(t *testing.T) {
	jobs := number([]Job{at(0, 1, 4), at(1, 2, 2), at(1, 1, 4)})
	jobs[0].Own().Retries = 1
	e := &clumsy{jobs: jobs, fails: map[int]int{0: 1}, left: make([]time.Duration, 3), end: map[int]time.Duration{}}
	e.early = map[int]time.Duration{0: 2 * time.Second}
	var tr trace
	if _, err := (Run{Policy: Policy{Backfill: EASY}, Cluster: one(2), Jobs: jobs, Engine: e,
		Recorder: &tr}).Execute(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := gantt(jobs, tr.events); got != "A |111111|\nB | .....22|\nC | .1111|\n" {
		t.Error(got)
	}
}
