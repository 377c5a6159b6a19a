package surrogate

import (
	"math"
	"slices"
)

// chooseInContext chooses the next settings and the context of the trial. Settings are scored in the goal context:
// expected improvement × probability of feasibility. The context is chosen by information per cost: the score is
// multiplied by the fraction of the uncertainty at the goal that the trial removes, and divided by the predicted
// cost. (After D. Huang and others, Sequential kriging optimization using multiple-fidelity evaluations, 2006; here
// the correlation is from the conditioned process.)
//
// Contexts are tried step by step from the cheapest, each with settings that were tried before, so that the cost and
// effect of a step are learned where it is cheap. The total cost of trials outside the goal since the last one in it
// is bounded, so that a search cannot continue with them endlessly.
func (m *model) chooseInContext(candidates [][]float64, trials []Trial) (Suggestion, error) {
	space := m.search.Space
	open := map[string]bool{}
	for _, c := range candidates {
		if space.AtGoal(c) {
			open[Key(c)] = true
		}
	}
	var useful, goals [][]float64
	for _, c := range candidates {
		if g := space.ToGoal(c); open[Key(g)] {
			useful, goals = append(useful, c), append(goals, g)
		}
	}
	if len(useful) == 0 {
		return Suggestion{}, ErrExhausted
	}
	v := m.view(goals, m.incumbent(trials))
	score := make([]float64, len(useful))
	for k := range score {
		score[k] = v.feasible[k] + v.gain[k]
	}
	if m.cost != nil {
		m.weigh(score, useful, goals, trials)
	}
	at := greatest(score)
	own := m.view(useful[at:at+1], m.best)
	return m.suggestion(useful[at:at+1], &own, 0), nil
}

// incumbent returns the value that a trial must improve on: the best observed value. If no value was observed, it
// returns the smallest expected value of tried settings that are probably feasible.
func (m *model) incumbent(trials []Trial) float64 {
	if !math.IsInf(m.best, 1) || m.objective == nil {
		return m.best
	}
	var at [][]float64
	for _, t := range trials {
		if t.State == Done {
			at = append(at, m.search.Space.ToGoal(t.At))
		}
	}
	v := m.view(at, m.best)
	best := m.best
	for k := range at {
		if v.feasible[k] > math.Log(0.5) {
			best = math.Min(best, v.mean[k])
		}
	}
	return best
}

// removed returns the fraction of the uncertainty at the goal that an observation removes, averaged over the objective
// and the limits.
func (m *model) removed(points, goals [][]float64) []float64 {
	sum := make([]float64, len(points))
	for _, p := range append([]*Process{m.objective}, m.limits...) {
		for k, part := range p.Explained(points, goals) {
			sum[k] += part / float64(1+len(m.limits))
		}
	}
	return sum
}

// spentCheaply returns the cost of the trials outside the goal since the last one at the goal.
func (m *model) spentCheaply(trials []Trial) float64 {
	sum := 0.0
	for _, t := range trials {
		if m.search.Space.AtGoal(t.At) {
			sum = 0
		} else if t.State == Done {
			sum += t.Cost
		}
	}
	return sum
}

// mostCheaply bounds the total cost of consecutive trials outside the goal, as a multiple of the expected cost of the
// best one at the goal.
const mostCheaply = 3

// weigh multiplies scores by the information of the trials, and divides them by their costs. The expected cost is
// exp(μ + σ²/2), since the logarithm of a cost is normal.
func (m *model) weigh(score []float64, useful, goals [][]float64, trials []Trial) {
	space, best := m.search.Space, goals[greatest(score)]
	cost, sd := m.cost.Predict(append(useful[:len(useful):len(useful)], best))
	for k := range cost {
		cost[k] += sd[k] * sd[k] / 2
	}
	steps := stepsOf(space, trials)
	dear := steps.allows(best) && m.spentCheaply(trials) >= mostCheaply*math.Exp(cost[len(useful)])
	for k, part := range m.removed(useful, goals) {
		score[k] += math.Log(part) - cost[k]
		if dear && !space.AtGoal(useful[k]) || !steps.allows(useful[k]) {
			score[k] = math.Inf(-1)
		}
	}
}

// steps determines how near to the goal trials may be.
type steps struct {
	space Space
	// By context: least is the smallest distance from the goal so far, and last the distance of the last trial.
	least, last []float64
	tried       map[string]bool // settings that were tried, moved to the goal
}

// mostRungs is the largest number of values of a context that are tried one by one. If there are more, a step has
// length continuousStep on the unit interval, or more after rounding.
const (
	mostRungs      = 8
	continuousStep = 0.25
	rounding       = 0.05
)

// inContexts returns the settings of p at each value of each context, and at the goal.
func (s Space) inContexts(p []float64) [][]float64 {
	out := [][]float64{s.ToGoal(p)}
	for d, dim := range s {
		if !dim.Context {
			continue
		}
		at := []float64{}
		if n := dim.Size(); n > 0 && n <= mostRungs {
			at = dim.All()
		} else {
			for u := 0.0; u <= 1; u += continuousStep {
				at = append(at, dim.Coordinate(dim.Value(u)))
			}
		}
		for _, u := range at {
			q := slices.Clone(p)
			q[d] = u
			out = append(out, q)
		}
	}
	return out
}

func stepsOf(space Space, trials []Trial) steps {
	s := steps{space: space, least: make([]float64, len(space)), last: make([]float64, len(space)),
		tried: map[string]bool{}}
	for _, t := range trials {
		s.tried[Key(space.ToGoal(t.At))] = true
	}
	for d, dim := range space {
		if !dim.Context {
			continue
		}
		s.last[d] = 1
		for _, t := range trials {
			if t.State == Done {
				s.last[d] = math.Min(s.last[d], math.Abs(t.At[d]-dim.Goal))
			}
		}
		s.least[d] = math.Max(0, s.last[d]-continuousStep-rounding)
		if n := dim.Size(); n > 0 && n <= mostRungs {
			s.least[d] = 0
			for i := range n {
				if away := math.Abs(dim.at(i) - dim.Goal); away < s.last[d]-1e-9 {
					s.least[d] = math.Max(s.least[d], away)
				}
			}
		}
	}
	return s
}

// allows reports whether a trial is at most one step nearer to the goal than earlier trials. A step to a new context
// must use settings that were tried.
func (s *steps) allows(at []float64) bool {
	for d, dim := range s.space {
		away := math.Abs(at[d] - dim.Goal)
		switch {
		case !dim.Context:
		case away < s.least[d]-1e-9:
			return false
		case s.least[d] > 1e-9 && away < s.last[d]-1e-9 && !s.tried[Key(s.space.ToGoal(at))]:
			return false
		}
	}
	return true
}
