package surrogate

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Scale is the scale on which an outcome is modeled.
type Scale string

// Scales of outcomes.
const (
	Linear Scale = "linear"
	// Log models the logarithm of a positive outcome. It is for times and costs, on which settings act as factors.
	Log Scale = "log"
	// LogGap models log(1 − v) of an outcome below 1, such as an accuracy, because settings act as factors on its
	// error. It decreases when the outcome increases.
	LogGap Scale = "log_gap"
)

// leastGap is the smallest value of 1 − v that is distinguished.
const leastGap = 1e-6

// Modelled converts an outcome to the scale.
func (s Scale) Modelled(v float64) float64 {
	switch s {
	case Log:
		return math.Log(math.Max(v, math.SmallestNonzeroFloat64))
	case LogGap:
		return math.Log(math.Max(1-v, leastGap))
	}
	return v
}

// Fits returns the scale, or Linear if a value is out of its range: Log needs values above 0, and LogGap values of at
// most 1.
func (s Scale) Fits(values ...float64) Scale {
	for _, v := range values {
		if s == Log && !(v > 0) || s == LogGap && v > 1 {
			return Linear
		}
	}
	return s
}

// Natural converts a value on the scale to an outcome; it is the inverse of Modelled.
func (s Scale) Natural(modelled float64) float64 {
	switch s {
	case Log:
		return math.Exp(modelled)
	case LogGap:
		return 1 - math.Exp(modelled)
	}
	return modelled
}

// Limit is a constraint on an outcome: at most Bound, or at least Bound if AtLeast is set.
type Limit struct {
	Bound   float64
	AtLeast bool
	Scale   Scale
}

// modelled returns an outcome on the limit's scale, with the sign chosen so that smaller is better.
func (l Limit) modelled(v float64) float64 {
	v = l.Scale.Modelled(v)
	if l.AtLeast != (l.Scale == LogGap) { // LogGap decreases when the outcome increases
		return -v
	}
	return v
}

// Holds reports whether an outcome satisfies the limit.
func (l Limit) Holds(v float64) bool {
	if l.AtLeast {
		return v >= l.Bound
	}
	return v <= l.Bound
}

// State is the state of a trial.
type State string

// States of a trial. A crashed trial has no outcomes. It differs from a bad one, because the search learns where
// trials crash.
const (
	Done    State = "done"
	Crashed State = "crashed"
	Running State = "running"
)

// Trial is one evaluation of settings.
type Trial struct {
	At    []float64 // a point of the space
	State State
	// Objective is the value to minimize; Limited has the outcome of each limit; Cost is the cost of the trial. They
	// are valid only for finished trials.
	Objective float64
	Limited   []float64
	Cost      float64
}

// Search is a Bayesian optimization over a space. It suggests the next trial, given the trials so far. It has no
// state between calls: the same trials and seed give the same suggestion.
type Search struct {
	Space Space
	// Candidates are the points that may be tried; nil allows the whole space.
	Candidates [][]float64
	// Start is the number of first trials, which are from a centered Latin hypercube. 0 means half of the number of
	// settings, at least three.
	Start int
	Seed  uint64
	Scale Scale // of the objective
	// Limits are constraints on other outcomes.
	Limits []Limit
	// PerCost divides the expected improvement by the predicted cost. It is implied in a space with a context.
	PerCost bool
	// Kernel and Fixed are as in Options. The method SelfTF uses Exponential with fixed hyper-parameters.
	Kernel Kernel
	Fixed  *Hyper
	// Prior returns the expected objective at a point before any trial, on Scale and up to a constant. The process
	// models the difference between objective and Prior; Spread is the smallest standard deviation of that
	// difference. A nil Prior is the same everywhere.
	Prior  func(at []float64) float64
	Spread float64
}

// expected returns the Prior at a point, converted to a scale; 0 without a Prior.
func (s *Search) expected(scale Scale, at []float64) float64 {
	if s.Prior == nil || scale != s.Scale {
		return 0
	}
	return s.Prior(at)
}

// defaultStart returns the number of trials before the first model: half of the number of settings, at least three.
func (s *Search) defaultStart() int { return max(3, (s.Space.Settings()+1)/2) }

// Suggestion is a point to try.
type Suggestion struct {
	At []float64
	// Mean and SD are the predicted objective and its standard deviation, on Scale; 0 for one of the first trials.
	Mean, SD float64
	// Scale is the search's scale, or Linear if an objective is out of its range.
	Scale Scale
	// Feasible is the probability that all limits hold and the trial does not crash.
	Feasible float64
}

// ErrExhausted is returned when every point of a finite space has been tried.
var ErrExhausted = errors.New("every setting of the space has been tried")

// Suggest returns the point to try next, or ErrExhausted if all were tried.
func (s *Search) Suggest(trials []Trial) (Suggestion, error) {
	if err := s.check(trials); err != nil {
		return Suggestion{}, err
	}
	tried := map[string]bool{}
	for _, t := range trials {
		tried[Key(t.At)] = true
	}
	if at, ok := s.starting(trials, tried); ok {
		return Suggestion{At: at, Feasible: 1}, nil
	}
	candidates := s.candidates(trials, tried)
	if len(candidates) == 0 {
		return Suggestion{}, ErrExhausted
	}
	m, err := s.model(trials)
	if err != nil {
		return Suggestion{}, err
	}
	if len(s.Space) > s.Space.Settings() {
		return m.chooseInContext(candidates, trials)
	}
	return m.choose(candidates), nil
}

func (s *Search) check(trials []Trial) error {
	if err := s.Space.Check(); err != nil {
		return err
	}
	for i, t := range trials {
		if len(t.At) != len(s.Space) {
			return fmt.Errorf("trial %d has %d settings, the space has %d", i+1, len(t.At), len(s.Space))
		}
		if t.State == Done && len(t.Limited) != len(s.Limits) {
			return fmt.Errorf("trial %d has %d constrained outcomes, there are %d constraints", i+1, len(t.Limited),
				len(s.Limits))
		}
	}
	return nil
}

// Key returns a text that identifies a point.
func Key(p []float64) string {
	raw := make([]byte, 0, 8*len(p))
	for _, v := range p {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return string(raw)
}

// starting returns the next point of the Latin hypercube. ok is false if all have been tried.
func (s *Search) starting(trials []Trial, tried map[string]bool) (at []float64, ok bool) {
	start := s.Start
	if start <= 0 {
		start = s.defaultStart()
	}
	if len(trials) >= start {
		return nil, false
	}
	r := rand.New(rand.NewPCG(s.Seed, 0))
	taken := map[string]bool{}
	for i, p := range s.Space.LatinHypercube(start, r) {
		p = s.Space.ToCheapest(p)
		if s.Candidates != nil {
			if p = s.nearest(p, taken); p == nil {
				return nil, false
			}
		}
		taken[Key(p)] = true
		if i >= len(trials) && !tried[Key(p)] {
			return p, true
		}
	}
	return nil, false
}

// nearest returns the candidate nearest to p that is not in taken.
func (s *Search) nearest(p []float64, taken map[string]bool) []float64 {
	least, found := math.Inf(1), []float64(nil)
	for _, c := range s.Candidates {
		if taken[Key(c)] {
			continue
		}
		sum := 0.0
		for d := range c {
			delta := c[d] - p[d]
			if s.Space[d].Context {
				delta *= float64(len(c)) // a context matters more than any setting
			}
			if s.Space[d].Categories > 0 && delta != 0 {
				delta = 1
			}
			sum += delta * delta
		}
		if sum < least {
			least, found = sum, c
		}
	}
	return found
}

// The number of points that are compared. They are all points of a finite space with at most mostListed points;
// otherwise some fill the space, and some are near the best trials.
const (
	mostListed = 4096
	filling    = 600
	nearby     = 200
)

// candidates returns the points that are compared, in a fixed order.
func (s *Search) candidates(trials []Trial, tried map[string]bool) [][]float64 {
	points := s.Candidates
	if points == nil && s.Space.Size(mostListed) > 0 {
		points = s.Space.Grid()
	}
	if points == nil {
		points = s.drawn(trials)
	}
	var open [][]float64
	seen := map[string]bool{}
	for _, p := range points {
		if k := Key(p); !tried[k] && !seen[k] {
			seen[k] = true
			open = append(open, p)
		}
	}
	return open
}

// drawn returns points of a Halton sequence over the space, and points near the best trials.
func (s *Search) drawn(trials []Trial) [][]float64 {
	src := rand.NewPCG(s.Seed, uint64(len(trials))+1)
	r := rand.New(src)
	fill := mat.NewDense(filling, len(s.Space), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(s.Space), src), Src: src}.Sample(fill)
	var points [][]float64
	for i := range filling {
		p := make([]float64, len(s.Space))
		for d := range p {
			p[d] = s.Space[d].cell(min(fill.At(i, d), math.Nextafter(1, 0)))
		}
		points = append(points, p)
	}
	best := s.best(trials)
	for i := 0; len(best) > 0 && i < nearby; i++ {
		from := best[i%len(best)]
		p := slices.Clone(from)
		step := math.Pow(10, -0.5-2*r.Float64())
		for d := range p {
			switch dim := s.Space[d]; {
			case dim.Categories > 0:
				if r.Float64() < 0.2 {
					p[d] = dim.cell(r.Float64())
				}
			default:
				p[d] = dim.Coordinate(dim.Value(min(max(p[d]+step*r.NormFloat64(), 0), 1)))
			}
		}
		points = append(points, p)
	}
	if s.Space.Settings() == len(s.Space) {
		return points
	}
	for i := range filling { // also at the goal of its contexts
		points = append(points, s.Space.ToGoal(points[i]))
	}
	for _, p := range points[filling : filling+min(nearby, len(best)*nearby)] {
		points = append(points, s.Space.ToGoal(p))
	}
	for _, t := range trials { // the tried settings, in other contexts
		points = append(points, s.Space.inContexts(t.At)...)
	}
	return points
}

// best returns the points of the three best feasible trials.
func (s *Search) best(trials []Trial) [][]float64 {
	var done []Trial
	for _, t := range trials {
		if t.State == Done && s.feasible(t) {
			done = append(done, t)
		}
	}
	slices.SortStableFunc(done, func(a, b Trial) int { return cmp.Compare(a.Objective, b.Objective) })
	return schema.Each(done[:min(3, len(done))], func(t Trial) []float64 { return t.At })
}

// feasible reports whether a finished trial is at the goal and satisfies all limits.
func (s *Search) feasible(t Trial) bool {
	if !s.Space.AtGoal(t.At) {
		return false
	}
	for i, l := range s.Limits {
		if !l.Holds(t.Limited[i]) {
			return false
		}
	}
	return true
}
