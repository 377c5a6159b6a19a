package simulated

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// check compares the first ending with the expected ones, and returns it.
func check(t *testing.T, e *endings, open []ending) ending {
	t.Helper()
	var first ending
	next := e.first()
	some := next != nil
	if some {
		first = *next
	}
	if some != (len(open) > 0) || len(e.ends)-e.gone != len(open) || some && !slices.Contains(open, first) {
		t.Fatalf("the first of %v is %v, of %v", e.ends, first, open)
	}
	if some && first.at != slices.MinFunc(open, func(a, b ending) int { return cmp.Compare(a.at, b.at) }).at {
		t.Fatalf("the first of %v is %v", open, first)
	}
	return first
}

// TestEndsAreInOrder: ends that are pushed in any order come out by their instants, also when ends are taken out
// meanwhile. There are as many slots as ends at a time.
func TestEndsAreInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 1 + rng.IntN(100)
		var h queue.Timers
		e, open, most := newEndings(), []ending{}, 0
		for job := range n {
			at := time.Duration(rng.IntN(20))
			h.Push(end{At: at, Of: int32(job)})
			open = append(open, ending{at, int32(job), e.push(at, int32(job))})
			most = max(most, len(open))
			if rng.IntN(3) == 0 {
				i := rng.IntN(len(open))
				e.remove(open[i].slot)
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
			e.remove(first.slot)
			open = slices.DeleteFunc(open, func(x ending) bool { return x == first })
		}
		check(t, &e, open)
		if len(open) != 0 || len(h) != 0 || len(e.place) != most+1 {
			t.Fatalf("%v and %v are left, and %d slots of %d", open, h, len(e.place)-1, most)
		}
	}
}

// Unknown job numbers are refused, and contention without a slowdown or a cluster.
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
