package scheduler_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// crowding is a slowdown that grows faster than the load by neighbors, and that is greater for small jobs.
func crowding(own, others, cores int) float64 {
	u := float64(others) / float64(cores)
	return 1 + u*u + u/float64(own)
}

// Under contention and any policy, a finished job has done exactly its work. Its progress is added up over the trace,
// at the speed that its neighbors allow.
func TestContentionConservesWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		r := Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs, Resizes: drawResizes(t, jobs)}
		out, tr := execute(t, r, work, simulated.Options{Contention: &simulated.Contention{Slowdown: crowding, Cluster: c}})
		for _, v := range validate.Trace(c, jobs, r.Resizes, tr.events, &out) {
			t.Errorf("%s: %s", r.Policy, v)
		}
		nodeOf := []int{}
		for v, n := range c.Nodes {
			for range n.Threads {
				nodeOf = append(nodeOf, v)
			}
		}
		done := make([]float64, len(jobs)) // by job: the completed fraction of its work
		held := make([]CoreSet, len(jobs))
		ended := make([]bool, len(jobs))
		now := time.Duration(0)
		for _, e := range tr.events {
			busy := make([]int, len(c.Nodes))
			for _, cores := range held {
				cores.Each(func(core int) { busy[nodeOf[core]]++ })
			}
			for j, cores := range held {
				if cores.Count() == 0 {
					continue
				}
				own := make([]int, len(c.Nodes))
				cores.Each(func(core int) { own[nodeOf[core]]++ })
				slow := 1.0
				for v, n := range own {
					if n > 0 {
						slow = max(slow, crowding(n, busy[v]-n, c.Nodes[v].Threads))
					}
				}
				done[j] += (e.At - now).Seconds() / slow / max(work[j].RunTime(cores.Count()).Seconds(), 1e-9)
			}
			now = e.At
			switch e.Kind {
			case Start, Pause, Resume, ResizeJob:
				held[e.Job] = e.Cores
			case Finish:
				held[e.Job], ended[e.Job] = nil, true
			}
		}
		for j := range jobs {
			if work[j].Scaled > 0 && math.Abs(done[j]-1) > 1e-6 || !ended[j] {
				t.Errorf("%s: job %d has done %v of its work", r.Policy, j, done[j])
			}
		}
	})
}

// With a slowdown of 1, simulating contention does not change a run.
func TestNoSlowdownIsNoContention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		r := Run{Policy: drawPolicy(t), Cluster: c, Jobs: jobs, Resizes: drawResizes(t, jobs)}
		none := func(int, int, int) float64 { return 1 }
		o := simulated.Options{Noise: 0.3, Seed: 5,
			Overheads: simulated.Overheads{Start: 7e6, Pause: 1e6, Resume: 2e6, Resize: 3e6}}
		plain, _ := execute(t, r, work, o)
		o.Contention = &simulated.Contention{Slowdown: none, Cluster: c}
		clocked, _ := execute(t, r, work, o)
		for j := range jobs {
			if plain.Jobs[j] != clocked.Jobs[j] {
				t.Errorf("%s: job %d: %+v without, %+v with clocks", r.Policy, j, plain.Jobs[j], clocked.Jobs[j])
			}
		}
	})
}
