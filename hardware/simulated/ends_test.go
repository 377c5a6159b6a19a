package simulated

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// check compares the first of some endings with those that there are, and returns it.
func check(t *testing.T, e *endings, open []end) end {
	t.Helper()
	first, some := e.first()
	if some != (len(open) > 0) || len(e.ends)-e.gone != len(open) || some && !slices.Contains(open, first) {
		t.Fatalf("the first of %v is %v, of %v", e.ends, first, open)
	}
	if some && first.at != slices.MinFunc(open, func(a, b end) int { return cmp.Compare(a.at, b.at) }).at {
		t.Fatalf("the first of %v is %v", open, first)
	}
	return first
}

// TestEndsAreInOrder: what is pushed in any order comes out by its instant, also when ends are taken out meanwhile.
func TestEndsAreInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 1 + rng.IntN(100)
		var h ends
		e, open := newEndings(n), []end{}
		for job := range n {
			x := end{time.Duration(rng.IntN(20)), int32(job)}
			h.push(x)
			e.push(x)
			open = append(open, x)
			if rng.IntN(3) == 0 {
				i := rng.IntN(len(open))
				e.remove(int(open[i].job))
				open = slices.Delete(open, i, i+1)
			}
			if rng.IntN(3) == 0 {
				check(t, &e, open)
			}
		}
		last := time.Duration(-1)
		for range n {
			x := h.pop()
			if x.at < last {
				t.Fatalf("%d comes out after %d", x.at, last)
			}
			last = x.at
		}
		for range len(open) {
			first := check(t, &e, open)
			e.remove(int(first.job))
			open = slices.DeleteFunc(open, func(x end) bool { return x.job == first.job })
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
		if _, err := New(e.jobs, []Scaling{FullRequest(time.Second, 1)}, Options{Contention: &c}); err == nil {
			t.Errorf("contention %+v is accepted", c)
		}
	}
}
