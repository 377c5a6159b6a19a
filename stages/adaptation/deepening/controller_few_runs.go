package deepening

import (
	"math/rand/v2"

	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 20, Name: "few_runs", Random: true,
	Doc: "Trains a few networks by sequences that Bayesian optimization chooses, then takes the best sequence. The first sequence is random; each further one has the greatest expected improvement.",
	Args: []schema.Arg{{
		Name: "runs", Type: schema.Integer, Default: `15`, Min: schema.Limit(1), Max: schema.Limit(10000),
		Doc: "The number of trainings.", Example: `10`,
	}},
	New: func(w DecisionInputs) Decider {
		d := newDesign(w.Table.Decisions, w.Table.Actions)
		return fixedSequence(w.Table, searchSequences(w, rand.New(rand.NewPCG(w.Seed, 0)).IntN(len(d.class)),
			d.guessedModels()...))
	},
})

// guesses are assumptions about how the variance of accuracies divides into parts; the last value is the noise of
// single trainings. In many scenarios the effects of single decisions explain most of the variance, but not in all. The
// runs show which assumption fits.
var guesses = [][parts + 1]float64{
	{.70, .10, .05, .05, .02, .03, .05},
	{.45, .10, .05, .10, .05, .05, .20},
	{.25, .45, .05, .10, .05, .05, .05},
	{.15, .15, .15, .15, .10, .10, .20},
}

// guessedModels returns a model for each assumption. It uses no data of other scenarios.
func (d *design) guessedModels() []*accuracyModel {
	var all []*accuracyModel
	for _, shares := range guesses {
		var variances [parts]float64
		for p := range variances {
			if d.degrees[p] > 0 {
				variances[p] = shares[p] * float64(len(d.class)) / d.degrees[p]
			}
		}
		all = append(all, newAccuracyModel(d, make([]float64, len(d.class)), variances, shares[parts], 0))
	}
	return all
}
