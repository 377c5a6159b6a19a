package search

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// Search is a search for the best settings of a job: a tune block, at one point of the axes that it, its job and its
// hardware read. It is a part of the file.
type Search struct {
	trial.Tuning
	// Index is its place among the searches of the file.
	Index int
	Range experiments.Range
	// Candidates are the only settings that may be tried, each with a value for each
	// of the settings, in their order; nil where all combinations may be.
	Candidates [][]string
	// Impossible is how many combinations are left out, as no job can have them.
	Impossible int
	// At returns the cell of a trial. The error describes the problem with the settings.
	At func(values []string) (experiment.Cell, error) `json:"-"`
	// Checked are the cells at some of the settings, for the checks before a run.
	Checked []experiment.Cell
}

// Of are the searches of a file.
func Of(s *experiment.Spec) (list []*Search) {
	experiment.EachPart(s.Parts, func(t *Search) { list = append(list, t) })
	return list
}

// Probes implements experiment.ProbePart.
func (t *Search) Probes() []experiment.Cell { return t.Checked }

// Repeated implements experiment.RepeatedPart: each replicate of a search draws its own trials.
func (t *Search) Repeated() bool { return true }

// Size implements experiment.SizePart: the first search of a file speaks for all.
func (t *Search) Size(s *experiment.Spec) string {
	if t.Index > 0 {
		return ""
	}
	all, trials := Of(s), 0
	for _, one := range all {
		trials += one.Most() * s.Replicates
	}
	return fmt.Sprintf("%s × %s, up to %s", schema.Plural(len(all), "tuning"), schema.Plural(s.Replicates, "replicate"),
		schema.Plural(trials, "trial"))
}

// Problem is the search, with its random numbers derived from a seed.
func (t *Search) Problem(seed uint64) *tuner.Problem {
	return trial.Problem(&t.Tuning, t.Candidates, seed)
}

// Most is the number of trials that the search makes at most: no more than there are combinations of its settings.
func (t *Search) Most() int {
	if t.Mode != "" {
		return 1
	}
	n := len(t.Candidates)
	if t.Candidates == nil {
		n = trial.Space(&t.Tuning).Size(t.Trials)
	}
	if n == 0 {
		return t.Trials
	}
	return min(n, t.Trials)
}

// ValuesAt are the settings at a point of the problem: of a recorded job, as its table has
// them.
func (t *Search) ValuesAt(at []float64) []string {
	space := trial.Space(&t.Tuning)
	for _, values := range t.Candidates {
		if p, err := trial.PointOf(&t.Tuning, space, values); err == nil && slices.Equal(p, at) {
			return values
		}
	}
	return trial.Values(&t.Tuning, at)
}

// SettingsAt are the settings at a point with their names.
func (t *Search) SettingsAt(at []float64) []control.Setting {
	var list []control.Setting
	for i, v := range t.ValuesAt(at) {
		list = append(list, control.Setting{Name: t.Settings[i].Name, Value: v})
	}
	return list
}

// Described lists, for keys, everything that the decisions about a job that is changed while it trains depend on.
func (t *Search) Described() []string {
	search := t.Tuning
	search.Name, search.Imported, search.Best, search.BestSettings = "", nil, nil, nil
	raw, _ := json.Marshal(search) // numbers and texts
	lines := []string{string(raw)}
	for _, values := range t.Candidates {
		lines = append(lines, fmt.Sprintf("%q", values))
	}
	return lines
}

// Known are the paces of imported trials.
func (t *Search) Known() (list []tuner.MeasuredPace) {
	for _, one := range t.Imported {
		o := &one.Outcome
		if at, err := trial.Point(&t.Tuning, one.Settings); err == nil && o.Units > 0 && o.Crashed == "" {
			list = append(list, tuner.MeasuredPace{At: at, Pace: o.Time / float64(o.Units)})
		}
	}
	return list
}
