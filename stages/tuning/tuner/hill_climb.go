package tuner

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

var _ = Register(Method{
	Name: "hill_climb", Title: "hill climbing",
	Doc: "begins with the initial settings, and changes one setting by one step at a time. It keeps " +
		"improvements; if no step improves the objective, it begins again at random",
	Suggest: hillClimb,
})

// climbStep is the length of a step along a continuous setting, in units of its range.
const climbStep = 0.1

func hillClimb(p *Problem, trials []surrogate.Trial) (Suggestion, error) {
	seen := tried(trials)
	if len(trials) == 0 {
		if at, ok := p.nearest(p.Initial, seen); ok {
			return Suggestion{At: at}, nil
		}
		return Suggestion{}, ErrDone
	}
	r := p.draws(trials)
	// The present place follows from the trials: a better trial next to the place became the new place, and a trial
	// farther away began a new climb.
	place := trials[0]
	for _, t := range trials[1:] {
		if p.Better(t, place) || !p.neighbors(place.At, t.At) {
			place = t
		}
	}
	var open [][]float64
	for _, at := range p.steps(place.At) {
		if !seen[surrogate.Key(at)] {
			open = append(open, at)
		}
	}
	if len(open) > 0 {
		return Suggestion{At: open[r.IntN(len(open))]}, nil
	}
	return p.anew(seen, r)
}

func (p *Problem) anew(seen map[string]bool, r *rand.Rand) (Suggestion, error) {
	at, ok := p.random(seen, r)
	if !ok {
		return Suggestion{}, ErrDone
	}
	return Suggestion{At: at}, nil
}

// steps returns the points that differ from a point in one setting, by one step.
func (p *Problem) steps(from []float64) [][]float64 {
	var out [][]float64
	if p.Finite() {
		for _, at := range p.points() {
			if p.neighbors(from, at) {
				out = append(out, at)
			}
		}
		return out
	}
	for d, dim := range p.Space {
		for _, at := range dim.Near(from[d], climbStep) {
			next := slices.Clone(from)
			next[d] = at
			out = append(out, next)
		}
	}
	return out
}

// neighbors reports whether two points differ in one setting by one step: its next value among the points.
func (p *Problem) neighbors(a, b []float64) bool {
	differ := -1
	for d := range a {
		if a[d] != b[d] {
			if differ >= 0 {
				return false
			}
			differ = d
		}
	}
	if differ < 0 {
		return false
	}
	dim := p.Space[differ]
	for _, at := range dim.Near(a[differ], climbStep) {
		if math.Abs(at-b[differ]) < 1e-9 {
			return true
		}
	}
	return false
}
