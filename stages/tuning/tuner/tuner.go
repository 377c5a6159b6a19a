// Package tuner has the methods that choose which settings of a job to try next.
// A method receives all trials so far, and keeps nothing between calls. The same
// trials and the same seed give the same suggestion, so a tuning that was killed
// continues as if it had not been.
package tuner

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Problem is a search problem: smaller objectives are better.
type Problem struct {
	Space surrogate.Space
	// Candidates are the only points that may be tried; nil allows the whole space.
	Candidates [][]float64
	// Scale is the scale of the objective; Limits are constraints on other outcomes.
	Scale  surrogate.Scale
	Limits []surrogate.Limit
	// Start is the number of trials before the first model; 0 leaves it to the method.
	Start int
	// Trials is the number of trials in all.
	Trials int
	// PerCost asks methods that know costs for the greatest gain per cost.
	PerCost bool
	// Initial is the point of the job as its file has it.
	Initial []float64
	// Best is the best point where all outcomes are known beforehand; else nil.
	Best []float64
	Seed uint64
	// Prior and Spread are as in surrogate.Search; methods without a model, and selftf, do
	// without.
	Prior  func(at []float64) float64
	Spread float64
}

// Suggestion is the next point to try.
type Suggestion struct {
	At []float64
	// Modelled is set when a model chose the point: Mean and SD predict the objective
	// on Scale, Feasible is the probability that all constraints hold.
	Modelled           bool
	Mean, SD, Feasible float64
	Scale              surrogate.Scale
}

// ErrDone is returned when there is nothing left to try.
var ErrDone = errors.New("there is nothing left to try")

// Method is a way to search.
type Method struct {
	// Name is the name that users write: method = "bo". Doc ends a sentence that begins with it.
	Name, Doc string
	// Title names it in pictures and reports.
	Title string
	// NeedsBest is set when it needs Problem.Best, NeedsGrid when it needs a finite
	// space.
	NeedsBest, NeedsGrid bool
	// NeedsContext is set when it needs a space with one context.
	NeedsContext bool
	// Inputs is set when it models inputs in addition to the settings, such as the present loss.
	Inputs bool
	// Suggest returns the point to try after some trials, or ErrDone. Trials may be
	// running.
	Suggest func(p *Problem, trials []surrogate.Trial) (Suggestion, error)
}

var methods = schema.NewRegistry("tuner: method", func(m Method) string { return m.Name }, schema.Unranked)

// Register adds a method. It panics when the name is taken.
func Register(m Method) Method { return methods.Add(m) }

// Find returns the method of a name.
func Find(name string) (Method, bool) { return methods.Find(name) }

// All lists the methods by their names.
func All() []Method { return methods.All() }

// Names lists the names of the methods.
func Names() []string { return methods.Names(nil) }

// mostPoints bounds a space that is listed point by point.
const mostPoints = 100_000

// Finite reports whether the points of the problem can be listed.
func (p *Problem) Finite() bool { return p.Candidates != nil || p.Space.Size(mostPoints) > 0 }

// Points lists the relevant points of a finite problem, in a fixed order; nil if there are
// more than most.
func (p *Problem) Points(most int) [][]float64 {
	if p.Candidates == nil && p.Space.Size(most) == 0 || len(p.Candidates) > most {
		return nil
	}
	return p.points()
}

// points lists the points of a finite problem that count, in a fixed order.
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

// Feasible reports whether a trial is done and keeps all limits.
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

// Better reports whether a trial came out better than another: feasible ones
// come first, then those that violate their limits by less, then crashed ones.
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

// violation adds up by how much limits are missed, relative to their bounds.
func (p *Problem) violation(t surrogate.Trial) float64 {
	sum := 0.0
	for i, l := range p.Limits {
		if !l.Holds(t.Limited[i]) {
			sum += math.Abs(t.Limited[i]-l.Bound) / math.Max(math.Abs(l.Bound), 1e-9)
		}
	}
	return sum
}

// tried has the points of trials.
func tried(trials []surrogate.Trial) map[string]bool {
	at := map[string]bool{}
	for _, t := range trials {
		at[surrogate.Key(t.At)] = true
	}
	return at
}

// random draws a point that was not tried: each of a finite problem is as likely
// as the others.
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

// nearest returns the open point nearest to at, of a finite problem; at itself of
// another one.
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

// distance is the square of the Euclidean one; categories are apart or not.
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

// draws returns the random numbers of a suggestion.
func (p *Problem) draws(trials []surrogate.Trial) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(len(trials))+1))
}
