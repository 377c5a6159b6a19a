package adaptation

import (
	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 42, Name: "best_predicted", Elsewhere: true,
	Doc: "Takes the sequence with the greatest accuracy that the other scenarios predict: by the effects of " +
		"single decisions and of pairs, with and without their order, each as far as it holds in all scenarios " +
		"and is more than the noise of single trainings.",
	Args: []schema.Arg{
		runsArg("the sequence that is predicted to be best, then by those that promise to improve most on the best run"),
	},
	New: func(w World) Decider {
		e := newEffects(w.Others)
		first := greatest(e.expected(-1), nil)
		if w.Controller.Runs > 0 {
			first = search(w, first, e.belief())
		}
		return follow(w.Table, first)
	},
})

// worthElsewhere is the number of runs in a new scenario as which the variances of the others count.
const worthElsewhere = 4

// belief returns the belief about a new scenario.
func (e *effects) belief() *belief {
	noise := 0.0
	for _, v := range e.noise {
		noise += v / float64(len(e.noise))
	}
	var variances [parts]float64
	for p := range variances {
		variances[p] = e.shared[p] + e.own[p]
		for _, w := range e.weights(p, -1) {
			variances[p] -= w * e.shared[p]
		}
	}
	return newBelief(e.design, e.expected(-1), variances, noise, worthElsewhere)
}
