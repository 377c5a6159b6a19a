package tuner

import (
	"math/rand/v2"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

var _ = Register(Method{
	Name: "lhs", Title: "Latin hypercube",
	Doc: "spreads all trials over the space at the start, as a centered Latin hypercube",
	Suggest: func(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
		seen := tried(trials)
		design := p.Space.LatinHypercube(max(p.Trials, 1), rand.New(rand.NewPCG(p.Seed, 0)))
		if len(trials) >= len(design) {
			return Suggestion{}, ErrDone
		}
		at, ok := p.nearest(p.Space.ToGoal(design[len(trials)]), seen)
		if !ok {
			return Suggestion{}, ErrDone
		}
		return Suggestion{At: at}, nil
	},
})
