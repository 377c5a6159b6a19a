package tuner

import "github.com/tfexp/tfexp/estimator/surrogate"

var _ = Register(Method{
	Name: "grid", Title: "grid search", NeedsGrid: true,
	Doc: "tries all combinations in the order of the file; the last setting changes first",
	Suggest: func(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
		seen := tried(trials)
		for _, at := range p.points() {
			if !seen[surrogate.Key(at)] {
				return Suggestion{At: at}, nil
			}
		}
		return Suggestion{}, ErrDone
	},
})
