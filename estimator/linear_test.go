package estimator

import (
	"math"
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
	if p.Low >= 48 || p.Low < 25 { // equal times do not make the interval narrower than the prior's
		t.Errorf("the interval is %g to %g", p.Low, p.High)
	}
}

// A slow first unit is a fixed cost, and does not change the pace of the job.
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

// A first unit that is only a little slower may be slower by chance, so it counts like the other units.
func TestLinearKeepsTheFirstUnit(t *testing.T) {
	e, err := Linear{}.Fit(Problem{Samples: []Sample{
		{Length: 2, Wall: 0.5 + 2.1, Units: []float64{1.1, 1}},
		{Length: 2, Wall: 0.5 + 2.1, Units: []float64{1.1, 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1.05, 1e-12)
	near(t, "intercept", e.Intercept, 0.5, 1e-12)
}

// Samples of one and two units must not give a narrow interval for eight units. In the second case, one of the units
// takes three times as long as the others.
func TestLinearFromOneUnitAndTwo(t *testing.T) {
	for _, samples := range [][]Sample{
		{{Length: 1, Wall: 0.05, Units: []float64{0.05}}},
		{{Length: 1, Wall: 0.05, Units: []float64{0.05}}, {Length: 2, Wall: 0.2, Units: []float64{0.05, 0.15}}},
	} {
		e, err := Linear{}.Fit(Problem{Samples: samples})
		if err != nil {
			t.Fatal(err)
		}
		p := e.Predict(8, 0.9)
		if p.Seconds > 0.9 || p.Low > 0.75*p.Seconds || p.High < 1.25*p.Seconds || len(samples) == 2 && (p.Low > 0.5 || p.High < 0.9) {
			t.Errorf("%d samples: %.3g s, %.3g to %.3g", len(samples), p.Seconds, p.Low, p.High)
		}
	}
}

// If samples of other jobs on the machine vary, the interval of a job is wide even if its own samples agree.
func TestSpreadOfOtherJobsCounts(t *testing.T) {
	job := []Sample{{Length: 2, Wall: 2, Units: []float64{1, 1}}, {Length: 2, Wall: 2, Units: []float64{1, 1}}}
	uneven := []Sample{{Length: 1, Wall: 1, Units: []float64{1}}, {Length: 1, Wall: 2, Units: []float64{2}}}
	width := func(s Spread) float64 {
		e, err := Linear{}.Fit(Problem{Samples: job, Spread: s})
		if err != nil {
			t.Fatal(err)
		}
		w, ofSamples := e.Width(100)
		if ofSamples <= 0 || ofSamples >= 1 {
			t.Errorf("%g of the variance is of the samples", ofSamples)
		}
		return w
	}
	steady, unsteady := width(SpreadOf([][]Sample{job, job, job})), width(SpreadOf([][]Sample{uneven, uneven, uneven}))
	if alone := width(Spread{}); steady >= alone || unsteady < 1.3*alone {
		t.Errorf("half widths of %g alone, %g on a steady machine, %g on an unsteady one", alone, steady, unsteady)
	}
	if s := SpreadOf([][]Sample{nil, {{Length: 3, Wall: 1}}}); s != (Spread{}) {
		t.Errorf("samples without units show a spread: %+v", s)
	}
}

// For a program that reports no units, the start-up is between zero and nearly all of the shortest sample. Two wall
// times, of which the second one was disturbed, do not show that there is no start-up.
func TestLinearFromWall(t *testing.T) {
	fit := func(lengthsAndWalls ...float64) Estimate {
		t.Helper()
		e, err := Linear{}.Fit(Problem{Samples: walls(lengthsAndWalls...)})
		if err != nil {
			t.Fatal(err)
		}
		if e.Intercept < 0 || e.Slope < 0 || e.DF <= 0 {
			t.Errorf("intercept %g, slope %g: a time below zero", e.Intercept, e.Slope)
		}
		return e
	}
	if e := fit(10, 3, 20, 5, 40, 9, 80, 17); math.Abs(e.Slope-0.2) > 0.02 || math.Abs(e.Intercept-1) > 0.4 {
		t.Errorf("%g s and %g s a unit", e.Intercept, e.Slope)
	}
	if p := fit(1, 0.62, 2, 1.59).Predict(8, 0.9); p.Low > 0.2+8*0.45 || p.High < 8*0.75 {
		t.Errorf("%.3g s, %.3g to %.3g", p.Seconds, p.Low, p.High)
	}
	// Samples of a single length do not show how much of the time is start-up.
	if p := fit(1, 2, 1, 4).Predict(3, 0.9); p.Low > 5 || p.High < 9 {
		t.Errorf("of one length: %.3g s, %.3g to %.3g", p.Seconds, p.Low, p.High)
	}
}

func TestLinearNoSamples(t *testing.T) {
	if _, err := (Linear{}).Fit(Problem{}); err == nil {
		t.Error("no samples were fitted without an error")
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
