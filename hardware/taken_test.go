package hardware

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Of two cores, jobs keep one busy, and other programs half a one in the first second, none in the second.
func TestTakenWatch(t *testing.T) {
	began := time.Now()
	var used, own float64
	w := &TakenWatch{source: func() (float64, float64) { return used, own }, stop: make(chan struct{}), every: TakenEvery}
	w.look(began)
	used, own = 1.5, 1
	w.look(began.Add(time.Second))
	used, own = 2.5, 2
	w.look(began.Add(2 * time.Second))
	used, own = 3.4, 3 // the kernel counts in ticks
	w.look(began.Add(3 * time.Second))
	if every, cores := w.End(); every != TakenEvery || !slices.Equal(cores, []float64{0.5, 0, 0}) {
		t.Errorf("%v each %s", cores, every)
	}
	for n := 4; n <= mostTaken; n++ {
		used, own = used+2, own+1
		w.look(began.Add(time.Duration(n) * time.Second))
	}
	every, cores := w.End()
	if every != 2*TakenEvery || len(cores) != mostTaken/2 || cores[0] != 0.25 || cores[9] != 1 {
		t.Errorf("%d stretches of %s: %v", len(cores), every, cores)
	}
	used = math.NaN()
	w.look(w.began.Add(every))
	if _, cores := w.End(); cores != nil {
		t.Errorf("of an unknown load: %v", cores)
	}
	if _, cores := (*TakenWatch)(nil).End(); cores != nil {
		t.Errorf("of no watch: %v", cores)
	}
}
