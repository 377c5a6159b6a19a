package estimator

import (
	"math"
	"testing"
)

// Samples of a slow moment and of a fast one are fitted as at the speed between them, as far as jobs follow the probe.
func TestAtOneSpeed(t *testing.T) {
	sample := func(probe, unit float64) Sample {
		return Sample{Length: 2, Threads: 2, Wall: 2 * unit, Units: []float64{unit, unit}, Startup: unit,
			SpeedProbe: SpeedProbe{Probe: probe, ProbeCores: 2}}
	}
	samples := []Sample{sample(1, 1), sample(4, math.Pow(4, follows)), {Length: 1, Wall: 7}}
	moments := Moments(samples)
	if len(moments) != 2 || math.Abs(Typical(moments, 2)-2) > 1e-12 || Typical(moments, 1) != 0 {
		t.Fatalf("%+v", moments)
	}
	out := AtOneSpeed(samples, moments)
	want := math.Pow(2, follows)
	for i := range 2 {
		if math.Abs(out[i].Wall-2*want) > 1e-9 || math.Abs(out[i].Units[1]-want) > 1e-9 || math.Abs(out[i].Startup-want) > 1e-9 {
			t.Errorf("sample %d: %+v", i, out[i])
		}
	}
	if out[2].Wall != 7 || samples[0].Units[0] != 1 {
		t.Errorf("%+v, of %+v", out[2], samples[0])
	}
	if f := slower(4, 2); math.Abs(f-want) > 1e-12 {
		t.Errorf("at half of the speed %g times as long", f)
	}
	if f := slower(1e9, 1); math.Abs(f-2) > 1e-9 || slower(0, 1) != 1 || slower(1, 0) != 1 {
		t.Errorf("a probe that could not run makes it %g times as long", f)
	}
}
