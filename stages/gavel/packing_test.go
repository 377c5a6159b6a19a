package gavel_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// sharing returns a job with one GPU, its run time alone, and the fractions of speed that it keeps next to jobs of
// other classes.
func sharing(number int, class string, run time.Duration, keeps map[string]float64) (scheduler.Job, simulated.Scaling) {
	j := scheduler.Job{
		Number: number, Name: class + string(rune('0'+number)), Class: class, Threads: 1, GPUs: 1, Deadline: scheduler.Never,
		Special: &scheduler.Special{Alternatives: []scheduler.Alternative{{Name: "gpu", Threads: 1, GPUs: 1, Predicted: run, Beside: keeps}}},
	}
	var work simulated.Scaling
	work.AddAlternative(beside(simulated.FullRequest(run, 1), keeps))
	return j, work
}

func beside(w simulated.Scaling, keeps map[string]float64) simulated.Scaling {
	w.Special = &simulated.Special{Beside: keeps}
	return w
}

func packed() policy.Policy {
	return policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": 10 * time.Second, "packing": true}}
}

// Each of two jobs, of 20 s and 12 s, keeps 0.8 of its speed next to the other: they share the
// GPU until B ends at 12/0.8 = 15 s; A has done 12 s by then, and continues alone.
//
//	GPU 0   A  AAAAAAAAAAAAAAAAAAAAAAA
//	        B  BBBBBBBBBBBBBBB
//	           0        10   15      23
//
// The threads are a thread for each: with one for both, they run by turns.
func TestTwoJobsShareAGPU(t *testing.T) {
	a, workA := sharing(0, "a", 20*time.Second, map[string]float64{"b": 0.8})
	b, workB := sharing(1, "b", 12*time.Second, map[string]float64{"a": 0.8})
	jobs, work := []scheduler.Job{a, b}, []simulated.Scaling{workA, workB}
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "node", Threads: 2, GPUs: 1, GPU: "v100"}}}
	jct, makespan := outcome(t, packed(), c, jobs, work)
	if math.Abs(jct-19) > 1e-6 || math.Abs(makespan-23) > 1e-6 {
		t.Errorf("mean JCT %g s and makespan %g s, want 19 and 23", jct, makespan)
	}
	c.Nodes[0].Threads = 1
	if _, makespan = outcome(t, packed(), c, jobs, work); math.Abs(makespan-32) > 1e-6 {
		t.Errorf("with one thread the makespan is %g s, want 32", makespan)
	}
	c.Nodes[0].Threads = 2
	jobs[1].Alternatives()[0].Beside = nil // the speed next to A is unknown
	if _, makespan = outcome(t, packed(), c, jobs, work); math.Abs(makespan-32) > 1e-6 {
		t.Errorf("of jobs that are not known beside each other the makespan is %g s, want 32", makespan)
	}
}

// A third job arrives at 5 s. C keeps 0.9 of its speed next to A, and A next to C; the speeds of B and C together are
// unknown. From 10 s on, A shares the GPU with C or B in turn, or runs alone. For any length of rounds the trace is
// valid and no work is lost. The jobs would take 62 s one after the other.
func TestPartnersChange(t *testing.T) {
	a, workA := sharing(0, "a", 30*time.Second, map[string]float64{"b": 0.8, "c": 0.9})
	b, workB := sharing(1, "b", 12*time.Second, map[string]float64{"a": 0.8})
	d, workC := sharing(2, "c", 20*time.Second, map[string]float64{"a": 0.9})
	d.Arrival = 5 * time.Second
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "node", Threads: 2, GPUs: 1}}}
	_, makespan := outcome(t, packed(), c, []scheduler.Job{a, b, d}, []simulated.Scaling{workA, workB, workC})
	if makespan > 50 || makespan < 62/1.8 {
		t.Errorf("the makespan is %g s", makespan)
	}
}

// For random jobs on random nodes, each schedule is valid, and each job does all its work in at least its time alone.
func TestPackedSchedulesAreSound(t *testing.T) {
	classes := []string{"a", "b", "c"}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		keeps := map[string]map[string]float64{}
		for _, x := range classes {
			keeps[x] = map[string]float64{}
			for _, y := range classes {
				if rng.IntN(4) > 0 {
					keeps[x][y] = 0.3 + 0.7*rng.Float64()
				}
			}
		}
		var jobs []scheduler.Job
		var work []simulated.Scaling
		for i := range 2 + rng.IntN(8) {
			run := time.Duration(1+rng.IntN(60)) * time.Second
			class := classes[rng.IntN(3)]
			j, w := sharing(i, class, run, keeps[class])
			if i > 0 {
				j.Arrival = jobs[i-1].Arrival + time.Duration(rng.IntN(10))*time.Second
			}
			if n := 1 + rng.IntN(2); n == 2 {
				j.Threads, j.GPUs, j.Alternatives()[0].Threads, j.Alternatives()[0].GPUs = 2, 2, 2, 2
				w.Alternatives()[0] = beside(simulated.FullRequest(run, 2), keeps[class])
			}
			jobs, work = append(jobs, j), append(work, w)
		}
		c := scheduler.Cluster{Nodes: []scheduler.Node{
			{Name: "a", Threads: 2 + rng.IntN(4), GPUs: 2}, {Name: "b", Threads: 1 + rng.IntN(2), GPUs: 1},
		}}
		p := packed()
		if rng.IntN(2) == 0 {
			p.Settings["give_back"] = "at_once"
		}
		outcome(t, p, c, jobs, work)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
