package estimator

import (
	"errors"
	"math"
	"testing"
)

// TestFitCurve finds the curve that run times were made from.
func TestFitCurve(t *testing.T) {
	for _, want := range []Curve{{Sigma: 0.25}, {Sigma: 0.05}, {Sigma: 0.1, Kappa: 0.02}} {
		threads := []int{1, 2, 3, 4, 6, 8, 12}
		var seconds []float64
		for _, n := range threads {
			seconds = append(seconds, 30/want.Speedup(float64(n)))
		}
		got, one, err := FitCurve(threads, seconds)
		if err != nil || math.Abs(one-30) > 0.6 {
			t.Errorf("%+v: %g s on one thread, want 30 (%v)", want, one, err)
		}
		for n := 1.0; n <= 12; n++ {
			if a, b := got.Speedup(n), want.Speedup(n); math.Abs(a-b) > 0.03*b {
				t.Errorf("%+v on %g threads: %g, want %g (fitted %+v)", want, n, a, b, got)
			}
		}
	}
	// Two points tell Amdahl's serial part: 10 s and 6 s are 2 s serial.
	if got, _, err := FitCurve([]int{1, 2}, []float64{10, 6}); err != nil || got.Kappa != 0 ||
		math.Abs(got.Sigma-0.2) > 0.02 {
		t.Errorf("two points: %+v, %v", got, err)
	}
	for _, threads := range [][]int{{2}, {2, 2}, {0, 1}} {
		if _, _, err := FitCurve(threads, []float64{1, 1}[:len(threads)]); !errors.Is(err, ErrUnfit) {
			t.Errorf("%v: error %v", threads, err)
		}
	}
}
