package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// If units are reported in groups, the pace is the same and the spread nearly the same as with single units.
func TestLearnedInGroups(t *testing.T) {
	m := machine{r: rand.New(rand.NewPCG(31, 32)), unit: 1, unitSD: 0.1}
	e := Estimate{Slope: 1.5, SlopeSE: 0.3, UnitSD: 0.1, DF: 3, Resource: Resource{Threads: 2}}
	units := m.run(600).Units
	var single, grouped Learned
	for i := 0; i < len(units); i += 3 {
		sum := 0.0
		for _, u := range units[i : i+3] {
			single.Add(e, 1, []Held{{u, 2}})
			sum += u
		}
		grouped.Add(e, 3, []Held{{sum, 2}})
	}
	a, b := e.After(single), e.After(grouped)
	near(t, "pace", b.Slope, a.Slope, 1e-3)
	near(t, "spread", b.UnitSD, a.UnitSD, 0.02)
	if grouped.units != 600 {
		t.Errorf("%g units were seen", grouped.units)
	}
	if got := e.After(Learned{}); got.Slope != e.Slope {
		t.Errorf("nothing seen changes the pace to %g", got.Slope)
	}
	grouped.Add(e, 0, nil)
	if grouped.units != 600 {
		t.Error("no units were counted")
	}
}

// A running job shows how its unit times are correlated. Without this correlation the standard error of the pace would
// be half as large.
func TestLearnedMemory(t *testing.T) {
	for _, rho := range []float64{0, 0.6} {
		m := machine{r: rand.New(rand.NewPCG(33, 34)), unit: 1, unitSD: 0.1, rho: rho}
		var l Learned
		e := Estimate{}
		for _, u := range m.run(500).Units {
			l.Add(e, 1, []Held{{u, 1}})
		}
		if got := e.After(l).Rho; math.Abs(got-rho) > 0.12 {
			t.Errorf("a memory of %g was found to be %g", rho, got)
		}
	}
}
