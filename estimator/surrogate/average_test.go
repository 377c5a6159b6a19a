package surrogate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// With few observations of random functions, 90% intervals of averaged expectations contain 85 to 95% of further
// observations. Intervals from a single fit contain fewer.
func TestAveragedExpectationsHold(t *testing.T) {
	held, alone, n := 0.0, 0.0, 0.0
	for draw := range uint64(60) {
		r := rand.New(rand.NewPCG(draw, 3))
		slope, wave, both := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		phase, speed := 6*r.Float64(), 1+4*r.Float64()
		observe := func(at []float64) float64 {
			return slope*at[0] + wave*math.Sin(speed*at[1]+phase) + both*at[0]*at[2] + 0.05*r.NormFloat64()
		}
		var x, points [][]float64
		var y []float64
		for range 8 {
			x = append(x, []float64{r.Float64(), r.Float64(), r.Float64()})
			y = append(y, observe(x[len(x)-1]))
		}
		for range 20 {
			points = append(points, []float64{r.Float64(), r.Float64(), r.Float64()})
		}
		p, err := New(x, y, Options{Additive: additive})
		if err != nil {
			t.Fatal(err)
		}
		mean, sd := p.Expect(points)
		fit, fitSD := p.Predict(points)
		noise := p.scale * p.hyper.Noise
		for k, at := range points {
			v := observe(at)
			n++
			if math.Abs(v-mean[k]) <= 1.645*sd[k] {
				held++
			}
			if math.Abs(v-fit[k]) <= 1.645*math.Hypot(fitSD[k], noise) {
				alone++
			}
		}
	}
	t.Logf("%.1f%% of observations are within intervals, %.1f%% by the fit alone", 100*held/n, 100*alone/n)
	if held/n < 0.85 || held/n > 0.95 || held <= alone {
		t.Error("the intervals do not hold")
	}
}

// With many observations, the expectation is the single fit, with the noise of an observation. Fixed hyper-parameters
// are not averaged either.
func TestNothingToAverage(t *testing.T) {
	x, y := wave(fewObservations+1, 3)
	p, err := New(x, y, Options{Additive: additive})
	if err != nil {
		t.Fatal(err)
	}
	mean, sd := p.Expect(x[:3])
	want, without := p.Predict(x[:3])
	for k := range mean {
		if math.Abs(mean[k]-want[k]) > 1e-12 || math.Abs(sd[k]-math.Hypot(without[k], p.scale*p.hyper.Noise)) > 1e-9 {
			t.Errorf("%g ± %g, by the fit %g ± %g without noise", mean[k], sd[k], want[k], without[k])
		}
	}
	fixed, err := New(x[:9], y[:9], Options{Additive: additive, Fixed: &Hyper{Length: []float64{1, 1}, Signal: 1, Noise: 0.1}})
	if err != nil || fixed.drawn != nil {
		t.Errorf("%d processes with fixed hyper-parameters, %v", len(fixed.drawn), err)
	}
}
