package losscurve

import (
	"math"
	"math/rand/v2"
	"testing"
)

// series returns losses for the steps 1, 2, 3, …
func series(n int, loss func(step float64) float64) []Point {
	points := make([]Point, n)
	for i := range points {
		points[i] = Point{Step: float64(i + 1), Loss: loss(float64(i + 1))}
	}
	return points
}

func forecast(t *testing.T, model string, points []Point, target float64) Forecast {
	t.Helper()
	m, ok := ByName(model)
	if !ok {
		t.Fatalf("no model %q", model)
	}
	f, ok := m.Forecast(points, Ask{Target: target, Level: 0.9, Seed: 1})
	if !ok {
		t.Fatalf("%s: no forecast", model)
	}
	return f
}

// The expected value is computed by hand from SelfTF's formula. It counts steps from the last point.
func TestSelfTFIsItsFormula(t *testing.T) {
	points := series(4, func(k float64) float64 { return []float64{2, 1.5, 1.2, 1}[int(k)-1] })
	xy, xx := 0.0, 0.0
	for _, p := range points {
		x := 1 / p.Loss * math.Log(2/p.Loss)
		xy += x * (p.Step - 1)
		xx += x * x
	}
	want := xy/xx/0.5*math.Log(2/0.5) + 1 - 4
	if got := forecast(t, "selftf", points, 0.5).Steps; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v steps, want %v", got, want)
	}
	// A loss more than three median deviations away is an outlier and is ignored.
	spiked := series(5, func(k float64) float64 { return []float64{2, 1.5, 90, 1.2, 1}[int(k)-1] })
	if got := forecast(t, "selftf", spiked, 0.5).Steps; got > 30 {
		t.Errorf("a spike makes it %v steps", got)
	}
}

// Each law predicts its own curves.
func TestLawsPredictTheirOwnCurves(t *testing.T) {
	for _, c := range []struct {
		model string
		loss  func(k float64) float64
	}{
		{"inverse", func(k float64) float64 { return 1/(0.2*k+0.5) + 0.1 }},
		{"exponential", func(k float64) float64 { return 2*math.Exp(-k/20) + 0.1 }},
		{"trend", func(k float64) float64 { return 2 / k }},
		{"combined", func(k float64) float64 { return 2 / k }},
	} {
		target := c.loss(60)
		f := forecast(t, c.model, series(30, c.loss), target)
		if f.Low/1.1 > 30 || f.High*1.1 < 30 {
			t.Errorf("%s: 30 steps are far outside of %.1f to %.1f", c.model, f.Low, f.High)
		}
	}
}

// On exponential losses the combined model follows the exponential law. At 40% of the run its error is half of the
// error of the trend alone, which extrapolates powers of the step.
func TestCombinedFollowsAnExponentialLaw(t *testing.T) {
	off := map[string]float64{}
	const runs, n, cut = 12, 150, 60
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 1))
		loss := func(k float64) float64 { return 2 * math.Exp(-k/35) }
		points := series(n, func(k float64) float64 { return loss(k) * math.Exp(0.005*r.NormFloat64()) })
		for _, model := range []string{"combined", "trend"} {
			off[model] += math.Abs(forecast(t, model, points[:cut], loss(n)).Steps/(n-cut)-1) / runs
		}
	}
	t.Logf("off by %.0f%%, the trend by %.0f%%", 100*off["combined"], 100*off["trend"])
	if off["combined"] > off["trend"]/2 {
		t.Errorf("off by %.0f%%, the trend by %.0f%%", 100*off["combined"], 100*off["trend"])
	}
}

// A spike in the losses changes the prediction only a little.
func TestTrendWithstandsSpikes(t *testing.T) {
	points := series(40, func(k float64) float64 { return 2 / (k + 1) * math.Exp(0.01*math.Sin(7*k)) })
	plain := forecast(t, "trend", points, 0.02).Steps
	points[30].Loss *= 8
	if spiked := forecast(t, "trend", points, 0.02).Steps; math.Abs(math.Log(spiked/plain)) > 0.3 {
		t.Errorf("%v steps without a spike, %v with one", plain, spiked)
	}
}

func TestEdges(t *testing.T) {
	falling := series(20, func(k float64) float64 { return 2 / k })
	for _, m := range Models() {
		if f := forecast(t, m.Name, falling, 0.5); f != (Forecast{}) {
			t.Errorf("%s: a target that was reached: %+v", m.Name, f)
		}
		if _, ok := m.Forecast(falling[:2], Ask{Target: 0.01, Level: 0.9}); ok {
			t.Errorf("%s: a forecast from two points", m.Name)
		}
		if _, ok := m.Forecast(falling, Ask{Target: 0, Level: 0.9}); ok {
			t.Errorf("%s: a forecast of a loss of 0", m.Name)
		}
		for name, loss := range map[string]func(float64) float64{
			"level":  func(float64) float64 { return 1 },
			"rising": func(k float64) float64 { return 1 + k/100 },
			"NaN": func(k float64) float64 {
				if k == 7 {
					return math.NaN()
				}
				return 1 / k
			},
		} {
			f := forecast(t, m.Name, series(40, loss), 1e-6)
			if math.IsNaN(f.Steps) || f.Steps < 0 || f.Low > f.High || math.IsNaN(f.Never) {
				t.Errorf("%s, %s: %+v", m.Name, name, f)
			}
		}
	}
	// If losses stay constant, the target cannot be reached.
	level, _ := ByName(Default)
	f, _ := level.Forecast(series(60, func(k float64) float64 { return 0.5 + 0.5/k }),
		Ask{Target: 0.01, Level: 0.9, Most: 60})
	if f.Never < 0.9 {
		t.Errorf("chance of never: %v", f.Never)
	}
}

// A forecast is the same for the same points in other units of steps, and for a window with more points than a model
// uses.
func TestForecastsDoNotDependOnUnits(t *testing.T) {
	points := series(50, func(k float64) float64 { return 2 / (k + 3) })
	in := make([]Point, len(points))
	for i, p := range points {
		in[i] = Point{Step: p.Step * 45, Loss: p.Loss}
	}
	a, b := forecast(t, Default, points, 0.01), forecast(t, Default, in, 0.01)
	if math.Abs(b.Steps-45*a.Steps) > 1e-6*b.Steps {
		t.Errorf("%v epochs, but %v steps", a.Steps, b.Steps)
	}
	long := series(5000, func(k float64) float64 { return 2000 / (k + 30) })
	if f := forecast(t, Default, long, 0.25); f.Low > 2700 || f.High < 2700 {
		t.Errorf("of a long window: %+v", f)
	}
}

func TestStepTime(t *testing.T) {
	seconds := make([]float64, 100)
	for i := range seconds {
		seconds[i] = 9
		if i >= 28 {
			seconds[i] = 2
		}
	}
	if got := StepTime(seconds); got != 2 {
		t.Errorf("%v, want the mean of the last 72", got)
	}
	if got := StepTime(nil); got != 0 {
		t.Errorf("%v without steps", got)
	}
}
