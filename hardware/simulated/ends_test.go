package simulated

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// check compares the first of some endings with those that there are, and returns it.
func check(t *testing.T, e *endings, open []end) end {
	t.Helper()
	first, some := e.first()
	if some != (len(open) > 0) || len(e.ends)-e.gone != len(open) || some && !slices.Contains(open, first) {
		t.Fatalf("the first of %v is %v, of %v", e.ends, first, open)
	}
	if some && first.At != slices.MinFunc(open, func(a, b end) int { return cmp.Compare(a.At, b.At) }).At {
		t.Fatalf("the first of %v is %v", open, first)
	}
	return first
}

// TestEndsAreInOrder: ends that are pushed in any order come out by their instants, also when ends are taken out
// meanwhile.
func TestEndsAreInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 1 + rng.IntN(100)
		var h queue.Timers
		e, open := newEndings(n), []end{}
		for job := range n {
			x := end{At: time.Duration(rng.IntN(20)), Of: int32(job)}
			h.Push(x)
			e.push(x)
			open = append(open, x)
			if rng.IntN(3) == 0 {
				i := rng.IntN(len(open))
				e.remove(int(open[i].Of))
				open = slices.Delete(open, i, i+1)
			}
			if rng.IntN(3) == 0 {
				check(t, &e, open)
			}
		}
		last := time.Duration(-1)
		for range n {
			x := h.Pop()
			if x.At < last {
				t.Fatalf("%d comes out after %d", x.At, last)
			}
			last = x.At
		}
		for range len(open) {
			first := check(t, &e, open)
			e.remove(int(first.Of))
			open = slices.DeleteFunc(open, func(x end) bool { return x.Of == first.Of })
		}
		check(t, &e, open)
		if len(open) != 0 || len(h) != 0 {
			t.Fatalf("%v and %v are left", open, h)
		}
	}
}

// Numbers of jobs that there are not are refused, and contention without a law or a cluster.
func TestRefusals(t *testing.T) {
	e := newEngine(t, Options{}, FullRequest(time.Second, 1))
	for _, job := range []int{-1, 1} {
		if e.Stop(job) == nil || e.Start(job, cores(1)) == nil {
			t.Errorf("job %d is stopped or started", job)
		}
	}
	slower := func(held, others, all int) float64 { return 1 }
	for _, c := range []Contention{{}, {Slowdown: slower}} {
		if _, err := New(e.jobs.List, []Scaling{FullRequest(time.Second, 1)}, Options{Contention: &c}); err == nil {
			t.Errorf("contention %+v is accepted", c)
		}
	}
}
