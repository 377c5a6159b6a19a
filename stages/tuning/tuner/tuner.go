// Package tuner has the methods that choose which settings of a job to try next. A method gets all trials so far, and
// keeps nothing between calls. The same trials and the same seed give the same suggestion. A search that was killed
// therefore continues as if it had not been interrupted.
package tuner

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Problem is a search for the point with the least objective.
type Problem struct {
	Space surrogate.Space
	// Candidates are the only points that may be tried; nil allows the whole space.
	Candidates [][]float64
	// Scale is the scale on which the objective is modeled. Limits are bounds on other outcomes.
	Scale  surrogate.Scale
	Limits []surrogate.Limit
	// Start is the number of trials before a model is fitted; 0 means the method's default.
	Start int
	// Trials is the total number of trials.
	Trials int
	// PerCost asks methods that model costs for the greatest gain per cost.
	PerCost bool
	// Initial is the point of the settings in the job's file.
	Initial []float64
	// Best is the best point, if all outcomes are known beforehand; else nil.
	Best []float64
	Seed uint64
	// Prior and Spread are as in surrogate.Search. Methods without a model ignore them, as does selftf.
	Prior  func(at []float64) float64
	Spread float64
}

// Suggestion is the next point to try.
type Suggestion struct {
	At []float64
	// Modelled reports whether a model chose the point. Mean and SD are then its prediction of the objective, on Scale.
	// Feasible is the probability that all constraints hold.
	Modelled           bool
	Mean, SD, Feasible float64
	Scale              surrogate.Scale
}

// ErrDone is returned by a method when no points are left to try.
var ErrDone = errors.New("there is nothing left to try")

// Method is a way to choose the next settings to try.
type Method struct {
	// Name is the name in experiment files: method = "bo". Doc continues a sentence that begins with the name.
	Name, Doc string
	// Title is the name in pictures and reports.
	Title string
	// NeedsBest reports whether the method needs Problem.Best, NeedsGrid whether it needs a finite space.
	NeedsBest, NeedsGrid bool
	// NeedsContext reports whether the method needs a space with exactly one context.
	NeedsContext bool
	// Inputs reports whether the method can model dimensions that are not settings, such as the present loss.
	Inputs bool
	// Suggest returns the next point to try, or ErrDone. Some of the trials may still be running.
	Suggest func(p *Problem, trials []surrogate.Trial) (Suggestion, error)
}

var methods = schema.NewRegistry("tuner: method", func(m Method) string { return m.Name }, schema.Unranked)

// Register adds a method. It panics if the name is taken.
func Register(m Method) Method { return methods.Add(m) }

// Find returns the method with the given name.
func Find(name string) (Method, bool) { return methods.Find(name) }

// All returns all methods, in the order of their names.
func All() []Method { return methods.All() }

// Names returns the names of all methods, sorted.
func Names() []string { return methods.Names(nil) }

// mostPoints is the greatest number of points of a space that are listed.
const mostPoints = 100_000

// Finite reports whether the points of the problem can be listed.
func (p *Problem) Finite() bool { return p.Candidates != nil || p.Space.Size(mostPoints) > 0 }

// Points returns the points of a finite problem in which contexts have their goals, in a fixed order. It returns nil if
// there are more than most.
func (p *Problem) Points(most int) [][]float64 {
	if p.Candidates == nil && p.Space.Size(most) == 0 || len(p.Candidates) > most {
		return nil
	}
	return p.points()
}

// points returns the points of a finite problem in which contexts have their goals, in a fixed order.
func (p *Problem) points() [][]float64 {
	points := p.Candidates
	if points == nil {
		points = p.Space.Grid()
	}
	if p.Space.Settings() == len(p.Space) {
		return points
	}
	return slices.DeleteFunc(slices.Clone(points), func(at []float64) bool { return !p.Space.AtGoal(at) })
}

// Feasible reports whether a trial succeeded and keeps all limits.
func (p *Problem) Feasible(t surrogate.Trial) bool {
	if t.State != surrogate.Done {
		return false
	}
	for i, l := range p.Limits {
		if !l.Holds(t.Limited[i]) {
			return false
		}
	}
	return true
}

// Better reports whether trial a is better than trial b. Feasible trials are the best; then those that violate their
// limits by less; crashed ones are the worst.
func (p *Problem) Better(a, b surrogate.Trial) bool {
	x, y := p.rank(a), p.rank(b)
	if x != y {
		return x < y
	}
	switch x {
	case 0:
		return a.Objective < b.Objective
	case 1:
		return p.violation(a) < p.violation(b)
	}
	return false
}

func (p *Problem) rank(t surrogate.Trial) int {
	switch {
	case p.Feasible(t):
		return 0
	case t.State == surrogate.Done:
		return 1
	}
	return 2
}

// violation returns the sum of the distances by which limits are missed, each relative to its bound.
func (p *Problem) violation(t surrogate.Trial) float64 {
	sum := 0.0
	for i, l := range p.Limits {
		if !l.Holds(t.Limited[i]) {
			sum += math.Abs(t.Limited[i]-l.Bound) / math.Max(math.Abs(l.Bound), 1e-9)
		}
	}
	return sum
}

// tried returns the keys of the points that were tried.
func tried(trials []surrogate.Trial) map[string]bool {
	at := map[string]bool{}
	for _, t := range trials {
		at[surrogate.Key(t.At)] = true
	}
	return at
}

// random draws a point that was not tried. In a finite problem, each such point is equally likely.
func (p *Problem) random(seen map[string]bool, r *rand.Rand) ([]float64, bool) {
	if p.Finite() {
		var open [][]float64
		for _, at := range p.points() {
			if !seen[surrogate.Key(at)] {
				open = append(open, at)
			}
		}
		if len(open) == 0 {
			return nil, false
		}
		return open[r.IntN(len(open))], true
	}
	return p.Space.ToGoal(p.Space.Draw(r)), true
}

// nearest returns the point nearest to `at` that was not tried. If the problem is not finite, it returns `at`.
func (p *Problem) nearest(at []float64, seen map[string]bool) ([]float64, bool) {
	if !p.Finite() {
		return at, true
	}
	least, found := math.Inf(1), []float64(nil)
	for _, c := range p.points() {
		if d := p.distance(at, c); d < least && !seen[surrogate.Key(c)] {
			least, found = d, c
		}
	}
	return found, found != nil
}

// distance returns the square of the Euclidean distance. Two different categories have the distance 1.
func (p *Problem) distance(a, b []float64) float64 {
	sum := 0.0
	for d := range a {
		delta := a[d] - b[d]
		if p.Space[d].Categories > 0 && delta != 0 {
			delta = 1
		}
		sum += delta * delta
	}
	return sum
}

// draws returns the random number generator of the next suggestion.
func (p *Problem) draws(trials []surrogate.Trial) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(len(trials))+1))
}
