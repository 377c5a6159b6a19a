package gavel_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// roundsLate is an engine with the behavior of a real clock: wake-ups are slightly late.
type roundsLate struct {
	*simulated.Engine
	random *rand.Rand
}

func (l roundsLate) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if until < scheduler.Never {
		until += time.Duration(l.random.Int64N(int64(20 * time.Millisecond)))
	}
	return l.Engine.Next(ctx, until)
}

// said records decisions: the action, its job and its cores.
type said []string

func (*said) Event(*scheduler.Event) {}
func (s *said) Decision(d *scheduler.Decision) {
	*s = append(*s, fmt.Sprintf("%s %d on %s", d.Kind, d.Job, d.Cores))
}

// On a clock that is up to 20 ms late, the policies of rounds make the same decisions as in simulation, because they
// count attained service in whole rounds. No job ends within the compared time.
func TestALateClockChangesNoDecision(t *testing.T) {
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 2}}}
	for _, order := range []policy.Order{"max_min", "water_filling", "max_throughput", "isolated", "fifo"} {
		for seed := range uint64(6) {
			var jobs []scheduler.Job
			var work []simulated.Scaling
			draw := rand.New(rand.NewPCG(seed, 1))
			for i := range 4 + draw.IntN(4) {
				run := time.Hour
				jobs = append(jobs, scheduler.Job{
					Number: i, Name: fmt.Sprint(i), Threads: 1, Predicted: run, Deadline: scheduler.Never,
					Arrival: time.Duration(draw.IntN(3)) * 1500 * time.Millisecond, Special: &scheduler.Special{Weight: float64(1 + draw.IntN(2))},
				})
				work = append(work, simulated.FullRequest(run, 1))
			}
			decide := func(isLate bool) said {
				var s said
				e, err := simulated.New(jobs, work, simulated.Options{})
				if err != nil {
					t.Fatal(err)
				}
				run := scheduler.Run{
					Policy:  policy.Policy{Order: order, Settings: policy.Settings{"rounds": time.Second}},
					Cluster: cluster, Jobs: jobs, Engine: e, Recorder: &s, Until: 40500 * time.Millisecond,
				}
				if isLate {
					run.Engine = roundsLate{e, rand.New(rand.NewPCG(seed, 2))}
				}
				if _, err := run.Execute(context.Background()); err != nil {
					t.Fatal(err)
				}
				return s
			}
			punctual, real := decide(false), decide(true)
			// Late rounds delay later rounds, so fewer rounds fit into the time.
			n := min(len(punctual), len(real))
			if n < 3 || n < len(punctual)-12 || !slices.Equal(punctual[:n], real[:n]) {
				t.Fatalf("%s, seed %d:\n%q\n%q", order, seed, punctual, real)
			}
		}
	}
}

// Rounds of 10 s on two GPUs, and divisions that are at least so far apart; A comes at 1 and runs for 25 s, the others
// for 10 s.
//
//	40 s   A 1-26; B comes at 5, and waits though a GPU is idle. At 26 nothing runs and nobody is to come: B 26-36
//	40 s   with C, who comes at 100: B waits for the division that is made then: B, C 100-110
//	20 s   A 1-26; at 26 nobody is there, which counts as a division; B comes at 30, C at 50: B, C 50-60
//	40 s   B comes at the instant at which A ends, as the last: B 26-36
func TestJobsWaitForADivision(t *testing.T) {
	for _, c := range []struct {
		recompute, jct, makespan float64
		arrivals                 []time.Duration
	}{
		{40, (25 + 31) / 2.0, 35, []time.Duration{1, 5}},
		{40, (25 + 105 + 10) / 3.0, 109, []time.Duration{1, 5, 100}},
		{20, (25 + 30 + 10) / 3.0, 59, []time.Duration{1, 30, 50}},
		{40, (25 + 10) / 2.0, 35, []time.Duration{1, 26}},
	} {
		var jobs []scheduler.Job
		var work []simulated.Scaling
		for i, at := range c.arrivals {
			run := 10 * time.Second
			if i == 0 {
				run = 25 * time.Second
			}
			jobs = append(jobs, scheduler.Job{
				Number: i, Name: fmt.Sprint(i), Threads: 1, GPUs: 1, Predicted: run, Deadline: scheduler.Never,
				Arrival: at * time.Second,
			})
			work = append(work, simulated.FullRequest(run, 1))
		}
		p := policy.Policy{Order: "isolated", Settings: policy.Settings{
			"rounds": 10 * time.Second, "recompute": time.Duration(c.recompute) * time.Second,
		}}
		cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "node", Threads: 2, GPUs: 2}}}
		jct, makespan := outcome(t, p, cluster, jobs, work)
		if math.Abs(jct-c.jct) > 1e-6 || math.Abs(makespan-c.makespan) > 1e-6 {
			t.Errorf("arrivals %v: mean JCT %g s, makespan %g s; want %g and %g", c.arrivals, jct, makespan, c.jct, c.makespan)
		}
	}
}

// TestMovesAreNoStandstill has jobs that a blind policy moves between types at each round. After a move to the slow
// type a job needs more time, but it still makes progress. With six jobs and six devices of each type, no job ever
// waits.
func TestMovesAreNoStandstill(t *testing.T) {
	var jobs []scheduler.Job
	var work []simulated.Scaling
	for i := range 6 {
		var ways []simulated.Scaling
		j := scheduler.Job{Number: i, Name: fmt.Sprint(i), Threads: 1, GPUs: 1, Deadline: scheduler.Never}
		for way, gpu := range []string{"old", "new"} {
			run := []time.Duration{200000 * time.Second, 10000 * time.Second}[way]
			j.Own().Alternatives = append(j.Alternatives(), scheduler.Alternative{Name: gpu, Threads: 1, GPUs: 1, GPU: gpu, Predicted: run})
			ways = append(ways, simulated.FullRequest(run, 1))
		}
		jobs, work = append(jobs, j), append(work, simulated.Scaling{Special: &simulated.Special{Alternatives: ways}})
	}
	p := policy.Policy{Order: "isolated", Settings: policy.Settings{"rounds": 10 * time.Second, "blind": "new"}}
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{
		{Name: "old", Threads: 6, GPUs: 6, GPU: "old"}, {Name: "new", Threads: 6, GPUs: 6, GPU: "new"},
	}}
	// Half of the time on each type does 1/20000 + 1/400000 of the work per second.
	if jct, _ := outcome(t, p, cluster, jobs, work); jct < 18000 || jct > 20000 {
		t.Errorf("a mean JCT of %g s, want about 19048", jct)
	}
}
