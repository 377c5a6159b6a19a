package tuner

import "github.com/tfexp/tfexp/estimator/surrogate"

var _ = Register(Method{
	Name: "random", Title: "random search", Doc: "draws settings at random, never the same twice",
	Suggest: func(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
		at, ok := p.random(tried(trials), p.draws(trials))
		if !ok {
			return Suggestion{}, ErrDone
		}
		return Suggestion{At: at}, nil
	},
})
