package tuner

import (
	"math"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

var _ = Register(Method{
	Name: "selftf", Title: "SelfTF's variant",
	Doc: "is Bayesian optimization as in SelfTF (arXiv 1810.02935), for comparison: the kernel is " +
		"exp(−‖Δ‖/ℓ) with ℓ = 1, which is not fitted",
	Suggest: func(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
		h := &surrogate.Hyper{Signal: 1, Noise: math.Sqrt(selfTFNoise)}
		for range p.Space {
			h.Length = append(h.Length, 1)
		}
		return p.model(trials, surrogate.Exponential, h)
	},
})

// selfTFNoise is the variance of the noise of objectives that are scaled to variance 1.
const selfTFNoise = 1e-4
