package surrogate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGradientOfTheMarginalLikelihood compares the gradient with finite differences.
func TestGradientOfTheMarginalLikelihood(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, kernel := range []Kernel{Matern52, Exponential} {
		var x [][]float64
		var y []float64
		for range 25 {
			p := []float64{r.Float64(), r.Float64(), float64(r.IntN(3))}
			x, y = append(x, p), append(y, math.Sin(4*p[0])+p[1]+0.3*p[2]+0.05*r.NormFloat64())
		}
		p, err := prepare(x, y, Options{Kernel: kernel, Categorical: []bool{false, false, true}, Additive: 0.4})
		if err != nil {
			t.Fatal(err)
		}
		theta := p.parameters(Hyper{Length: []float64{0.3, 0.8, 1.5}, Signal: 0.9, Noise: 0.2})
		grad := make([]float64, len(theta))
		p.posterior(theta, grad, &workspace{})
		for i := range theta {
			const step = 1e-5
			at := func(by float64) float64 {
				moved := append([]float64(nil), theta...)
				moved[i] += by
				return p.posterior(moved, nil, &workspace{})
			}
			want := (at(step) - at(-step)) / (2 * step)
			if math.Abs(grad[i]-want) > 1e-4*math.Max(1, math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, by differences %v", kernel, i, grad[i], want)
			}
		}
	}
}
