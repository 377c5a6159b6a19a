package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %g, want %g ± %g", what, got, want, tol)
	}
}

func TestLinearFromUnits(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{
		{Length: 2, Wall: 1.5, Units: []float64{0.5, 0.5}},
		{Length: 4, Wall: 2.5, Units: []float64{0.5, 0.5, 0.5, 0.5}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 0.5, 1e-12)
	near(t, "intercept", e.Intercept, 0.5, 1e-12)
	p := e.Predict(100, 0.9)
	near(t, "prediction", p.Seconds, 50.5, 1e-9)
	if p.Low >= 50.5 || p.Low < 45 { // equal times do not contradict the usual spread
		t.Errorf("the interval is %g to %g", p.Low, p.High)
	}
}

// A slow first unit is a fixed cost, not the pace of the job.
func TestLinearWarmup(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{
		{Length: 4, Wall: 0.2 + 3 + 3, Units: []float64{3, 1, 1, 1}},
		{Length: 4, Wall: 0.2 + 3 + 3, Units: []float64{3, 1, 1, 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1, 1e-12)
	near(t, "intercept", e.Intercept, 2.2, 1e-9)
	near(t, "prediction of the sample itself", e.Predict(4, 0.9).Seconds, 6.2, 1e-9)
}

// A first unit that is slower by a little is as fixed a cost as one that is
// slower by much: the samples here are of a job whose first unit takes a tenth
// longer, and 60 of its units take 60 and not 61.5.
func TestLinearSlightWarmup(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{
		{Length: 2, Wall: 0.5 + 2.1, Units: []float64{1.1, 1}},
		{Length: 4, Wall: 0.5 + 4.1, Units: []float64{1.1, 1, 1, 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1, 1e-12)
	near(t, "intercept", e.Intercept, 0.6, 1e-12)
	near(t, "prediction", e.Predict(60, 0.9).Seconds, 60.6, 1e-9)
}

// Samples of one unit have nothing but first units.
func TestLinearFirstUnitsAlone(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{{Length: 1, Wall: 1.2, Units: []float64{1}},
		{Length: 1, Wall: 1.2, Units: []float64{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1, 1e-12)
	near(t, "intercept", e.Intercept, 0.2, 1e-12)
	near(t, "degrees of freedom", e.DF, 1, 0)
}

// First units take 3 and 3.2 s (mean 3.1, squared deviations 0.02), the later
// one 1 s: the spread is √(0.02 / 1), and not that between warm-up and pace.
func TestLinearSpreadLeavesOutTheWarmup(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{{Length: 1, Wall: 3, Units: []float64{3}},
		{Length: 2, Wall: 4.2, Units: []float64{3.2, 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1, 1e-12)
	near(t, "intercept", e.Intercept, 2.1, 1e-12)
	near(t, "spread", e.UnitSD, math.Sqrt(0.02), 1e-12)
	near(t, "error of the slope", e.SlopeSE, math.Sqrt(0.02), 1e-12)
	near(t, "degrees of freedom", e.DF, 1, 0)
}

func TestLinearFromWall(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{{Length: 10, Wall: 3}, {Length: 20, Wall: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 0.2, 1e-12)
	near(t, "intercept", e.Intercept, 1, 1e-12)
	// Two points give no spread: the prior spread of any machine is used.
	if p := e.Predict(100, 0.9); p.Low >= p.Seconds*0.95 || p.Low < p.Seconds/2 {
		t.Errorf("the interval is %g to %g", p.Low, p.High)
	}
}

func TestLinearFromWallNeverBelowZero(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{{Length: 1, Wall: 1}, {Length: 2, Wall: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Intercept < 0 || e.Slope < 0 {
		t.Errorf("intercept %g, slope %g: a time below zero", e.Intercept, e.Slope)
	}
}

func TestLinearOneLength(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{{Length: 1, Wall: 2}, {Length: 1, Wall: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "prediction", e.Predict(3, 0.9).Seconds, 9, 1e-12)
}

func TestLinearNoSamples(t *testing.T) {
	if _, err := (Linear{}).Fit(Problem{}); err == nil {
		t.Error("no samples were fitted without an error")
	}
}

// The 90% interval has its nominal coverage when unit times are independent.
func TestLinearCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	unit := func() float64 { return 10 + 1.5*r.NormFloat64() }
	sample := func(n int) Sample {
		s := Sample{Length: n, Wall: 30}
		for range n {
			u := unit()
			s.Units = append(s.Units, u)
			s.Wall += u
		}
		return s
	}
	const trials, length = 2000, 100
	covered := 0
	for range trials {
		e, err := Linear{}.Fit(Problem{Samples: []Sample{sample(3), sample(6)}})
		if err != nil {
			t.Fatal(err)
		}
		actual := sample(length).Wall
		if p := e.Predict(length, 0.9); p.Low <= actual && actual <= p.High {
			covered++
		}
	}
	if share := float64(covered) / trials; share < 0.85 || share > 0.95 {
		t.Errorf("the 90%% interval covers %.1f%%", 100*share)
	}
}

func TestByName(t *testing.T) {
	for _, n := range Names() {
		if m, err := ByName(n); err != nil || m.Name() != n {
			t.Errorf("ByName(%q) = %v, %v", n, m, err)
		}
	}
	if _, err := ByName("cubic"); err == nil {
		t.Error("an unknown model was accepted")
	}
}
