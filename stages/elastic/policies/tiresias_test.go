package policies_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// elasticLate is an engine that reports wakeups a little late, by different times, as real engines do.
type elasticLate struct {
	*simulated.Engine
	by    time.Duration
	count int
}

func (l *elasticLate) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if until != scheduler.Never {
		until += l.by * time.Duration(2-l.count%3)
		l.count++
	}
	return l.Engine.Next(ctx, until)
}

// arrival is a job of one core or GPU.
type arrival struct{ at, run time.Duration }

// run returns when each job ends, rounded to 10 ms.
func run(t *testing.T, arrivals []arrival, node scheduler.Node, by time.Duration, s policy.Settings) []time.Duration {
	t.Helper()
	jobs := make([]scheduler.Job, len(arrivals))
	work := make([]simulated.Scaling, len(arrivals))
	for i, a := range arrivals {
		jobs[i] = scheduler.Job{
			Number: i, Name: fmt.Sprintf("j-%d", i), Arrival: a.at, Threads: 1, GPUs: node.GPUs, Deadline: scheduler.Never,
		}
		work[i] = simulated.FullRequest(a.run, 1)
	}
	e, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s["rounds"] = time.Second
	out, err := scheduler.Run{
		Policy: policy.Policy{Order: "tiresias", Settings: s}, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{node}},
		Jobs: jobs, Engine: &elasticLate{Engine: e, by: by},
	}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]time.Duration, len(jobs))
	for i := range ends {
		ends[i] = out.Jobs[i].Finish.Round(10 * time.Millisecond)
	}
	return ends
}

const ms = time.Millisecond

// TestTiresiasByHand runs jobs on one core, or one GPU, in rounds of 1 s. Jobs go to the second queue after 2 s:
//
//	without promotion  a a s t a u v w a      a is paused at 5 for u, which came at 4.1
//	with promotion     a a s t a a u v w      at 4, a has waited as long as it ran, and goes to the first queue
func TestTiresiasByHand(t *testing.T) {
	arrivals := []arrival{
		{0, 3250 * ms}, {100 * ms, 500 * ms}, {200 * ms, 500 * ms}, {4100 * ms, 500 * ms}, {4200 * ms, 500 * ms},
		{4300 * ms, 500 * ms},
	}
	for _, c := range []struct {
		promotion float64
		want      []time.Duration
	}{
		{0, []time.Duration{8250 * ms, 2500 * ms, 3500 * ms, 5500 * ms, 6500 * ms, 7500 * ms}},
		{1, []time.Duration{5250 * ms, 2500 * ms, 3500 * ms, 6500 * ms, 7500 * ms, 8500 * ms}},
	} {
		for _, node := range []scheduler.Node{{Threads: 1}, {Threads: 1, GPUs: 1}} {
			// A real engine is asked some milliseconds after the start of a round: a job's
			// service counts in whole rounds, so the decisions equal the simulation's.
			for _, by := range []time.Duration{0, ms, 2 * ms} {
				got := run(t, arrivals, node, by, policy.Settings{"demotion": 2 * time.Second, "promotion": c.promotion})
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("promotion %v, %d GPUs, %v late: jobs end at %v, want %v", c.promotion, node.GPUs, by, got, c.want)
				}
			}
		}
	}
}

// TestTiresiasCountsWaitingInBothQueues, as its authors' simulator does. Two cores, rounds of 1 s; demotion at 5
// core-seconds, promotion after waiting as long as running. X, of 3.9 s on one core, comes first, B, of 10 s on two, at
// 0.1 s, and S, of 5.5 s on one, at 0.2 s. At 4 s B goes before S, which came later; at 7 s B goes to the second queue, at
// 9 s S, behind B. S waited from 4 to 7 s and from 9 to 11 s, as long as it ran: it is first again. In the second queue
// alone it would have waited until 14 s.
//
//	t:  0 1 2 3 4 5 6 7 8 9 10 11 12 …
//	    X X X X B B B S S B B  S  B
//	      S S S B B B     B B     B
func TestTiresiasCountsWaitingInBothQueues(t *testing.T) {
	seconds := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	runs := []time.Duration{seconds(3.9), seconds(10), seconds(5.5)}
	jobs := make([]scheduler.Job, 3)
	work := make([]simulated.Scaling, 3)
	for i, threads := range []int{1, 2, 1} {
		jobs[i] = scheduler.Job{Number: i, Name: fmt.Sprint(i), Arrival: seconds(0.1 * float64(i)), Threads: threads,
			Deadline: scheduler.Never}
		work[i] = simulated.FullRequest(runs[i], threads)
	}
	e, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{
		Policy: policy.Policy{Order: "tiresias", Settings: policy.Settings{
			"rounds": time.Second, "demotion": 5 * time.Second, "promotion": 1.0,
		}},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2}}}, Jobs: jobs, Engine: e,
	}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{3.9, 17, 11.5} {
		if got := out.Jobs[i].Finish; got != seconds(want) {
			t.Errorf("job %d ends at %s, want %g s", i, got, want)
		}
	}
}

// TestTiresiasTakesAnyType: a job that runs on two types of GPU, 10 s on a V100 and 15 s on a K80, does not wait for the
// faster one.
//
//	t:     0         10   15
//	V100:  A A A A A A
//	K80:   B B B B B B B B B
func TestTiresiasTakesAnyType(t *testing.T) {
	fast, slow := 10*time.Second, 15*time.Second
	jobs := make([]scheduler.Job, 2)
	work := make([]simulated.Scaling, len(jobs))
	for i := range jobs {
		jobs[i] = scheduler.Job{
			Number: i, Name: fmt.Sprintf("j-%d", i), Threads: 1, GPUs: 1, Deadline: scheduler.Never,
			Special: &scheduler.Special{Alternatives: []scheduler.Alternative{
				{Name: "V100", Threads: 1, GPUs: 1, GPU: "V100", Predicted: fast},
				{Name: "K80", Threads: 1, GPUs: 1, GPU: "K80", Predicted: slow},
			}},
		}
		work[i].Special = &simulated.Special{
			Alternatives: []simulated.Scaling{simulated.FullRequest(fast, 1), simulated.FullRequest(slow, 1)},
		}
	}
	e, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{
		Policy: policy.Policy{Order: "tiresias", Settings: policy.Settings{"rounds": time.Second}},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{
			{Name: "new", Threads: 1, GPUs: 1, GPU: "V100"}, {Name: "old", Threads: 1, GPUs: 1, GPU: "K80"},
		}},
		Jobs: jobs, Engine: e,
	}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := out.Jobs[0].Finish, out.Jobs[1].Finish; a != fast || b != slow {
		t.Errorf("the jobs end after %s and %s, want %s and %s", a, b, fast, slow)
	}
}

// TestElasticAPausedJobKeepsItsMemory: A and B need 6 of 10 bytes each, and C needs 4. B arrives at 0.5 s, and A is
// demoted at 2 s. A is not paused for B: a paused job keeps its memory, so B could not start. C arrives at 4.5 s, takes
// 1 s, and fits next to A's memory.
//
//	t:  0 1 2 3 4 5 6 7 8 9 10 11
//	    A A A A A C A A A A A  B B B
func TestElasticAPausedJobKeepsItsMemory(t *testing.T) {
	jobs := make([]scheduler.Job, 3)
	work := make([]simulated.Scaling, 3)
	for i, run := range []time.Duration{10 * time.Second, 3 * time.Second, time.Second} {
		jobs[i] = scheduler.Job{Number: i, Name: fmt.Sprint(i), Arrival: []time.Duration{0, 500 * ms, 4500 * ms}[i], Threads: 1,
			Memory: []int64{6, 6, 4}[i], Deadline: scheduler.Never}
		work[i] = simulated.FullRequest(run, 1)
	}
	e, err := simulated.New(jobs, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := scheduler.Run{
		Policy:  policy.Policy{Order: "tiresias", Settings: policy.Settings{"rounds": time.Second, "demotion": 2 * time.Second}},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1, Memory: 10}}}, Jobs: jobs, Engine: e, Until: time.Minute,
	}.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{11 * time.Second, 14 * time.Second, 6 * time.Second} {
		if got := out.Jobs[i].Finish; got != want {
			t.Errorf("job %d ends at %s, want %s", i, got, want)
		}
	}
}

// TestNoJobOfAnyMemoryStarves: under any order, on one or several nodes, every job ends.
func TestElasticNoJobOfAnyMemoryStarves(t *testing.T) {
	for _, order := range []policy.Order{"optimus", "pollux", "sia", "tiresias"} {
		for n := range uint64(40) {
			out, _ := onCores(t, order, rand.New(rand.NewPCG(n, 43)), policy.Settings{"fairness": -0.5, "unserved": 1.1,
				"demotion": 20 * time.Second, "promotion": float64(n % 3), "restart_delay": time.Duration(0)})
			for i, j := range out.Jobs {
				if j.State != scheduler.Finished {
					t.Errorf("%s, %d: job %d is %s", order, n, i, j.State)
				}
			}
		}
	}
}
