package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What is learned unit by unit is what Update makes of the units.
func TestLearnedIsUpdate(t *testing.T) {
	e := Estimate{Slope: 2, SlopeSE: 0.2, UnitSD: 0.3, DF: 4, Rho: 0.2, PaceSD: 0.1, Resource: Resource{Threads: 4}, Curve: Curve{Sigma: 0.1}}
	done := []Unit{{{2.1, 4}}, {{1, 4}, {2.5, 2}}, {{3.7, 2}}, {{2.2, 4}}}
	var l Learned
	for _, u := range done {
		l.Add(e, 1, u)
	}
	got, want := e.After(l), e.Update(done)
	near(t, "slope", got.Slope, want.Slope, 1e-12)
	near(t, "standard error", got.SlopeSE, want.SlopeSE, 1e-12)
	near(t, "spread", got.UnitSD, want.UnitSD, 1e-12)
	near(t, "degrees of freedom", got.DF, want.DF, 1e-12)
	if l.Units() != 4 {
		t.Errorf("%d units", l.Units())
	}
}

// Groups of units tell the pace, and without bias the spread of one unit.
func TestLearnedInGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e := Estimate{Slope: 1, Resource: Resource{Threads: 1}} // nothing tells how good it is
	const trials, sd = 4000, 0.2
	var pace, variance float64
	for range trials {
		var l Learned
		for _, n := range []int{1, 2, 4, 8} {
			held := []Held{{0, 1}}
			for range n {
				held[0].Seconds += 3 + sd*r.NormFloat64()
			}
			l.Add(e, n, held)
		}
		u := e.After(l)
		pace += u.Slope / trials
		variance += u.UnitSD * u.UnitSD / trials
	}
	near(t, "pace", pace, 3, 0.01)
	near(t, "spread", math.Sqrt(variance), sd, 0.01)
}
