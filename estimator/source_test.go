package estimator

import (
	"errors"
	"math"
	"testing"
)

func TestSources(t *testing.T) {
	for _, s := range RunTimeSources() {
		origins := 0
		for _, is := range []bool{s.Fitted, s.Asked, s.True} {
			if is {
				origins++
			}
		}
		if origins != 1 {
			t.Errorf("%s has %d origins of its estimates", s.Name, origins)
		}
		if FindSource(s.Name) != s {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
	if FindSource("none") != (RunTimeSource{}) {
		t.Error("an unknown name has a source")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second source of one name was accepted")
		}
	}()
	RegisterSource(RunTimeSource{Name: "fitted", Fitted: true})
}

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
	// Two points determine Amdahl's serial part: 10 s and 6 s are 2 s
	// serial.
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
