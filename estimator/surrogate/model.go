package surrogate

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

func newMatrix(rows, columns int) *mat.Dense { return mat.NewDense(rows, columns, nil) }

// model is what the search has learned from its trials.
type model struct {
	search    *Search
	best      float64    // the least feasible objective seen, on its scale; +Inf for none
	objective *Process   // nil when no trial is done
	limits    []*Process // of each limit
	finishes  *Process   // 1 for a trial that is done, 0 for one that crashed; nil when none has crashed
	cost      *Process   // nil unless the search is by cost
}

// model fits the processes. Trials that run are taken to come out as predicted, so
// that suggestions made side by side differ.
func (s *Search) model(trials []Trial) (*model, error) {
	m := &model{search: s, best: math.Inf(1)}
	var x, all [][]float64
	var y, cost, ended []float64
	limited := make([][]float64, len(s.Limits))
	crashed := false
	for _, t := range trials {
		if t.State == Running {
			continue
		}
		all = append(all, t.At)
		if t.State == Crashed {
			crashed, ended = true, append(ended, 0)
			continue
		}
		ended = append(ended, 1)
		x, y = append(x, t.At), append(y, s.Scale.of(t.Objective))
		cost = append(cost, Log.of(t.Cost))
		for i, l := range s.Limits {
			limited[i] = append(limited[i], l.modelled(t.Limited[i]))
		}
		if s.feasible(t) {
			m.best = math.Min(m.best, s.Scale.of(t.Objective))
		}
	}
	o := Options{Kernel: s.Kernel, Categorical: s.Space.categorical(), Fixed: s.Fixed}
	var err error
	fit := func(into **Process, x [][]float64, y []float64) {
		if err == nil && len(x) > 0 {
			*into, err = New(x, y, o)
		}
	}
	fit(&m.objective, x, y)
	m.limits = make([]*Process, len(s.Limits))
	for i := range s.Limits {
		fit(&m.limits[i], x, limited[i])
	}
	if crashed {
		fit(&m.finishes, all, ended)
	}
	if s.PerCost {
		fit(&m.cost, x, cost)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range trials {
		if t.State == Running {
			m.believe(t.At)
		}
	}
	return m, nil
}

// believe conditions the processes on their own prediction at a point.
func (m *model) believe(at []float64) {
	for _, p := range append([]**Process{&m.objective}, pointers(m.limits)...) {
		if *p == nil {
			continue
		}
		mean, _ := (*p).Predict([][]float64{at})
		if with, err := (*p).With(at, mean[0]); err == nil {
			*p = with
		}
	}
}

func pointers(ps []*Process) []**Process {
	out := make([]**Process, len(ps))
	for i := range ps {
		out[i] = &ps[i]
	}
	return out
}

// choose returns the candidate with the greatest expected improvement over the
// best seen times the probability that it is feasible, the first of equals. While
// nothing feasible has been seen, the probability alone decides.
func (m *model) choose(candidates [][]float64) Suggestion {
	n := len(candidates)
	score, gain, feasible := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, l := range m.search.Limits {
		if m.limits[i] == nil {
			continue
		}
		mean, sd := m.limits[i].Predict(candidates)
		for k := range candidates {
			feasible[k] += LogProbabilityBelow(l.modelled(l.Bound), mean[k], sd[k])
		}
	}
	if m.finishes != nil {
		mean, sd := m.finishes.Predict(candidates)
		for k := range candidates {
			feasible[k] += LogProbabilityBelow(-0.5, -mean[k], sd[k])
		}
	}
	var mean, sd []float64
	if m.objective != nil {
		mean, sd = m.objective.Predict(candidates)
	} else {
		mean, sd = make([]float64, n), make([]float64, n)
	}
	for k := range candidates {
		score[k] = feasible[k]
		if !math.IsInf(m.best, 1) {
			gain[k] = LogExpectedImprovement(m.best, mean[k], sd[k])
			score[k] += gain[k]
		}
	}
	if m.cost != nil {
		cost, _ := m.cost.Predict(candidates)
		for k := range candidates {
			score[k] -= cost[k]
		}
	}
	at := 0
	for k := range score {
		if score[k] > score[at] || math.IsNaN(score[at]) {
			at = k
		}
	}
	return Suggestion{At: candidates[at], Mean: mean[at], SD: sd[at], Feasible: math.Exp(feasible[at]), Gain: gain[at]}
}
