package hardware

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Of two cores, jobs keep one busy, and other programs half a one in the first second, none in the second, and 0.2 of
// one then. The looks come late.
func TestTakenWatch(t *testing.T) {
	var used, own float64
	watch := func() *TakenWatch {
		return &TakenWatch{
			source: func() (float64, float64) { return used, own }, stop: make(chan struct{}), every: time.Second,
		}
	}
	w := watch()
	for _, l := range []struct{ at, used, own float64 }{
		{0, 100, 50}, {1, 101.5, 51}, {2.25, 102.8, 52.25}, {2.5, 103.1, 52.5}, {3.5, 104.3, 53.5},
	} {
		used, own = l.used, l.own
		w.look(time.Duration(l.at * float64(time.Second)))
	}
	every, cores := w.End()
	want := []float64{0.5, 0.04, 0.16}
	for i := range want {
		if len(cores) != len(want) || every != time.Second || math.Abs(cores[i]-want[i]) > 1e-9 {
			t.Fatalf("%v each %s, want %v", cores, every, want)
		}
	}
	w, used, own = watch(), 0, 0
	for n := range mostLooks {
		w.look(time.Duration(n) * time.Second)
		used += 0.25
	}
	if every, cores := w.End(); every != 2*time.Second || len(cores) != mostLooks/2-1 || cores[17] != 0.25 {
		t.Errorf("%d stretches of %s: %v", len(cores), every, cores)
	}
	w, used, own = watch(), 0, 0
	w.look(0)
	used = math.NaN() // for a moment
	w.look(time.Second)
	used = 1
	w.look(2 * time.Second)
	if _, cores := w.End(); !slices.Equal(cores, []float64{0.5, 0.5}) {
		t.Errorf("with a look that saw nothing: %v", cores)
	}
	w, used = watch(), math.NaN()
	w.look(0)
	w.look(time.Hour)
	if _, cores := w.End(); cores != nil {
		t.Errorf("of an unknown load: %v", cores)
	}
	if _, cores := (*TakenWatch)(nil).End(); cores != nil {
		t.Errorf("of no watch: %v", cores)
	}
}
