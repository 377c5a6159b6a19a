package estimator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/hardware/need"
)

// place returns the position, from 0 to 1, of the truth in a predicted distribution. It searches the narrowest interval
// that contains the truth.
func place(predict func(level float64) Prediction, truth float64) float64 {
	lo, hi := 0.0, 1.0
	for range 12 { // halve the range of levels 12 times
		level := (lo + hi) / 2
		if p := predict(level); p.Low <= truth && truth <= p.High {
			hi = level
		} else {
			lo = level
		}
	}
	if p := predict(1e-6); truth < (p.Low+p.High)/2 {
		return (1 - hi) / 2
	}
	return (1 + hi) / 2
}

// fromUniform returns the greatest distance between the distribution of ranks and the uniform distribution
// (Kolmogorov's distance).
func fromUniform(ranks []float64) float64 {
	slices.Sort(ranks)
	n, d := float64(len(ranks)), 0.0
	for i, r := range ranks {
		d = max(d, r-float64(i)/n, float64(i+1)/n-r)
	}
	return d
}

// usualMachine draws a machine from the assumptions of the models: its spread of pace has the prior's mean and
// degrees of freedom, and its moments are as on machines that share their cores.
func usualMachine(r *rand.Rand) machine {
	chi := distuv.ChiSquared{K: PriorDF, Src: r}.Rand()
	return machine{r: r, unit: math.Exp(2*r.NormFloat64() - 2), paceSD: PriorPaceSD * math.Sqrt(PriorDF/chi),
		unitSD: 0.05 * r.Float64(), rho: 0.6 * r.Float64(), startup: 0.5 * r.Float64(), moments: momentSD}
}

// anyMachine draws a machine from the prior of the model linear.
func anyMachine(r *rand.Rand) machine {
	draw := func(sd, df float64) float64 { return sd * math.Sqrt(df/distuv.ChiSquared{K: df, Src: r}.Rand()) }
	return machine{r: r, unit: math.Exp(2*r.NormFloat64() - 2), paceSD: math.Min(0.4, draw(paceSD, paceDF)),
		unitSD: math.Min(0.3, draw(unitSD, unitDF)), rho: 0.3, startup: 0.5 * r.Float64()}
}

// TestRanksAreUniform draws machines from the models' assumptions (simulation-based calibration: Talts et al., 2018).
// The position of the truth in the predicted distribution must be uniform, so that intervals of each level have the
// right coverage.
func TestRanksAreUniform(t *testing.T) {
	trials := need.Cases(150, 400)
	short := func(m machine) Problem {
		return Problem{Samples: []Sample{m.run(9), m.run(18)}, Resource: Resource{Threads: 2}}
	}
	for _, test := range []struct {
		name   string
		trials int
		rank   func(t *testing.T, r *rand.Rand) float64
	}{
		{"a run from samples", trials, func(t *testing.T, r *rand.Rand) float64 {
			m := anyMachine(r)
			e, err := Linear{}.Fit(short(m))
			if err != nil {
				t.Fatal(err)
			}
			m.paceSD *= math.Sqrt(beyondSamples)
			return place(func(level float64) Prediction { return e.Predict(300, level) }, m.run(300).Wall)
		}},
		{"what is left of a run", trials, func(t *testing.T, r *rand.Rand) float64 {
			m := usualMachine(r)
			e, err := Linear{}.Fit(short(m))
			if err != nil {
				t.Fatal(err)
			}
			run, seen, left := m.run(300), 10+r.IntN(200), 0.0
			for _, u := range run.Units[seen:] {
				left += u
			}
			done := held(run.Units[:seen], 2)
			return place(func(level float64) Prediction { return e.Remaining(300, done, 2, level) }, left)
		}},
		{"a run on other threads", 150, func(t *testing.T, r *rand.Rand) float64 {
			c := Curve{Sigma: 0.02 + 0.2*r.Float64()}
			wall := func(n int) float64 { return 100 / c.Speedup(float64(n)) * math.Exp(0.04*r.NormFloat64()) }
			p := Problem{Resource: Resource{Threads: 12}}
			for _, n := range []int{1, 2, 4, 8, 16} {
				p.Samples = append(p.Samples, Sample{Length: 1, Threads: n, Wall: wall(n)})
			}
			e, err := Scaling{}.Fit(p)
			if err != nil {
				t.Fatal(err)
			}
			return place(func(level float64) Prediction { return e.Predict(1, level) }, wall(12))
		}},
		{"a run from past ones", trials, func(t *testing.T, r *rand.Rand) float64 {
			f := newFleet(r.Uint64(), 1)
			p := Problem{Job: "job0", Samples: []Sample{f.sample(0, 6)}}
			for range 8 {
				p.History = append(p.History, f.run(0, 200))
			}
			e, err := History{}.Fit(p)
			if err != nil {
				t.Fatal(err)
			}
			return place(func(level float64) Prediction { return e.Predict(200, level) }, f.run(0, 200).Seconds)
		}},
		{"a run after corrections", trials, func(_ *testing.T, r *rand.Rand) float64 {
			missed, state, own := 0.1*r.NormFloat64(), 0.0, 0.02+0.06*r.Float64()
			var learned Corrections
			y := func() float64 { return missed + state + own*r.NormFloat64() }
			for range 3 + r.IntN(10) {
				state = 0.7*state + 0.03*r.NormFloat64()
				learned.Learn(Ran{"job", 0.2, []float64{y(), y()}})
			}
			state = 0.7*state + 0.03*r.NormFloat64()
			return place(func(level float64) Prediction {
				c := learned.Next("job", 0.2, level)
				return Prediction{c.Factor, c.Low, c.High}
			}, math.Exp(y()))
		}},
	} {
		r := rand.New(rand.NewPCG(31, uint64(len(test.name))))
		ranks := make([]float64, test.trials)
		for i := range ranks {
			ranks[i] = test.rank(t, r)
		}
		d := fromUniform(ranks)
		inside := func(level float64) (n float64) {
			for _, x := range ranks {
				if math.Abs(2*x-1) <= level {
					n += 100 / float64(test.trials)
				}
			}
			return n
		}
		t.Logf("%s: %.3f from uniform; 50%%, 80%%, 90%% and 95%% intervals hold %.0f, %.0f, %.0f and %.0f%%", test.name, d,
			inside(0.5), inside(0.8), inside(0.9), inside(0.95))
		if most := 2 / math.Sqrt(float64(test.trials)); d > most {
			t.Errorf("%s: the ranks of the truth are %.3f from uniform, more than %.2g", test.name, d, most)
		}
		if share := inside(0.9); share < 85 || share > 97 {
			t.Errorf("%s: the 90%% interval covers %.1f%%", test.name, share)
		}
	}
}
