package scheduler_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

func drawPolicy(t *rapid.T) Policy {
	p := Policy{
		Order: rapid.SampledFrom([]Order{FCFS, RoundRobin, Priority, SJF, "srtf", "las", "edf", "fair", "srsf", "gittins", "mlfq",
			PriorityTurns}).Draw(t, "order"),
		Backfill:   rapid.SampledFrom([]Backfill{NoBackfill, FirstFit, EASY, "conservative"}).Draw(t, "backfill"),
		Allocation: rapid.SampledFrom([]Allocation{Strict, AlwaysAttend, MaxProp}).Draw(t, "allocation"),
		Preemption: rapid.SampledFrom([]Preemption{NoPreemption, PausePreemption}).Draw(t, "preemption"),
		Victims:    rapid.SampledFrom([]VictimRule{LongestRun, SmallestRequest, Worst}).Draw(t, "victims"),
		Settings:   Settings{"quantum": time.Duration(rapid.IntRange(1, 5).Draw(t, "quantum")) * time.Second},
	}
	if rapid.Bool().Draw(t, "feedback") {
		p.Settings["feedback"] = time.Duration(rapid.IntRange(1, 9).Draw(t, "interval")) * time.Second
	}
	if slices.Contains([]Order{"srtf", "las", "srsf", "gittins", "mlfq"}, p.Order) {
		p.Preemption = PausePreemption // these require pausing
	}
	if p.Order == "mlfq" {
		p.Settings["quanta"] = []string{"1s", "3s"}
	}
	if p.Pauses() && p.Order != "mlfq" && p.Order != PriorityTurns && rapid.Bool().Draw(t, "replan") {
		p.Backfill, p.Allocation, p.Settings["replan"] = FirstFit, Strict, true
	}
	return p
}

func drawCluster(t *rapid.T) Cluster {
	var c Cluster
	for range rapid.IntRange(1, 3).Draw(t, "nodes") {
		c.Nodes = append(c.Nodes, Node{
			Threads: rapid.IntRange(1, 9).Draw(t, "threads"),
			GPUs:    rapid.IntRange(0, 2).Draw(t, "gpus"),
			Memory:  int64(rapid.SampledFrom([]int{0, 10, 20}).Draw(t, "memory")),
		})
	}
	return c
}

// drawJobs draws jobs. Each job fits on the cluster.
func drawJobs(t *rapid.T, c Cluster, plain bool) ([]Job, []simulated.Scaling) {
	n := rapid.IntRange(1, 12).Draw(t, "jobs")
	jobs := make([]Job, n)
	work := make([]simulated.Scaling, n)
	for i := range jobs {
		node := c.Nodes[rapid.IntRange(0, len(c.Nodes)-1).Draw(t, "fits on")]
		j := Job{
			Arrival:  time.Duration(rapid.IntRange(0, 12).Draw(t, "arrival")) * time.Second,
			Threads:  rapid.IntRange(1, node.Threads).Draw(t, "threads"),
			Priority: rapid.IntRange(0, 3).Draw(t, "priority"),
			Deadline: Never,
		}
		run := time.Duration(rapid.IntRange(0, 9).Draw(t, "run")) * time.Second
		j.Predicted = max(run, 1)
		if !plain {
			j.Malleable = rapid.Bool().Draw(t, "malleable")
			j.MinThreads = rapid.IntRange(0, j.Threads).Draw(t, "min")
			if rapid.Bool().Draw(t, "has max") {
				j.MaxThreads = j.Threads + rapid.IntRange(0, 4).Draw(t, "max")
			}
			j.GPUs = rapid.IntRange(0, node.GPUs).Draw(t, "gpus")
			if node.Memory > 0 {
				j.Memory = int64(rapid.IntRange(0, int(node.Memory)).Draw(t, "memory"))
			}
			j.User = rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user")
			if rapid.Bool().Draw(t, "deadline") {
				j.Deadline = j.Arrival + time.Duration(rapid.IntRange(1, 20).Draw(t, "deadline in"))*time.Second
			}
			if rapid.IntRange(0, 3).Draw(t, "wrong estimate") == 0 {
				j.Predicted = time.Duration(rapid.IntRange(0, 9).Draw(t, "estimate")) * time.Second
			}
			if fits := schedulertest.GangNodes(c, j); fits > 1 && rapid.IntRange(0, 2).Draw(t, "gang") == 0 {
				j.Nodes = rapid.IntRange(2, fits).Draw(t, "gang of")
				j.Threads *= j.Nodes
				j.GPUs *= j.Nodes
				j.MinThreads, j.MaxThreads = 0, 0
			}
		}
		jobs[i] = j
		work[i] = simulated.Scaling{Scaled: run, Threads: j.Threads,
			Parallel: 0.5 + 0.5*float64(rapid.IntRange(0, 1).Draw(t, "parallel"))}
	}
	return number(jobs), work
}

func drawResizes(t *rapid.T, jobs []Job) []Resize {
	var out []Resize
	for range rapid.IntRange(0, 4).Draw(t, "resizes") {
		j := rapid.IntRange(0, len(jobs)-1).Draw(t, "resized")
		if jobs[j].Nodes > 1 {
			continue
		}
		out = append(out, Resize{
			At:  time.Duration(rapid.IntRange(0, 20).Draw(t, "at")) * time.Second,
			Job: j, Threads: rapid.IntRange(1, jobs[j].Threads).Draw(t, "to"),
		})
	}
	return out
}

func execute(t *rapid.T, r Run, work []simulated.Scaling, o simulated.Options) (Outcome, *trace) {
	engine, err := simulated.New(r.Jobs, work, o)
	if err != nil {
		t.Fatal(err)
	}
	var tr trace
	if r.Policy == nil {
		r.Policy = Policy{}
	}
	r.Engine, r.Recorder = engine, &tr
	out, err := r.Execute(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", r.Policy, err)
	}
	return out, &tr
}

// Under any policy, on any cluster, the trace is valid, all jobs finish, and the same seed gives the same trace.
func TestAnyRunIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		p := drawPolicy(t)
		r := Run{Policy: p, Cluster: c, Jobs: jobs, Resizes: drawResizes(t, jobs)}
		o := simulated.Options{Seed: rapid.Int64().Draw(t, "seed")}
		if rapid.Bool().Draw(t, "noisy") {
			o.Noise, o.Overheads = 0.2, simulated.Overheads{Start: 7e6, Pause: 1e6, Resume: 2e6, Resize: 3e6}
		}
		out, tr := execute(t, r, work, o)
		for _, v := range validate.Trace(c, jobs, r.Resizes, tr.events, &out) {
			t.Errorf("%s: %s", r.Policy, v)
		}
		for i, res := range out.Jobs {
			if res.State != Finished {
				t.Errorf("job %d is %s", i, res.State)
			}
			if p.Allocation == Strict && len(r.Resizes) == 0 && res.Cores != jobs[i].Threads {
				t.Errorf("strict grants %d of %d cores", res.Cores, jobs[i].Threads)
			}
		}
		again, tr2 := execute(t, r, work, o)
		if !reflect.DeepEqual(tr.events, tr2.events) || !reflect.DeepEqual(out, again) ||
			!reflect.DeepEqual(tr.decisions, tr2.decisions) {
			t.Errorf("%s: the same seed gives another trace", r.Policy)
		}
	})
}

// FCFS without backfill starts jobs in their order.
func TestFCFSStartsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		r := Run{Policy: Policy{Allocation: rapid.SampledFrom([]Allocation{Strict, AlwaysAttend, MaxProp}).Draw(t,
			"allocation")}, Cluster: c, Jobs: jobs}
		_, tr := execute(t, r, work, simulated.Options{})
		last := -1
		for _, e := range tr.events {
			if e.Kind != Start {
				continue
			}
			if last >= 0 && (jobs[e.Job].Arrival < jobs[last].Arrival || jobs[e.Job].Arrival == jobs[last].Arrival &&
				e.Job < last) {
				t.Errorf("job %d starts after job %d", e.Job, last)
			}
			last = e.Job
		}
	})
}

// With exact estimates, EASY never delays the first blocked job. A job becomes first at some time. From then on it
// starts no later than if no job behind it were started.
func TestEASYNeverDelaysTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(2, 9).Draw(t, "cores")
		jobs, work := drawJobs(t, one(cores), true)
		_, tr := execute(t, Run{Policy: Policy{Backfill: EASY}, Cluster: one(cores), Jobs: jobs}, work, simulated.Options{})

		// The test replays the run. At each time it computes the reservation of the first waiting job from the true
		// ends of running jobs. While the same job is first, the reservation may only move earlier.
		ends := make([]time.Duration, len(jobs))
		running := map[int]bool{}
		var waiting []int
		first, reserved := -1, Never
		for i := 0; i < len(tr.events); {
			now := tr.events[i].At
			for ; i < len(tr.events) && tr.events[i].At == now; i++ {
				switch e := tr.events[i]; e.Kind {
				case Arrive:
					waiting = append(waiting, e.Job)
				case Start:
					waiting = slices.DeleteFunc(waiting, func(j int) bool { return j == e.Job })
					running[e.Job] = true
					ends[e.Job] = now + work[e.Job].Scaled
				case Finish:
					delete(running, e.Job)
				}
			}
			if len(waiting) == 0 {
				first, reserved = -1, Never
				continue
			}
			at := earliest(cores, jobs, running, ends, jobs[waiting[0]].Threads, now)
			if waiting[0] == first && at > reserved {
				t.Fatalf("at %s the reservation of job %d moves from %s to %s", now, first, reserved, at)
			}
			first, reserved = waiting[0], at
		}
	})
}

// earliest returns the time from which the given number of cores is free if nothing else starts.
func earliest(cores int, jobs []Job, running map[int]bool, ends []time.Duration, need int,
	now time.Duration) time.Duration {
	var at []time.Duration
	free := cores
	for j := range jobs {
		if running[j] {
			at = append(at, ends[j])
			free -= jobs[j].Threads
		}
	}
	slices.Sort(at)
	if free >= need {
		return now
	}
	for _, end := range at {
		sum := free
		for j := range jobs {
			if running[j] && ends[j] <= end {
				sum += jobs[j].Threads
			}
		}
		if sum >= need {
			return end
		}
	}
	return Never
}

// With preemption no priority inversion lasts beyond the next event: no waiting job could start if all jobs with a
// lower priority were paused.
func TestNoPriorityInversion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(1, 6).Draw(t, "cores")
		jobs, work := drawJobs(t, one(cores), true)
		r := Run{Policy: Policy{Order: Priority, Preemption: PausePreemption,
			Victims: rapid.SampledFrom([]VictimRule{LongestRun, SmallestRequest}).Draw(t, "victims")}, Cluster: one(cores),
			Jobs: jobs}
		_, tr := execute(t, r, work, simulated.Options{})
		running, waiting := map[int]bool{}, map[int]bool{}
		for i, e := range tr.events {
			switch e.Kind {
			case Arrive, Pause:
				delete(running, e.Job)
				waiting[e.Job] = true
			case Start, Resume:
				delete(waiting, e.Job)
				running[e.Job] = true
			case Finish:
				delete(running, e.Job)
			}
			if i+1 < len(tr.events) && tr.events[i+1].At == e.At {
				continue
			}
			best := -1 // the first in the order; all jobs behind it wait for it
			for j := range jobs {
				if waiting[j] && (best < 0 || before(jobs, j, best)) {
					best = j
				}
			}
			if best < 0 {
				continue
			}
			room := cores
			for j := range jobs {
				if running[j] && jobs[j].Priority <= jobs[best].Priority {
					room -= jobs[j].Threads
				}
			}
			if room >= jobs[best].Threads {
				t.Fatalf("at %s job %d waits, and could start if worse ones paused", e.At, best)
			}
		}
	})
}

func before(jobs []Job, a, b int) bool {
	x, y := jobs[a], jobs[b]
	if x.Priority != y.Priority {
		return x.Priority < y.Priority
	}
	return x.Arrival < y.Arrival || x.Arrival == y.Arrival && a < b
}

// On one core, round robin serves every waiting job within as many quanta as there are jobs.
func TestRoundRobinServesWithinARound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, work := drawJobs(t, one(1), true)
		quantum := time.Duration(rapid.IntRange(1, 4).Draw(t, "quantum")) * time.Second
		_, tr := execute(t, Run{Policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": quantum}}, Cluster: one(1),
			Jobs: jobs}, work, simulated.Options{})
		since := map[int]time.Duration{}
		for _, e := range tr.events {
			switch e.Kind {
			case Arrive, Pause:
				since[e.Job] = e.At
			case Start, Resume:
				if waited := e.At - since[e.Job]; waited > time.Duration(len(jobs))*quantum {
					t.Errorf("job %d waits %s among %d jobs with a quantum of %s", e.Job, waited, len(jobs), quantum)
				}
			}
		}
	})
}

// On one core, the mean JCT under SRTF is at most that under FCFS.
func TestSRTFIsNotWorseThanFCFS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs, work := drawJobs(t, one(1), true)
		mean := func(o Order) (sum time.Duration) {
			out, _ := execute(t, Run{Policy: Policy{Order: o}, Cluster: one(1), Jobs: jobs}, work, simulated.Options{})
			for i, r := range out.Jobs {
				sum += r.Finish - jobs[i].Arrival
			}
			return sum
		}
		if s, f := mean("srtf"), mean(FCFS); s > f {
			t.Errorf("the JCTs add up to %s under SRTF and %s under FCFS", s, f)
		}
	})
}

// With exact predictions, conservative backfill equals placing jobs one by one, in order of arrival, into the earliest
// sufficient gap of the schedule so far.
func TestConservativeFillsTheEarliestGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(1, 9).Draw(t, "cores")
		jobs, work := drawJobs(t, one(cores), true)
		for i := range jobs {
			work[i].Scaled = max(work[i].Scaled, time.Second)
			jobs[i].Predicted = work[i].Scaled
		}
		slices.SortStableFunc(jobs, func(a, b Job) int { return int(a.Arrival - b.Arrival) })
		for i := range jobs {
			jobs[i].Number = i
			work[i] = simulated.FullRequest(jobs[i].Predicted, jobs[i].Threads)
		}
		out, _ := execute(t, Run{Policy: Policy{Backfill: "conservative"}, Cluster: one(cores), Jobs: jobs}, work,
			simulated.Options{})
		used := make([]int, 1000) // cores used in each second
		for i, j := range jobs {
			length := int(j.Predicted / time.Second)
			at := int(j.Arrival / time.Second)
			for slices.Max(used[at:at+length])+j.Threads > cores {
				at++
			}
			for s := range length {
				used[at+s] += j.Threads
			}
			if want := time.Duration(at) * time.Second; out.Jobs[i].FirstStart != want {
				t.Fatalf("job %d starts at %s, the earliest gap is at %s", i, out.Jobs[i].FirstStart, want)
			}
		}
	})
}
