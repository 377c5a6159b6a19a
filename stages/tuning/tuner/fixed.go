package tuner

import "github.com/tfexp/tfexp/estimator/surrogate"

var _ = Register(Method{
	Name: "fixed", Title: "no tuning", Doc: "is the baseline: one trial with the initial settings",
	Suggest: func(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
		if len(trials) > 0 {
			return Suggestion{}, ErrDone
		}
		at, ok := p.nearest(p.Initial, nil)
		if !ok {
			return Suggestion{}, ErrDone
		}
		return Suggestion{At: at}, nil
	},
})
