package simulated

import (
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Random jobs start, pause, resize and stop on some nodes. A job must end when its progress, at its speed among its
// neighbors, has reached all of its work.
func TestContentionAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c scheduler.Cluster
		var total int32
		for range rapid.IntRange(1, 4).Draw(t, "nodes") {
			n := rapid.IntRange(0, 4).Draw(t, "cores")
			c.Nodes = append(c.Nodes, scheduler.Node{Threads: n})
			total += int32(n)
		}
		if total == 0 {
			t.Skip("no cores")
		}
		nodeOf := func(core int32) int {
			for v, n := range c.Nodes {
				if core -= int32(n.Threads); core < 0 {
					return v
				}
			}
			return -1
		}
		jobs := rapid.IntRange(1, 5).Draw(t, "jobs")
		work, left := make([]Scaling, jobs), make([]float64, jobs)
		numbered := make([]scheduler.Job, jobs)
		for i := range work {
			left[i] = float64(rapid.IntRange(1, 20).Draw(t, "work"))
			work[i] = FullRequest(time.Duration(left[i])*s, 1)
			work[i].Parallel = 0 // as fast on any number of cores
			numbered[i] = scheduler.Job{Number: i, Name: string(rune('a' + i)), Threads: 1}
		}
		slowdown := func(own, others, cores int) float64 {
			return 1 + 0.3*float64(others) + 0.01*float64(own*others) + 0.1*float64(min(others, 1)*cores)
		}
		e, err := New(numbered, work, Options{Contention: &Contention{Slowdown: slowdown, Cluster: c}})
		if err != nil {
			t.Fatal(err)
		}
		held := make([]scheduler.CoreSet, jobs) // nil if the job does not run
		state := make([]string, jobs)
		now := 0.0
		speed := func(job int) float64 {
			slow := 1.0
			own, others := make([]int, len(c.Nodes)), make([]int, len(c.Nodes))
			for i, set := range held {
				set.Each(func(core int) {
					if i == job {
						own[nodeOf(int32(core))]++
					} else {
						others[nodeOf(int32(core))]++
					}
				})
			}
			for v, n := range own {
				if n > 0 {
					slow = max(slow, slowdown(n, others[v], c.Nodes[v].Threads))
				}
			}
			return 1 / slow
		}
		// pass lets jobs progress until a time, while their speeds do not change.
		pass := func(to float64) {
			done := make([]float64, jobs)
			for i := range held {
				if held[i] != nil {
					done[i] = (to - now) * speed(i)
				}
			}
			for i := range held {
				left[i] -= done[i]
			}
			now = to
		}
		grant := func() (g scheduler.Grant) {
			lo := int32(rapid.IntRange(0, int(total)-1).Draw(t, "first core"))
			hi := int32(rapid.IntRange(int(lo)+1, int(total)).Draw(t, "last core"))
			g.Cores = scheduler.CoreSet{{Lo: lo, Hi: hi}}
			if lo > 1 && rapid.Bool().Draw(t, "in two") {
				g.Cores = scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: lo, Hi: hi}}
			}
			return g
		}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			job, g := rapid.IntRange(0, jobs-1).Draw(t, "job"), grant()
			var err error
			switch state[job] {
			case "":
				err, state[job], held[job] = e.Start(job, g), "runs", g.Cores
			case "paused":
				err, state[job], held[job] = e.Resume(job, g), "runs", g.Cores
			case "runs":
				switch rapid.SampledFrom([]string{"pause", "resize", "stop"}).Draw(t, "what") {
				case "pause":
					err, state[job], held[job] = e.Pause(job), "paused", nil
				case "resize":
					err, held[job] = e.Resize(job, g), g.Cores
				case "stop":
					err, state[job], held[job] = e.Stop(job), "over", nil
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			to := now + float64(rapid.IntRange(0, 5).Draw(t, "later"))
			for {
				at, ended, err := e.Next(context.Background(), time.Duration(math.Round(to*1e9)))
				if err != nil {
					t.Fatal(err)
				}
				pass(at.Seconds())
				for _, n := range ended {
					if n.State == scheduler.Finished {
						if math.Abs(left[n.Job]) > 1e-6 {
							t.Fatalf("job %d ends at %s with %g s of its work left", n.Job, at, left[n.Job])
						}
						state[n.Job], held[n.Job] = "over", nil
					}
				}
				if at.Seconds() >= to-1e-9 {
					break
				}
			}
			for i := range left {
				if left[i] < -1e-6 {
					t.Fatalf("at %g job %d has done %g s too much", now, i, -left[i])
				}
			}
		}
	})
}

// After many changes of a few jobs, outdated entries are removed, because they would cost time.
func TestOvertakenEndsAreForgotten(t *testing.T) {
	e := crowded(t, []int{8}, FullRequest(1000*s, 2), FullRequest(2000*s, 2))
	must(t, e.Start(0, span(0, 2)))
	must(t, e.Start(1, span(2, 4)))
	at := time.Duration(0)
	for i := range 2000 {
		must(t, e.Resize(1, span(2, 3+int32(i%3))))
		at += time.Millisecond
		until(t, e, at, at)
		if n := len(e.crowd.next); n > 64+8*e.crowd.live+2 {
			t.Fatalf("%d ends are kept for %d groups", n, e.crowd.live)
		}
	}
}

// Requests about jobs that do not exist, or at the wrong time, are errors.
func TestMisuseOfChanges(t *testing.T) {
	e := newEngine(t, Options{}, FullRequest(s, 1), FullRequest(s, 1))
	w := FullRequest(2*s, 1)
	for _, job := range []int{-1, 2} {
		if err := e.Change(job, &w); err == nil {
			t.Errorf("job %d was changed", job)
		}
		if err := e.Restart(job); err == nil {
			t.Errorf("job %d was started anew", job)
		}
	}
	if err := e.Change(0, &w); err == nil {
		t.Error("a job was changed that nobody attends to")
	}
	for _, n := range [][2]int{{1, 2}, {2, 1}, {3, 3}} {
		if err := e.Attend(make([]bool, n[0]), make([]int, n[1]), nil); err == nil {
			t.Errorf("%d jobs with %d units are attended to", n[0], n[1])
		}
	}
	must(t, e.Attend(make([]bool, 2), []int{1, 1}, nil))
	for _, job := range []int{-1, 2} {
		if err := e.Change(job, &w); err == nil {
			t.Errorf("job %d was changed", job)
		}
	}
	bad := FullRequest(-s, 1)
	if err := e.Change(0, &bad); err == nil {
		t.Error("a negative run time is accepted")
	}
	must(t, e.Change(0, &w)) // before it starts
	must(t, e.Restart(0))    // does nothing
	must(t, e.Start(0, cores(1)))
	must(t, e.Start(1, cores(1)))
	until(t, e, scheduler.Never, s, 1)
	must(t, e.Change(0, &Scaling{Scaled: 4 * s, Threads: 1})) // half of the work is done, so 2 of 4 s are left
	until(t, e, scheduler.Never, 3*s, 0)
}

// Times that exceed the longest duration become the longest duration.
func TestStretchIsBounded(t *testing.T) {
	const most = time.Duration(math.MaxInt64)
	for _, c := range []struct {
		d        time.Duration
		from, to float64
		want     time.Duration
	}{{s, 1, 2, s / 2}, {s, 3, 3, s}, {0, 1, 0, 0}, {most, 2, 1, most}, {most / 2, 4, 1, most}, {1, 1e300, 1e-300, most}} {
		if got := stretch(c.d, c.from, c.to); got != c.want {
			t.Errorf("%d from %g to %g: %d, want %d", c.d, c.from, c.to, got, c.want)
		}
	}
	if never := scheduler.Never; scheduler.Plus(5, never-5) != never || scheduler.Plus(6, never-5) != never || scheduler.Plus(1, 2) != 3 {
		t.Error("later is not bounded by Never")
	}
}

// Two jobs on one GPU keep half and a quarter of their speeds. A begins at 0, B at 2 s; A has done 2 s alone and needs
// 16 s for the other 8, in which B does 4 of its 10 s; the last 6 it does alone, and ends at 24 s.
func TestSharedGPUs(t *testing.T) {
	work := []Scaling{FullRequest(10*s, 1), FullRequest(10*s, 1), FullRequest(10*s, 1)}
	work[0].Special = &Special{Beside: map[string]float64{"y": 0.5}}
	work[1].Special = &Special{Beside: map[string]float64{"x": 0.25}}
	jobs := []scheduler.Job{{Name: "a", Class: "x", Threads: 1, GPUs: 1}, {Number: 1, Name: "b", Class: "y", Threads: 1, GPUs: 1},
		{Number: 2, Name: "c", Class: "z", Threads: 1, GPUs: 1}}
	on := func(core int32) scheduler.Grant {
		return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: core, Hi: core + 1}}, GPUs: scheduler.CoreSet{{Lo: 0, Hi: 1}}}
	}
	e, err := New(jobs, work, Options{})
	must(t, err)
	must(t, e.Start(0, on(0)))
	until(t, e, 2*s, 2*s)
	unknown := on(2)
	unknown.Beside = &cluster.Beside{Job: 0}
	if err := e.Start(2, unknown); err == nil {
		t.Error("jobs share a GPU of which nobody knows how fast they are beside each other")
	}
	beside := on(1)
	beside.Beside = &cluster.Beside{Job: 0}
	must(t, e.Start(1, beside))
	until(t, e, scheduler.Never, 18*s, 0)
	until(t, e, scheduler.Never, 24*s, 1)
}
