package goodput

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainLoss returns the objective that a fit minimizes, by its documentation: root mean squared logarithmic errors of
// gradients and of steps, with a preference for no overlap and for networks that hardly grow.
func plainLoss(p Params, all []Measurement) float64 {
	gradients, steps := 0.0, 0.0
	for _, m := range all {
		gradients += math.Pow(math.Log(p.Gradient(m.Local)/m.Gradient), 2) / float64(len(all))
		steps += math.Pow(math.Log(p.Step(m.Nodes, m.GPUs, m.Local)/m.Step), 2) / float64(len(all))
	}
	return math.Sqrt(gradients) + math.Sqrt(steps) + 1e-3*math.Pow(p.Gamma-1, 2) +
		1e-2*(math.Pow(p.BetaN/p.AlphaN, 2)+math.Pow(p.BetaR/p.AlphaR, 2))
}

// TestLossIsItsFormula, of parameters that are off and of all numbers of nodes and GPUs.
func TestLossIsItsFormula(t *testing.T) {
	all := measure(sample.Params, 0.1)
	random := rand.New(rand.NewPCG(8, 9))
	for range 20 {
		p := sample.Params
		for _, v := range []*float64{&p.AlphaC, &p.BetaC, &p.AlphaN, &p.BetaN, &p.AlphaR, &p.BetaR} {
			*v *= math.Exp(random.NormFloat64())
		}
		p.Gamma = 1 + 5*random.Float64()
		if got, want := Loss(p, all), plainLoss(p, all); math.Abs(got-want) > 1e-6 {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}

// TestNoNeighbourFitsBetter than the fit, for any measurements.
func TestNoNeighbourFitsBetter(t *testing.T) {
	all := measure(sample.Params, 0.05)
	for name, keep := range map[string]func(Measurement) bool{
		"all":             func(Measurement) bool { return true },
		"one node":        func(m Measurement) bool { return m.Nodes == 1 },
		"up to two GPUs":  func(m Measurement) bool { return m.GPUs <= 2 },
		"one GPU":         func(m Measurement) bool { return m.GPUs == 1 },
		"one size":        func(m Measurement) bool { return m.Local == 64 },
		"nodes, one size": func(m Measurement) bool { return m.Local == 64 && m.Nodes != 1 },
	} {
		var some []Measurement
		for _, m := range all {
			if keep(m) {
				some = append(some, m)
			}
		}
		f := newFit(some)
		best := minimise(f, f.start())
		least, _ := f.evaluate(best)
		for i := range best {
			if f.fixed[i] {
				continue
			}
			for _, by := range []float64{-0.05, 0.05} {
				moved := best
				moved[i] += by
				if v, _ := f.evaluate(f.bound(moved)); v < least-2e-4 {
					t.Errorf("%s: variable %d moved by %v has a loss of %v, less than %v", name, i, by, v, least)
				}
			}
		}
	}
	// Parameters that cannot be separated are fixed: the network of one GPU, the constant of one size, the growth with
	// two GPUs.
	for name, c := range map[string]struct {
		m    []Measurement
		want [variables]bool
	}{
		"one GPU":         {[]Measurement{{1, 1, 8, 1, 1}, {1, 1, 9, 1, 1}}, [variables]bool{alphaN: true, betaN: true, alphaR: true, betaR: true, gammaAt: true}},
		"two GPUs":        {[]Measurement{{1, 2, 8, 1, 1}, {1, 1, 9, 1, 1}}, [variables]bool{alphaN: true, betaN: true, betaR: true}},
		"three GPUs":      {[]Measurement{{1, 3, 8, 1, 1}, {1, 1, 9, 1, 1}}, [variables]bool{alphaN: true, betaN: true}},
		"two nodes":       {[]Measurement{{2, 2, 8, 1, 1}, {1, 1, 9, 1, 1}}, [variables]bool{betaN: true, alphaR: true, betaR: true}},
		"two full nodes":  {[]Measurement{{2, 8, 8, 1, 1}, {1, 1, 9, 1, 1}}, [variables]bool{alphaR: true, betaR: true}},
		"of one size":     {[]Measurement{{2, 8, 8, 1, 1}, {1, 3, 8, 1, 1}}, [variables]bool{alphaC: true}},
		"of several more": {[]Measurement{{2, 8, 8, 1, 1}, {1, 3, 9, 1, 1}}, [variables]bool{}},
	} {
		if got := newFit(c.m).fixed; got != c.want {
			t.Errorf("%s: fixed are %v, want %v", name, got, c.want)
		}
	}
}

// TestSplitByHand divides batches among GPUs, with accumulation where a GPU cannot take its part at once, and on one GPU
// beyond the first batch size.
func TestSplitByHand(t *testing.T) {
	l := &Limits{First: 128, Most: 4096, Least: 16, Greatest: 256}
	for _, c := range []struct {
		batch       float64
		nodes, gpus int
		want        Config
	}{
		{512, 1, 4, Config{1, 4, 128, 0}}, {513, 1, 4, Config{1, 4, 129, 0}}, {1024, 1, 4, Config{1, 4, 256, 0}},
		{1028, 1, 4, Config{1, 4, 129, 1}}, {2048, 1, 4, Config{1, 4, 256, 1}}, {2052, 2, 4, Config{2, 4, 171, 2}},
		{128, 1, 1, Config{1, 1, 128, 0}}, {129, 1, 1, Config{1, 1, 65, 1}}, {256, 1, 1, Config{1, 1, 128, 1}}, {600, 1, 1, Config{1, 1, 200, 2}},
		{100, 1, 1, Config{1, 1, 100, 0}}, {129, 1, 2, Config{1, 2, 65, 0}},
	} {
		if got := Split(c.batch, c.nodes, c.gpus, l); got != c.want {
			t.Errorf("%v on %d GPUs: %+v, want %+v", c.batch, c.gpus, got, c.want)
		}
	}
}

// TestBestOfAllSamples: the best batch is the best of those that are looked at, which are spread from the least to the
// most, both included.
func TestBestOfAllSamples(t *testing.T) {
	for _, limits := range []Limits{{128, 4096, 16, 256}, {128, 512, 64, 100}, {100, 100, 1, 100}, {8, 64, 4, 8}, {128, 4096, 256, 256}} {
		for _, noise := range []Noise{{0.002, 0.05}, {0, 1}, {1, 1e-6}} {
			m := Model{Params: sample.Params, Noise: noise, Limits: limits}
			for _, on := range [][2]int{{1, 1}, {1, 2}, {1, 4}, {2, 8}, {4, 16}} {
				best, goodput := m.Best(on[0], on[1])
				least := max(limits.First, limits.Least*on[1])
				top := 0.0
				for i := range 50 {
					size := float64(least) * math.Pow(float64(limits.Most)/float64(least), float64(i)/49)
					c := Split(size, on[0], on[1], &limits)
					if least <= limits.Most && c.Local >= limits.Least && c.Local <= limits.Greatest {
						top = max(top, m.Goodput(c))
					}
				}
				if math.Abs(goodput-top) > 1e-9*top || top > 0 && math.Abs(m.Goodput(best)-top) > 1e-9*top {
					t.Errorf("%+v, %+v on %v: %+v with %v, the greatest is %v", limits, noise, on, best, goodput, top)
				}
			}
		}
	}
	if got := (Noise{}).Gain(3); got != 1 {
		t.Errorf("without noise a batch gains %v", got)
	}
	p := sample.Params.On(2)
	if p.Gradient(64) != sample.Params.Gradient(64)/2 || p.Network(2, 8) != sample.Params.Network(2, 8) {
		t.Errorf("on GPUs twice as fast: %+v", p)
	}
}
