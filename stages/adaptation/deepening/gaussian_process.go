package deepening

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

// accuracyModel predicts the accuracy of each sequence in a scenario from runs there. It is a Gaussian process in which
// each part of an accuracy has a variance.
type accuracyModel struct {
	*design
	level     float64        // variance of the scenario's mean accuracy
	variances [parts]float64 // by part, for each degree of freedom
	noise     float64        // variance of a single training
	worth     float64        // weight of the assumed variances, as a number of runs
	factors   [][]float64    // assumed deviations, by sequence; each is multiplied by an unknown factor of variance 1

	mean, variance []float64
	rows           [][]float64 // rows of the Cholesky factor of all sequences' covariances, by run
	// sums over the runs: of the squared standardized errors, and of the logarithms of their standard deviations
	squares, logs float64
}

// unknownLevel is the variance of the level, as a multiple of the variance of sequences. It is large because the level
// is unknown before the first run.
const unknownLevel = 1e6

func newAccuracyModel(
	d *design, prior []float64, variances [parts]float64, noise, worth float64, factors ...[]float64,
) *accuracyModel {
	b := &accuracyModel{design: d, variances: variances, noise: noise, worth: worth, mean: slices.Clone(prior),
		factors: factors}
	b.level = noise
	for p, v := range variances {
		b.level += v * d.degrees[p] / float64(len(d.class))
	}
	b.level *= unknownLevel
	// Without factors, the variance of a sequence depends only on how often each action occurs, so it is computed once
	// for each such case.
	known := map[string]float64{}
	t := OutcomeTable{Decisions: d.decisions, Actions: d.actions}
	for i := range d.class {
		counts := make([]int, d.actions)
		for _, a := range t.Sequence(i) {
			counts[a]++
		}
		slices.Sort(counts)
		key := fmt.Sprint(counts)
		if _, ok := known[key]; !ok {
			known[key] = b.effects(i)[i]
		}
		b.variance = append(b.variance, known[key])
		for _, f := range factors {
			b.variance[i] += f[i] * f[i]
		}
	}
	return b
}

// effects returns the covariance of a sequence with each sequence, without factors and before any run.
func (b *accuracyModel) effects(sequence int) []float64 {
	unit := make([]float64, len(b.class))
	unit[sequence] = 1
	_, split := b.split(unit)
	for i := range unit {
		unit[i] = b.level
		for p, part := range split {
			unit[i] += b.variances[p] * part[i]
		}
	}
	return unit
}

// addRun updates the model with the accuracy found of a sequence.
func (b *accuracyModel) addRun(sequence int, found float64) {
	row := b.effects(sequence)
	for _, f := range b.factors {
		floats.AddScaled(row, f[sequence], f)
	}
	for _, earlier := range b.rows {
		floats.AddScaled(row, -earlier[sequence], earlier)
	}
	deviation := math.Sqrt(math.Max(row[sequence], 0) + b.noise)
	off := (found - b.mean[sequence]) / deviation
	for i := range row {
		row[i] /= deviation
		b.mean[i] += off * row[i]
		b.variance[i] -= row[i] * row[i]
	}
	if len(b.rows) > 0 { // the first run shows the level, so it says nothing about the variances
		b.squares += off * off
		b.logs += math.Log(deviation)
	}
	b.rows = append(b.rows, row)
}

// scale returns the estimated factor of all variances, given the runs.
func (b *accuracyModel) scale() float64 {
	n := b.worth + float64(len(b.rows)-1)
	if n <= 0 {
		return 1
	}
	return math.Max((b.worth+b.squares)/n, 1e-12)
}

// likelihood returns the logarithm of the likelihood of the runs, with the estimated scale.
func (b *accuracyModel) likelihood() float64 {
	return -b.logs - float64(len(b.rows)-1)/2*math.Log(b.scale())
}

// logImprovement returns the logarithm of the expected improvement of a sequence over the best run. A new run includes
// the noise of a single training.
func (b *accuracyModel) logImprovement(sequence int, best float64) float64 {
	variance := b.scale() * (math.Max(b.variance[sequence], 0) + b.noise)
	return surrogate.LogExpectedImprovement(-best, -b.mean[sequence], math.Sqrt(variance))
}

// nextSequence returns the sequence with the greatest expected improvement over the best run. It averages over the
// models, weighted by the likelihood of the runs so far.
func nextSequence(beliefs []*accuracyModel, tried []int, best float64) int {
	gains, logs := make([]float64, len(beliefs[0].mean)), make([]float64, len(beliefs))
	for i := range gains {
		for k, b := range beliefs {
			logs[k] = b.likelihood() + b.logImprovement(i, best)
		}
		gains[i] = floats.LogSumExp(logs)
	}
	return greatest(gains, tried)
}

// searchSequences trains networks in a scenario, as many as the controller's runs. The first has the given sequence;
// each next one has the greatest expected improvement. It returns the best sequence.
func searchSequences(w DecisionInputs, first int, beliefs ...*accuracyModel) int {
	var tried []int
	var found []float64
	for sequence := first; sequence >= 0; {
		tried, found = append(tried, sequence), append(found, w.Run(sequence))
		for _, b := range beliefs {
			b.addRun(sequence, found[len(found)-1])
		}
		if len(tried) == w.Controller.Runs {
			break
		}
		sequence = nextSequence(beliefs, tried, slices.Max(found))
	}
	return tried[greatest(found, nil)]
}

// greatest returns the index of the greatest value, the first of several; −1 if there is no value. It skips the indices in
// without.
func greatest(values []float64, without []int) int {
	best := -1
	for i, v := range values {
		if (best < 0 || v > values[best]) && !slices.Contains(without, i) {
			best = i
		}
	}
	return best
}
