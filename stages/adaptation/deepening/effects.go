package deepening

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// The accuracies of a table are split into six parts, which are orthogonal: the effects of single decisions, the
// effects of pairs of decisions, and the rest. Each of the three has a part that depends only on which blocks are
// deepened, and a part that also depends on the order.
//
// A model with random effects (G. K. Robinson, That BLUP is a Good Thing, 1991) estimates how much of each part is
// real. In each part, an accuracy is the sum of an effect that all scenarios share, an effect of the scenario, and the
// noise of a single training. Their variances are estimated by moments. Shared effects show in the covariance of
// scenarios. Noise shows in the parts that seldom have other content.
const (
	singles = iota
	singlesInOrder
	pairs
	pairsInOrder
	rest
	restInOrder
	parts
)

// noisyParts are the parts from which the noise is estimated.
var noisyParts = []int{pairsInOrder, rest, restInOrder}

// shareAlone is the assumed share of effects that also hold in other scenarios, if only one scenario is known.
const shareAlone = 0.5

// least and most bound the estimated share of effects that hold in all scenarios.
const least, most = 0.1, 1.0

// design describes how the sequences of a table are split into parts.
type design struct {
	decisions, actions int
	class              []int // index of the sequence's class, by sequence; sequences of a class deepen the same blocks
	sizes              []int // number of sequences, by class
	degrees            [parts]float64
}

func newDesign(decisions, actions int) *design {
	d := &design{decisions: decisions, actions: actions}
	t := OutcomeTable{Decisions: decisions, Actions: actions}
	n := 1
	for range decisions {
		n *= actions
	}
	known := map[int]int{} // classes by the index of their sequence with ascending actions
	for i := range n {
		sequence := t.Sequence(i)
		slices.Sort(sequence)
		first := 0
		for _, a := range sequence {
			first = first*actions + a
		}
		if _, ok := known[first]; !ok {
			known[first] = len(d.sizes)
			d.sizes = append(d.sizes, 0)
		}
		d.class = append(d.class, known[first])
		d.sizes[known[first]]++
	}
	k, free := float64(decisions), float64(actions-1)
	d.degrees[singles], d.degrees[singlesInOrder] = free, (k-1)*free
	if decisions > 1 {
		d.degrees[pairs] = free * float64(actions) / 2
		d.degrees[pairsInOrder] = k*(k-1)/2*free*free - d.degrees[pairs]
	}
	inOrder := float64(n - len(d.sizes))
	d.degrees[rest] = float64(len(d.sizes)-1) - d.degrees[singles] - d.degrees[pairs]
	d.degrees[restInOrder] = inOrder - d.degrees[singlesInOrder] - d.degrees[pairsInOrder]
	return d
}

// split returns the mean of the values of all sequences, and the parts of each value. values has an accuracy for each
// sequence.
func (d *design) split(values []float64) (mean float64, out [parts][]float64) {
	// by[j] has the effects of j of the decisions that were processed so far, with the other decisions unchanged.
	by := [3][]float64{slices.Clone(values), make([]float64, len(values)), make([]float64, len(values))}
	width := len(values)
	for range d.decisions {
		width /= d.actions
		var averages [3][]float64
		for j := range by {
			averages[j] = d.averaged(by[j], width)
		}
		for j := len(by) - 1; j >= 0; j-- {
			for i := range values {
				v := averages[j][i]
				if j > 0 {
					v += by[j-1][i] - averages[j-1][i]
				}
				by[j][i] = v
			}
		}
	}
	left := make([]float64, len(values))
	for i, v := range values {
		left[i] = v - by[0][i] - by[1][i] - by[2][i]
	}
	for j, effects := range [][]float64{by[1], by[2], left} {
		out[2*j], out[2*j+1] = d.pooled(effects)
	}
	return by[0][0], out
}

// averaged replaces each value by the mean over the actions of one decision. width is the distance in values between
// two actions of this decision.
func (d *design) averaged(values []float64, width int) []float64 {
	out := make([]float64, len(values))
	for from := 0; from < len(values); from += width * d.actions {
		for i := from; i < from+width; i++ {
			sum := 0.0
			for a := range d.actions {
				sum += values[i+a*width]
			}
			for a := range d.actions {
				out[i+a*width] = sum / float64(d.actions)
			}
		}
	}
	return out
}

// pooled splits values into the means over sequences that deepen the same blocks, and the differences from them.
func (d *design) pooled(values []float64) (alike, left []float64) {
	means := make([]float64, len(d.sizes))
	for i, v := range values {
		means[d.class[i]] += v / float64(d.sizes[d.class[i]])
	}
	alike, left = make([]float64, len(values)), make([]float64, len(values))
	for i, v := range values {
		alike[i] = means[d.class[i]]
		left[i] = v - alike[i]
	}
	return alike, left
}

// effects are the estimated effects of decisions in some scenarios.
type effects struct {
	*design
	means []float64          // by scenario
	parts [][parts][]float64 // by scenario
	// noise is the variance of single trainings, by scenario. shared and own are the variances of the shared effects
	// and of the effects of a scenario, by part.
	noise       []float64
	shared, own [parts]float64
}

// newEffects splits the tables into parts and estimates the variances. All tables have the same numbers of decisions
// and actions.
func newEffects(tables []*OutcomeTable) *effects {
	e := &effects{design: newDesign(tables[0].Decisions, tables[0].Actions)}
	for _, t := range tables {
		mean, split := e.split(t.Accuracy)
		e.means, e.parts = append(e.means, mean), append(e.parts, split)
	}
	var together [parts]float64 // mean covariance of two scenarios, by part
	for p := range together {
		together[p] = e.covariance(p)
	}
	from := slices.Clone(noisyParts)
	if e.degreesOf(from) == 0 {
		from = []int{singles, singlesInOrder, pairs}
	}
	held := 0.0
	for _, p := range from {
		held += e.degrees[p] * together[p] / e.degreesOf(from)
	}
	for s := range tables {
		all := 0.0
		for _, p := range from {
			all += e.degrees[p] * e.product(p, s, s) / e.degreesOf(from)
		}
		e.noise = append(e.noise, math.Max(all-math.Max(held, 0), 1e-9))
	}
	var signal [parts]float64
	both, whole := 0.0, 0.0
	for p := range signal {
		for s := range tables {
			signal[p] += (e.product(p, s, s) - e.noise[s]) / float64(len(tables))
		}
		signal[p] = math.Max(signal[p], 0)
		both, whole = both+e.degrees[p]*together[p], whole+e.degrees[p]*signal[p]
	}
	share := shareAlone
	if len(tables) > 1 {
		share = math.Min(math.Max(both/math.Max(whole, 1e-12), least), most)
	}
	for p, v := range signal {
		e.shared[p], e.own[p] = share*v, (1-share)*v
	}
	return e
}

// degreesOf returns the sum of the degrees of freedom of several parts.
func (e *effects) degreesOf(several []int) float64 {
	sum := 0.0
	for _, p := range several {
		sum += e.degrees[p]
	}
	return sum
}

// product returns the sum of the products of a part in scenarios a and b, divided by its degrees of freedom. If a is b,
// this is the part's variance.
func (e *effects) product(part, a, b int) float64 {
	if e.degrees[part] < 1 {
		return 0
	}
	sum := 0.0
	for i, v := range e.parts[a][part] {
		sum += v * e.parts[b][part][i]
	}
	return sum / e.degrees[part]
}

// covariance returns the mean product of a part over all pairs of different scenarios; 0 with one scenario.
func (e *effects) covariance(part int) float64 {
	sum, n := 0.0, 0.0
	for a := range e.parts {
		for b := range a {
			sum, n = sum+e.product(part, a, b), n+1
		}
	}
	return sum / math.Max(n, 1)
}

// weights returns the weight of each scenario's part in the expectation for a scenario. This is one of the tables (by
// index), or a new scenario (−1).
func (e *effects) weights(part, scenario int) []float64 {
	n := len(e.parts)
	among, with := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for a := range n {
		for b := range a + 1 {
			among.SetSym(a, b, e.shared[part])
		}
		among.SetSym(a, a, e.shared[part]+e.own[part]+e.noise[a])
		with.SetVec(a, e.shared[part])
		if a == scenario {
			with.SetVec(a, e.shared[part]+e.own[part])
		}
	}
	var c mat.Cholesky
	if !c.Factorize(among) {
		return make([]float64, n) // the variance is 0
	}
	out := mat.NewVecDense(n, nil)
	if err := c.SolveVecTo(out, with); err != nil {
		return make([]float64, n)
	}
	return out.RawVector().Data
}

// expected returns the expected value of each sequence in a scenario. For one of the tables (by index), this is its
// value without the noise of trainings; for a new scenario (−1), it follows from the shared effects.
func (e *effects) expected(scenario int) []float64 {
	out := make([]float64, len(e.class))
	mean := 0.0
	for _, m := range e.means {
		mean += m / float64(len(e.means))
	}
	if scenario >= 0 {
		mean = e.means[scenario]
	}
	for i := range out {
		out[i] = mean
	}
	for p := range parts {
		for s, w := range e.weights(p, scenario) {
			for i, v := range e.parts[s][p] {
				out[i] += w * v
			}
		}
	}
	return out
}

// Smoothed returns the tables without the estimated noise. Each sequence has its expected value, by the effects of
// decisions in all tables.
func Smoothed(tables []*OutcomeTable) []*OutcomeTable {
	e := newEffects(tables)
	var out []*OutcomeTable
	for s, t := range tables {
		smooth := *t
		smooth.Accuracy = e.expected(s)
		for i, a := range smooth.Accuracy {
			smooth.Accuracy[i] = math.Min(math.Max(a, 0), 1)
		}
		out = append(out, &smooth)
	}
	return out
}
