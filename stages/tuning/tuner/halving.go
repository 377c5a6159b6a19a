package tuner

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

var _ = Register(Method{
	Name: "halving", Title: "successive halving", NeedsContext: true,
	Doc: "is asynchronous successive halving (ASHA): it tries random settings in the cheapest `context`. " +
		"The best third of them is tried in the next larger one, and so on up to the context that counts for " +
		"the result",
	Suggest: halving,
})

// reduction is η: the best 1/η of the settings continue in the next context (L. Li and
// others, A System for Massively Parallel Hyperparameter Tuning, 2020).
const reduction = 3

// halving moves the best settings of a rung to the next one, beginning at the rung nearest to the goal. If there are
// none to move, it draws new settings at the lowest rung. Crashed and running trials are left out.
func halving(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
	d := slices.IndexFunc(p.Space, func(dim surrogate.Dimension) bool { return dim.Context })
	if d < 0 {
		return Suggestion{}, ErrDone
	}
	seen := tried(trials)
	ladder := p.rungs(d)
	for k := len(ladder) - 2; k >= 0; k-- {
		var done []surrogate.Trial
		for _, t := range trials {
			if t.State == surrogate.Done && math.Abs(t.At[d]-ladder[k]) < 1e-9 {
				done = append(done, t)
			}
		}
		slices.SortStableFunc(done, func(a, b surrogate.Trial) int {
			switch {
			case p.Better(a, b):
				return -1
			case p.Better(b, a):
				return 1
			}
			return 0
		})
		for _, t := range done[:len(done)/reduction] {
			next := slices.Clone(t.At)
			next[d] = ladder[k+1]
			if !seen[surrogate.Key(next)] && p.has(next) {
				return Suggestion{At: next}, nil
			}
		}
	}
	at, ok := p.fresh(seen, d, ladder[0], trials)
	if !ok {
		return Suggestion{}, ErrDone
	}
	return Suggestion{At: at}, nil
}

// rungs returns the coordinates of context d at which settings are tried, from the cheapest to the goal. These are all
// values of a short list, or values that grow by the factor reduction.
func (p *Problem) rungs(d int) []float64 {
	dim := p.Space[d]
	from := dim.Cheapest()
	if n := dim.Size(); n > 0 && n <= 8 {
		var all []float64
		for _, at := range dim.All() {
			if (at-from)*(dim.Goal-at) >= 0 {
				all = append(all, at)
			}
		}
		slices.SortFunc(all, func(a, b float64) int {
			if math.Abs(a-dim.Goal) > math.Abs(b-dim.Goal) {
				return -1
			}
			return 1
		})
		return all
	}
	// The values are the goal, a third of it, a ninth of it, and so on down to the cheapest value.
	goal, least := dim.Value(dim.Goal), dim.Value(from)
	rungs := []float64{dim.Goal}
	for v := goal / reduction; v > least && goal > least; v /= reduction {
		rungs = append(rungs, dim.Coordinate(dim.Value(dim.Coordinate(v))))
	}
	rungs = append(rungs, from)
	slices.Reverse(rungs)
	return slices.Compact(rungs)
}

// has reports whether the point may be tried.
func (p *Problem) has(at []float64) bool {
	return p.Candidates == nil || slices.ContainsFunc(p.Candidates, func(c []float64) bool { return slices.Equal(c, at) })
}

// fresh draws settings that were not tried in any context, with coordinate `at` in dimension d.
func (p *Problem) fresh(seen map[string]bool, d int, at float64, trials []surrogate.Trial) ([]float64, bool) {
	used := map[string]bool{}
	for _, t := range trials {
		used[surrogate.Key(p.Space.ToGoal(t.At))] = true
	}
	r := p.draws(trials)
	if !p.Finite() {
		next := p.Space.Draw(r)
		next[d] = at
		return next, true
	}
	var open [][]float64
	for _, c := range p.points() {
		next := slices.Clone(c)
		next[d] = at
		if !used[surrogate.Key(c)] && !seen[surrogate.Key(next)] && p.has(next) {
			open = append(open, next)
		}
	}
	if len(open) == 0 {
		return nil, false
	}
	return open[r.IntN(len(open))], true
}
