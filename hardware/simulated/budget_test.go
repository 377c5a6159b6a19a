package simulated

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// withBudgets returns an engine whose jobs have the given budgets. A budget of 0 means no limit,
// and a budget of one nanosecond an empty budget.
func withBudgets(t *testing.T, o Options, work []Scaling, budgets ...time.Duration) *Engine {
	t.Helper()
	jobs := make([]scheduler.Job, len(work))
	for i := range jobs {
		jobs[i] = scheduler.Job{Number: i, Name: string(rune('a' + i))}
		if b := budgets[i]; b > 0 {
			b--
			jobs[i].Own().Budget = &b
		}
	}
	e, err := New(jobs, work, o)
	must(t, err)
	return e
}

// A budget limits service time. Overheads count, and pauses do not. Neither threads nor neighbors make it longer.
func TestBudgets(t *testing.T) {
	s := func(n float64) time.Duration { return time.Duration(n*1e9) + 1 }
	long := Scaling{Scaled: 100 * time.Second, Parallel: 1}
	t.Run("pause and resize", func(t *testing.T) {
		e := withBudgets(t, Options{Overheads: Overheads{Start: time.Second, Resume: time.Second}}, []Scaling{long}, s(10))
		must(t, e.Start(0, cores(1)))
		until(t, e, 4*time.Second, 4*time.Second)
		must(t, e.Pause(0))
		until(t, e, 9*time.Second, 9*time.Second)
		must(t, e.Resume(0, cores(2)))
		until(t, e, 11*time.Second, 11*time.Second)
		must(t, e.Resize(0, cores(4)))
		until(t, e, scheduler.Never, 15*time.Second, 0)
	})
	t.Run("work that ends before", func(t *testing.T) {
		e := withBudgets(t, Options{}, []Scaling{{Scaled: 3 * time.Second}, long, {Scaled: 2 * time.Second}}, s(10), s(4), 0)
		for i := range 3 {
			must(t, e.Start(i, cores(1)))
		}
		until(t, e, scheduler.Never, 2*time.Second, 2)
		until(t, e, scheduler.Never, 3*time.Second, 0)
		until(t, e, scheduler.Never, 4*time.Second, 1)
	})
	t.Run("none at all", func(t *testing.T) {
		e := withBudgets(t, Options{}, []Scaling{long}, 1)
		must(t, e.Start(0, cores(1)))
		until(t, e, scheduler.Never, 0, 0)
	})
	t.Run("paused when others go on", func(t *testing.T) {
		e := withBudgets(t, Options{}, []Scaling{long, long}, s(5), s(8))
		must(t, e.Start(0, cores(1)))
		must(t, e.Start(1, cores(1)))
		until(t, e, 3*time.Second, 3*time.Second)
		must(t, e.Pause(0))
		until(t, e, scheduler.Never, 8*time.Second, 1)
		must(t, e.Resume(0, cores(1)))
		until(t, e, scheduler.Never, 10*time.Second, 0)
	})
	t.Run("neighbors", func(t *testing.T) {
		cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 4}}}
		half := func(_, others, _ int) float64 {
			if others > 0 {
				return 2
			}
			return 1
		}
		e := withBudgets(t, Options{Contention: &Contention{Cluster: cluster, Slowdown: half}},
			[]Scaling{long, {Scaled: 2 * time.Second}}, s(5), 0)
		must(t, e.Start(0, cores(1)))
		must(t, e.Start(1, scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 1, Hi: 2}}}))
		until(t, e, scheduler.Never, 4*time.Second, 1) // at half its speed
		until(t, e, scheduler.Never, 5*time.Second, 0)
	})
}
