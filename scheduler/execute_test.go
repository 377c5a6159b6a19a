package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	. "github.com/tfexp/tfexp/stages/allox"
)

// flaky is an engine whose calls fail as a test prescribes.
type flaky struct {
	Engine
	failStart map[int]error
	failPause error
	ends      func([]Notice) []Notice
	cancel    func()
	after     int // number of calls of Next until it cancels the run
}

func (f *flaky) Start(job int, g Grant) error {
	if err := f.failStart[job]; err != nil {
		return err
	}
	return f.Engine.Start(job, g)
}

func (f *flaky) Pause(job int) error {
	if f.failPause != nil {
		return f.failPause
	}
	return f.Engine.Pause(job)
}

func (f *flaky) Next(ctx context.Context, until time.Duration) (time.Duration, []Notice, error) {
	if f.after--; f.after == 0 {
		f.cancel()
	}
	now, ended, err := f.Engine.Next(ctx, until)
	if f.ends != nil {
		ended = f.ends(ended)
	}
	return now, ended, err
}

func newFlaky(t *testing.T, jobs []Job) *flaky {
	t.Helper()
	e, err := simulated.New(jobs, works(jobs), simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &flaky{Engine: e}
}

func TestAJobThatCanNotStartFailsAndOthersGoOn(t *testing.T) {
	jobs := number([]Job{at(0, 1, 2), at(0, 1, 2), at(1, 1, 1)})
	e := newFlaky(t, jobs)
	e.failStart = map[int]error{1: errors.New("no such program")}
	var tr trace
	o, err := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: e, Recorder: &tr}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if v := validate.Trace(one(1), jobs, nil, tr.events, &o); len(v) > 0 {
		t.Error(v)
	}
	if r := o.Jobs[1]; r.State != Failed || r.Reason != "no such program" || r.FirstStart != Never ||
		r.Finish != 2*time.Second || r.Waiting != 2*time.Second {
		t.Errorf("%+v", r)
	}
	if got := gantt(jobs, tr.events); got != "A |11|\nB |..|\nC | .1|\n" {
		t.Error(got)
	}
}

func TestACancelledRunStopsWhatHasStarted(t *testing.T) {
	jobs := number([]Job{level(1, at(0, 1, 9)), level(0, at(1, 1, 5)), at(2, 1, 1), at(9, 1, 1)})
	jobs[2].Priority = 2
	e := newFlaky(t, jobs)
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel, e.after = cancel, 4 // after the arrivals at 0, 1 and 2
	var tr trace
	o, err := Run{Policy: Policy{Order: Priority, Preemption: PausePreemption}, Cluster: one(1), Jobs: jobs, Engine: e,
		Recorder: &tr}.Execute(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	var states []State
	for _, r := range o.Jobs {
		states = append(states, r.State)
	}
	if want := []State{Stopped, Stopped, Queued, Pending}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	if want := "A |1.|\nB | 1|\nC |  |\nD ||\n"; gantt(jobs, tr.events) != want {
		t.Error(cmp.Diff(want, gantt(jobs, tr.events)))
	}
}

func TestAnEngineThatFailsEndsTheRun(t *testing.T) {
	jobs := number([]Job{at(0, 1, 5), at(1, 1, 1)})
	e := newFlaky(t, jobs)
	e.failPause = errors.New("no such process")
	o, err := Run{Policy: Policy{Order: "srtf"}, Cluster: one(1), Jobs: jobs, Engine: e}.Execute(context.Background())
	if err == nil || err.Error() != `pause job "A": no such process` {
		t.Errorf("error %v", err)
	}
	if o.Jobs[0].State != Stopped {
		t.Errorf("job A is %s", o.Jobs[0].State)
	}
}

func TestEndsThatMakeNoSenseAreErrors(t *testing.T) {
	for want, ends := range map[string]func([]Notice) []Notice{
		"which does not exist": func([]Notice) []Notice { return []Notice{{Kind: JobEnded, Job: 9}} },
		`which is pending`:     func([]Notice) []Notice { return []Notice{{Kind: JobEnded, Job: 1, State: Finished}} },
		"which is not final": func(e []Notice) []Notice {
			for i := range e {
				e[i].State = Running
			}
			return e
		},
		`which is finished`: func(e []Notice) []Notice { return append(e, e...) },
	} {
		jobs := number([]Job{at(0, 1, 1), at(5, 1, 1)})
		e := newFlaky(t, jobs)
		e.ends = ends
		_, err := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: e}.Execute(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// Notices about jobs that do not exist are errors or ignored, and never cause a crash.
func TestNoticesOfNoJob(t *testing.T) {
	for _, kind := range []NoticeKind{JobEnded, PartEnded, JobProgress} {
		for _, job := range []int{-1, 2} {
			jobs := number([]Job{at(0, 1, 1), at(5, 1, 1)})
			e := newFlaky(t, jobs)
			e.ends = func(list []Notice) []Notice { return append(list, Notice{Kind: kind, Job: job, State: Finished}) }
			out, err := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: e}.Execute(context.Background())
			switch {
			case kind != JobProgress && (err == nil || !strings.Contains(err.Error(), "does not exist")):
				t.Errorf("a notice of kind %d of job %d: %v", kind, job, err)
			case kind == JobProgress && (err != nil || out.Jobs[1].State != Finished):
				t.Errorf("progress of job %d: %v, %v", job, err, out.Jobs[1].State)
			}
		}
	}
}

func TestWhatCanNotBeRunIsRefused(t *testing.T) {
	negative := at(0, 1, 1)
	negative.Arrival = -1
	two := Cluster{Nodes: []Node{{Threads: 4, Memory: 10}, {Threads: 2}}}
	for want, r := range map[string]Run{
		`unknown order "lifo"`:         {Policy: Policy{Order: "lifo"}, Cluster: one(1)},
		"needs a quantum":              {Policy: Policy{Order: RoundRobin}, Cluster: one(1)},
		"no node has a core":           {},
		`"B" asks for 5 threads`:       {Cluster: two, Jobs: []Job{at(0, 1, 1), at(0, 5, 1)}},
		"11B":                          {Cluster: two, Jobs: []Job{memory(11, at(0, 4, 1))}},
		"over 2 nodes":                 {Cluster: two, Jobs: []Job{gang(2, at(0, 6, 1))}},
		"divided equally over 2 nodes": {Cluster: two, Jobs: []Job{gang(2, at(0, 3, 1))}},
		"before the start":             {Cluster: two, Jobs: []Job{negative}},
		"no such job":                  {Cluster: two, Resizes: []Resize{{Job: 1, Threads: 1}}},
	} {
		if r.Policy == nil {
			r.Policy = Policy{}
		}
		r.Jobs = number(r.Jobs)
		r.Engine = newFlaky(t, r.Jobs)
		if _, err := r.Execute(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// A rigid job that requests more than the machine has is an error, because it would wait forever. Under a rule that may
// give less than the request, it runs.
func TestMoreThanTheMachineHas(t *testing.T) {
	jobs := number([]Job{at(0, 8, 1)})
	if _, err := (Run{Policy: Policy{}, Cluster: one(4), Jobs: jobs,
		Engine: newFlaky(t, jobs)}).Execute(context.Background()); !errors.Is(err, ErrStuck) {
		t.Errorf("error %v", err)
	}
	o, _ := simulate(t, Run{Policy: Policy{Allocation: AlwaysAttend}, Cluster: one(4), Jobs: jobs}, nil)
	if o.End != 2*time.Second {
		t.Errorf("8 core-seconds take %s on 4 cores", o.End)
	}
	// A request may grow beyond the machine while the job waits. That is found when the job would start.
	jobs = number([]Job{at(0, 4, 2), at(0, 1, 1)})
	r := Run{Policy: Policy{}, Cluster: one(4), Jobs: jobs, Resizes: []Resize{{At: time.Second, Job: 1, Threads: 5}},
		Engine: newFlaky(t, jobs)}
	if _, err := r.Execute(context.Background()); !errors.Is(err, ErrStuck) || !strings.Contains(err.Error(), `job "B" needs 5 cores, 4 are free`) {
		t.Errorf("error %v", err)
	}
}

// Events of one instant are handled in this order: finish, arrival, request, timer. Within a kind they are sorted by
// job. Dispatch follows.
func TestEventsOfAnInstant(t *testing.T) {
	jobs := number([]Job{at(0, 1, 2), at(0, 1, 2), at(0, 1, 9), at(2, 1, 2), at(2, 1, 2)})
	r := Run{Policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": 2 * time.Second}}, Cluster: one(3),
		Jobs: jobs, Resizes: []Resize{{At: 2 * time.Second, Job: 2, Threads: 1}}}
	_, tr := simulate(t, r, nil)
	var got []string
	for _, e := range tr.events {
		if e.At == 2*time.Second {
			got = append(got, e.Kind.String()+" "+jobs[e.Job].Name+" "+e.Cores.String())
		}
	}
	want := []string{"finish A ", "finish B ", "arrive D ", "arrive E ", "request C 2", "start D 0", "start E 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDecisionsSayWhy(t *testing.T) {
	jobs := number([]Job{at(0, 3, 4), at(1, 4, 2), at(2, 1, 6), at(2, 1, 2)})
	_, tr := simulate(t, Run{Policy: Policy{Backfill: EASY}, Cluster: one(4), Jobs: jobs}, nil)
	want := []Decision{
		{At: 0, Kind: Start, Job: 0, Cores: CoreSet{{Lo: 0, Hi: 3}}, Reason: "first in the order"},
		{At: 2 * time.Second, Kind: Start, Job: 3, Cores: CoreSet{{Lo: 3, Hi: 4}}, Reason: "fits while jobs before it wait",
			Passed: []Passed{
				{Job: 1, Reason: "needs 4 cores, 1 are free", Lacks: []cluster.Lack{{What: "cores", Need: 4, Free: 1}}},
				{Job: 2, Reason: `would delay "B", which is to start at 4s`},
			}},
		{At: 4 * time.Second, Kind: Start, Job: 1, Cores: CoreSet{{Lo: 0, Hi: 4}}, Reason: "first in the order"},
		{At: 6 * time.Second, Kind: Start, Job: 2, Cores: CoreSet{{Lo: 0, Hi: 1}}, Reason: "first in the order"},
	}
	if diff := cmp.Diff(want, tr.decisions); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// If many jobs are passed over, the decision names some of them and counts the others.
	many := []Job{at(0, 1, 9)}
	for range 20 {
		many = append(many, at(1, 2, 1))
	}
	many = number(append(many, at(2, 1, 1)))
	_, tr = simulate(t, Run{Policy: Policy{Backfill: FirstFit}, Cluster: one(2), Jobs: many}, nil)
	if d := tr.decisions[1]; len(d.Passed) != MaxPassed || d.PassedMore != 20-MaxPassed {
		t.Errorf("%d named, %d more", len(d.Passed), d.PassedMore)
	}
}

func TestResumedJobsGetTheirCoresBack(t *testing.T) {
	// B and C hold cores 1 and 2 when D pauses them. E takes core 0 from A in the meantime.
	jobs := number([]Job{level(0, at(0, 1, 2)), level(2, at(0, 1, 4)), level(2, at(0, 1, 4)), level(1, at(1, 2, 2))})
	_, tr := simulate(t, Run{Policy: Policy{Order: Priority, Preemption: PausePreemption}, Cluster: one(3), Jobs: jobs},
		nil)
	for _, e := range tr.events {
		if e.Kind == Resume && e.Job == 1 && e.Cores.String() != "0" && e.Cores.String() != "1" {
			t.Errorf("B resumes on %s", e.Cores)
		}
		if e.Kind == Resume && e.Job == 2 && e.Cores.String() != "2" {
			t.Errorf("C resumes on %s", e.Cores)
		}
	}
}

func TestPolicyString(t *testing.T) {
	for _, c := range []struct {
		p    Policy
		text string
	}{
		{Policy{}, "fcfs, strict"},
		{Policy{Order: RoundRobin, Settings: Settings{"quantum": 500 * time.Millisecond}},
			"round_robin, quantum 500ms, strict"},
		{Policy{Order: "srtf", Backfill: EASY}, "srtf, easy backfill, strict, pause longest_run first"},
		{Policy{Order: Priority, Preemption: PausePreemption, Settings: Settings{"feedback": time.Second}},
			"priority, feedback 1s, strict, pause longest_run first"},
		{Policy{Allocation: MaxProp}, "fcfs, max_prop"},
		{Policy{Order: SJF, Placement: "earliest_finish"}, "sjf, conservative backfill, earliest finish, strict"},
		{Policy{Order: AlloX, Settings: Settings{"alpha": 0.3}}, "allox, alpha 0.3, strict"},
	} {
		if got := c.p.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
	}
}
