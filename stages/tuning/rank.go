package tuning

import (
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// fewestModelled is the least number of successful trials of a run for which a model is fitted.
const fewestModelled = 4

// Rank sets PredictedRank of each row. A model of each run's trials predicts which settings are the best, among all
// settings that any search tried. Their true rank is 1 if they are the best; infeasible settings rank last. A row has
// the median of the ranks over its runs.
func Rank(e *record.Experiment, rows []TuningRow) {
	next := 0
	for i := range trial.Asked.Of(&e.Plan) {
		t := &trial.Asked.Of(&e.Plan)[i]
		if next >= len(rows) || !ofTuning(&rows[next], t) {
			continue // a tuning without runs has no row
		}
		var ranks []float64
		known := knownSettings(e, t)
		for r := 1; r <= e.Plan.Replicates; r++ {
			if rank := known.predicted(e, i, r); rank > 0 {
				ranks = append(ranks, float64(rank))
			}
		}
		rows[next].PredictedRank, _, _ = MedianInterval(ranks)
		next++
	}
}

func ofTuning(r *TuningRow, t *trial.Tuning) bool {
	return r.Tuning == t.Name && r.Method == t.Method && r.Hardware == t.Hardware && r.Axes == record.AxesLabel(t.Axes)
}

// settings are the settings that any search tried, each once, with their outcomes.
type settings struct {
	t        *trial.Tuning
	problem  surrogate.Search
	at       [][]float64
	outcomes []*trial.Outcome
}

func knownSettings(e *record.Experiment, t *trial.Tuning) *settings {
	p := trial.Problem(t, nil, 0)
	s := &settings{t: t, problem: surrogate.Search{Space: p.Space, Scale: p.Scale, Limits: p.Limits}}
	seen := map[string]bool{}
	add := func(of []record.Setting, o *trial.Outcome) {
		var label strings.Builder
		for _, v := range of {
			label.WriteString(v.Name + "=" + v.Value + "\x00")
		}
		at, err := trial.Point(t, of)
		if err != nil || o == nil || !t.Counts(of) || seen[label.String()] {
			return
		}
		seen[label.String()] = true
		s.at, s.outcomes = append(s.at, at), append(s.outcomes, o)
	}
	for _, c := range trial.Cells(e) {
		if t.Same(&trial.Asked.Of(&e.Plan)[c.Trial.Tuning]) {
			add(c.Trial.Settings, c.Outcome)
		}
	}
	for i := range t.Imported {
		add(t.Imported[i].Settings, t.Imported[i].Outcome.Reach(t.Aim()))
	}
	return s
}

// predicted returns the true rank of the settings that a model of one run's trials predicts to be the best; 0 if the
// trials are too few for a model.
func (s *settings) predicted(e *record.Experiment, tuning, replicate int) int {
	var trials []surrogate.Trial
	done := 0
	for _, c := range trial.Cells(e) {
		if c.Trial.Tuning != tuning || c.Replicate != replicate || c.Outcome == nil {
			continue
		}
		at, err := trial.Point(s.t, c.Trial.Settings)
		if err != nil {
			continue
		}
		one := trial.ForModel(s.t, at, c.Outcome)
		if one.State == surrogate.Done {
			done++
		}
		trials = append(trials, one)
	}
	if done < fewestModelled {
		return 0
	}
	k, err := s.problem.Best(trials, s.at)
	if err != nil {
		return 0
	}
	if !slices.ContainsFunc(s.outcomes, s.t.Feasible) {
		return 0
	}
	rank, feasible := 1, s.t.Feasible(s.outcomes[k])
	for i, o := range s.outcomes {
		if i != k && s.t.Feasible(o) && (!feasible || s.t.Better(s.t.Value(o), s.t.Value(s.outcomes[k]))) {
			rank++
		}
	}
	return rank
}

// unranked sets the ranks of all rows to NaN, for unknown.
func unranked(rows []TuningRow) {
	for i := range rows {
		rows[i].PredictedRank = math.NaN()
	}
}
