package main

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/hardware"
)

// An interrupt does not change the measured speed, but a core that is always slow does. The returned error is the
// uncertainty of the speed.
func TestSpeedOf(t *testing.T) {
	steady := speedOf([][]float64{{1, 1, 1, 9, 1}})
	if steady != (Speed{Cores: 1, Seconds: 1}) {
		t.Errorf("%+v", steady)
	}
	if s := speedOf([][]float64{{1, 1, 1}, {2, 2, 2}}); s.Seconds != 1.5 || s.Cores != 2 {
		t.Errorf("%+v", s)
	}
	wide := speedOf([][]float64{{0.8, 0.9, 1, 1.1, 1.2}})
	if want := 1.2533 * 0.1 / 0.6745 / math.Sqrt(5); math.Abs(wide.Error-want) > 1e-12 {
		t.Errorf("an error of %g, want %g", wide.Error, want)
	}
}

// A fact whose values before and after the run differ is unknown.
func TestUntil(t *testing.T) {
	got := Speed{Cores: 2, Seconds: 1, Error: 0.3}.Until(Speed{Cores: 2, Seconds: 2, Error: 0.4})
	if got.Cores != 2 || got.Seconds != 1.5 || math.Abs(got.Error-math.Hypot(0.25, 0.5)) > 1e-12 {
		t.Errorf("%+v", got)
	}
}

func TestProbeSpeed(t *testing.T) {
	for _, cores := range []int{0, 1, len(hardware.AllowedCPUs()), 1 << 20} {
		s := ProbeSpeed(cores)
		if s.Cores < 1 || s.Cores > len(hardware.AllowedCPUs()) || s.Cores > max(1, cores) || s.Seconds <= 0 || s.Error < 0 {
			t.Errorf("on %d cores: %+v", cores, s)
		}
	}
}

func BenchmarkProbeSpeed(b *testing.B) {
	for b.Loop() {
		ProbeSpeed(2)
	}
}
