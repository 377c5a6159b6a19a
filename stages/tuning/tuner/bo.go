package tuner

import (
	"errors"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

var _ = Register(Method{
	Name: "bo", Title: "Bayesian optimization", Inputs: true,
	Doc: "is Bayesian optimization with a Gaussian process (Matérn 5/2, with a fitted length-scale for " +
		"each setting; after few trials, averaged over other likely length-scales). It takes the greatest " +
		"expected improvement over the best value so far, times the probability that the constraints hold. " +
		"With `context` blocks, it also chooses the part of the whole with the most information per cost",
	Suggest: func(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
		return p.model(trials, surrogate.Matern52, nil)
	},
})

// model returns the suggestion of a model of the objective; see package surrogate.
func (p *Problem) model(trials []surrogate.Trial, kernel surrogate.Kernel, fixed *surrogate.Hyper) (Suggestion, error) {
	s := surrogate.Search{
		Space: p.Space, Candidates: p.Candidates, Start: p.Start, Seed: p.Seed, Scale: p.Scale, Limits: p.Limits,
		Kernel: kernel, Fixed: fixed, PerCost: p.PerCost,
	}
	if fixed == nil {
		s.Prior, s.Spread = p.Prior, p.Spread
	}
	next, err := s.Suggest(trials)
	if errors.Is(err, surrogate.ErrExhausted) {
		return Suggestion{}, ErrDone
	}
	if err != nil {
		return Suggestion{}, err
	}
	return Suggestion{
		At: next.At, Modelled: next.SD > 0, Mean: next.Mean, SD: next.SD, Feasible: next.Feasible,
		Scale: next.Scale,
	}, nil
}
