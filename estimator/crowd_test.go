package estimator

import (
	"math"
	"testing"
)

// With any number of measurements, the law fits them, and is plausible for other crowds.
func TestFitSlowed(t *testing.T) {
	if law := FitSlowed(nil); law != (Contention{}) || law.Slowdown(1, 1, 2) != 1 {
		t.Errorf("of nothing: %+v", law)
	}
	for _, times := range []float64{1, 1.1, 1.3, 1.9} {
		law := FitSlowed([]Slowed{{Own: 1, Others: 1, Total: 2, Times: times}})
		if got := law.Slowdown(1, 1, 2); math.Abs(got/times-1) > 0.04 {
			t.Errorf("measured %g, the law says %g (%+v)", times, got, law)
		}
		if got := law.Slowdown(2, 0, 2); got != 1 {
			t.Errorf("a job alone is slowed down %g times", got)
		}
	}
	truth := Contention{Serial: 0.05, Capacity: 0.6, Sharpness: 3}
	var measured []Slowed
	for _, own := range []float64{1, 2, 4} {
		measured = append(measured, Slowed{own, 16 - own, 16, truth.Slowdown(own, 16-own, 16)})
	}
	law := FitSlowed(measured)
	for _, others := range []float64{2, 6, 10, 14} {
		if got, want := law.Slowdown(2, others, 16), truth.Slowdown(2, others, 16); math.Abs(got/want-1) > 0.1 {
			t.Errorf("beside %g cores the law says %.3f, it is %.3f", others, got, want)
		}
	}
}

// Copies are compared with the job alone by their units, or by the whole time of samples of one length, at one speed of
// the machine.
func TestSideBySide(t *testing.T) {
	crowd := Sample{Length: 3, Threads: 1, Wall: 6, Units: []float64{3, 1.5, 1.5}, Others: 1, Total: 2}
	alone := []Sample{{Length: 3, Threads: 1, Wall: 4, Units: []float64{9, 1, 1}},
		{Length: 3, Threads: 2, Units: []float64{7, 7, 7}}}
	if got, ok := SideBySide(alone, crowd); !ok || got != (Slowed{1, 1, 2, 1.5}) {
		t.Errorf("by units: %+v, %v", got, ok)
	}
	alone[0].Units = nil
	if got, ok := SideBySide(alone, crowd); !ok || got.Times != 1.5 {
		t.Errorf("by the whole time: %+v, %v", got, ok)
	}
	alone[0].Length = 2
	if got, ok := SideBySide(alone, crowd); ok {
		t.Errorf("samples of other lengths are compared: %+v", got)
	}
}
