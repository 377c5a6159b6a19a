package deepening

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 42, Name: "best_predicted", Elsewhere: true,
	Doc: "Takes the sequence with the greatest accuracy that the other scenarios predict, from the " +
		"effects of decisions and of pairs of decisions. Pairs count with and without their order. The more " +
		"an effect varies between scenarios or with the noise of single trainings, the less it counts.",
	Args: []schema.Arg{
		runsArg("the sequence that is predicted to be best, then by those that promise to improve most on the best run"),
	},
	New: func(w DecisionInputs) Decider {
		e := newEffects(w.Others)
		first := greatest(e.expected(-1), nil)
		if w.Controller.Runs > 0 {
			first = searchSequences(w, first, e.newScenarioModels()...)
		}
		return fixedSequence(w.Table, first)
	},
})

// worthElsewhere is the weight of the variances from other scenarios, as a number of runs in the new scenario.
const worthElsewhere = 4

// newScenarioModels returns two models of a new scenario. In the first, the scenario differs from the shared effects
// independently of the other scenarios. In the second, half of that variance lies in the directions in which the other
// scenarios differ (a model of low rank), and the shared effects may be stronger or weaker.
func (e *effects) newScenarioModels() []*accuracyModel {
	noise := floats.Sum(e.noise) / float64(len(e.noise))
	var own, lowRank [parts]float64
	for p := range parts {
		unknown := e.shared[p] * (1 - floats.Sum(e.weights(p, -1)))
		own[p], lowRank[p] = unknown+e.own[p], unknown+e.own[p]/2
	}
	expected := e.expected(-1)
	return []*accuracyModel{
		newAccuracyModel(e.design, expected, own, noise, worthElsewhere),
		newAccuracyModel(e.design, expected, lowRank, noise, worthElsewhere, e.factors()...),
	}
}

// factors returns the deviations of each scenario from the mean of all, scaled to the variance over scenarios, and then
// half of that mean.
func (e *effects) factors() [][]float64 {
	n := float64(len(e.means))
	mean := make([]float64, len(e.class))
	var all [][]float64
	for s, level := range e.means {
		all = append(all, e.expected(s))
		floats.AddConst(-level, all[s])
		floats.AddScaled(mean, 1/n, all[s])
	}
	for _, f := range all {
		floats.Sub(f, mean)
		floats.Scale(1/math.Sqrt(math.Max(n-1, 1)), f)
	}
	floats.Scale(0.5, mean)
	return append(all, mean)
}
