package adaptation

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 42, Name: "best_predicted", Elsewhere: true,
	Doc: "Takes the sequence with the greatest accuracy that the other scenarios predict: by the effects of " +
		"single decisions and of pairs, with and without their order, each as far as it holds in all scenarios " +
		"and is more than the noise of single trainings.",
	Args: []schema.Arg{runsArg("are predicted to be best, given the runs before")},
	New: func(w World) Decider {
		e := newEffects(w.Others)
		if n := w.Controller.Runs; n > 0 {
			return follow(w.Table, e.search(w, n))
		}
		return follow(w.Table, greatest(e.expected(-1), nil))
	},
})

// greatest returns the index of the greatest value that is not left out, the first of several; −1 without any.
func greatest(values []float64, without []int) int {
	best := -1
	for i, v := range values {
		if (best < 0 || v > values[best]) && !slices.Contains(without, i) {
			best = i
		}
	}
	return best
}

// search trains networks in a new scenario, each by the sequence that is predicted to be best given those before, and
// returns the best of them.
func (e *effects) search(w World, runs int) int {
	var tried []int
	var found []float64
	var near [][]float64 // the covariances of each run with all sequences
	now := e.expected(-1)
	prior := slices.Clone(now)
	for len(tried) < runs {
		next := greatest(now, tried)
		if next < 0 {
			break
		}
		tried, found, near = append(tried, next), append(found, w.Run(next)), append(near, e.around(next))
		e.update(now, prior, near, tried, found)
	}
	return tried[greatest(found, nil)]
}

// level is the variance of how accurate networks are in a new scenario as a whole: hardly anything is taken for known.
const level = 1.0

// around returns the covariances of a sequence's value in a new scenario with the values of the others, given the
// known scenarios.
func (e *effects) around(sequence int) []float64 {
	unit := make([]float64, len(e.class))
	unit[sequence] = 1
	_, split := e.split(unit)
	out := make([]float64, len(e.class))
	for i := range out {
		out[i] = level
	}
	for p, part := range split {
		variance := e.shared[p] + e.own[p]
		for _, w := range e.weights(p, -1) {
			variance -= w * e.shared[p]
		}
		for i, v := range part {
			out[i] += variance * v
		}
	}
	return out
}

// update writes the expected values of all sequences to now, given the runs that were tried, their values and their
// covariances.
func (e *effects) update(now, prior []float64, near [][]float64, tried []int, found []float64) {
	noise := 0.0
	for _, v := range e.noise {
		noise += v / float64(len(e.noise))
	}
	among, off := mat.NewSymDense(len(tried), nil), mat.NewVecDense(len(tried), nil)
	for a, i := range tried {
		for b := range a + 1 {
			among.SetSym(a, b, near[b][i])
		}
		among.SetSym(a, a, near[a][i]+noise)
		off.SetVec(a, found[a]-prior[i])
	}
	var c mat.Cholesky
	weights := mat.NewVecDense(len(tried), nil)
	if !c.Factorize(among) || c.SolveVecTo(weights, off) != nil {
		return
	}
	copy(now, prior)
	for a, row := range near {
		w := weights.AtVec(a)
		for i, v := range row {
			now[i] += w * v
		}
	}
}
