package goodput

import (
	"math"
	"math/rand/v2"
	"testing"
)

// measure returns the measurements of a job of the model, with relative noise.
func measure(p Params, noise float64) []Measurement {
	random := rand.New(rand.NewPCG(1, 2))
	var all []Measurement
	for gpus := 1; gpus <= 16; gpus++ {
		for _, local := range []int{16, 32, 64, 128, 256} {
			nodes := (gpus + 3) / 4
			all = append(all, Measurement{
				Nodes: nodes, GPUs: gpus, Local: local,
				Gradient: p.Gradient(local) * math.Exp(noise*random.NormFloat64()),
				Step:     p.Step(nodes, gpus, local) * math.Exp(noise*random.NormFloat64()),
			})
		}
	}
	return all
}

func TestFitFindsItsOwnParameters(t *testing.T) {
	for _, noise := range []float64{0, 0.02} {
		all := measure(sample.Params, noise)
		p := Fit(all)
		if got, want := Loss(p, all), Loss(sample.Params, all); got > want+1e-6 {
			t.Errorf("noise %v: loss %v, that of the truth %v (%+v)", noise, got, want, p)
		}
		for _, c := range []Config{{1, 1, 48, 0}, {1, 3, 100, 0}, {2, 8, 64, 1}, {8, 32, 64, 0}} {
			got, want := p.Throughput(c), sample.Params.Throughput(c)
			if math.Abs(got/want-1) > 0.03+noise {
				t.Errorf("noise %v: %+v has a throughput of %.1f, fitted %.1f", noise, c, want, got)
			}
		}
	}
}

// TestSlopes compares the derivatives with differences.
func TestSlopes(t *testing.T) {
	f := newFit(measure(sample.Params, 0.1))
	x := vector{-4, -6, -3, -5, -4.5, -7, 2.2}
	_, slope := f.evaluate(x)
	for i := range x {
		above, below := x, x
		above[i], below[i] = x[i]+1e-6, x[i]-1e-6
		up, _ := f.evaluate(above)
		down, _ := f.evaluate(below)
		if want := (up - down) / 2e-6; math.Abs(slope[i]-want) > 1e-6 {
			t.Errorf("variable %d: slope %v, differences say %v", i, slope[i], want)
		}
	}
}

// TestWhatIsNotMeasured checks that the fit is optimistic about configurations that were not measured.
func TestWhatIsNotMeasured(t *testing.T) {
	one := []Measurement{{Nodes: 1, GPUs: 1, Local: 128, Gradient: 0.5, Step: 0.5}}
	p := Fit(one)
	if math.Abs(p.AlphaC-0.25) > 1e-6 || math.Abs(p.Gradient(128)-0.5) > 1e-4 {
		t.Errorf("one measurement: %+v; want half of it constant", p)
	}
	if n := p.Network(16, 64); n > 1e-5 {
		t.Errorf("one measurement: 64 GPUs wait %v s for the network; want next to nothing", n)
	}
	two := append(one, Measurement{Nodes: 1, GPUs: 2, Local: 128, Gradient: 0.5, Step: 0.6})
	if p = Fit(two); p.AlphaN < 1.1*p.AlphaR-1e-12 {
		t.Errorf("within one node: %+v; want across nodes at least 1.1 times as much", p)
	}
	if p.Network(1, 2) < 0.05 {
		t.Errorf("within one node: %+v; the network takes %v s", p, p.Network(1, 2))
	}
	if Fit(nil) != (Params{}) {
		t.Error("a fit of nothing")
	}
}

func BenchmarkFit(b *testing.B) {
	all := measure(sample.Params, 0.05)
	for b.Loop() {
		Fit(all)
	}
}

func BenchmarkBest(b *testing.B) {
	m := sample
	for b.Loop() {
		m.Best(4, 16)
	}
}

// Loss returns the objective that Fit minimizes.
func Loss(p Params, all []Measurement) float64 {
	x := vector{
		math.Log(max(p.AlphaC, least)), math.Log(max(p.BetaC, least)), math.Log(max(p.AlphaN, least)),
		math.Log(max(p.BetaN, least)), math.Log(max(p.AlphaR, least)), math.Log(max(p.BetaR, least)), p.Gamma,
	}
	loss, _ := newFit(all).evaluate(x)
	return loss
}
