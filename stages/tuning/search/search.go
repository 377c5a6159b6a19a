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

// Search is a search for the best settings of a job. It is one tune block, at one point of the axes that the block, its
// job and its hardware read. It is a part of the experiment.
type Search struct {
	trial.Tuning
	// Index is the number of the search among the searches of the experiment, from 0.
	Index int
	Range experiments.Range
	// Candidates are the only settings that may be tried: each has one value for each setting, in the order of
	// Settings. nil means that all combinations may be tried.
	Candidates [][]string
	// Impossible is the number of combinations that are left out because their job cannot run.
	Impossible int
	// At returns the cell of a trial. The error says why its settings are impossible.
	At func(values []string) (experiment.Cell, error) `json:"-"`
	// Checked are the cells of some settings, which the checks before a run examine.
	Checked []experiment.Cell
}

// Of returns the searches of an experiment.
func Of(s *experiment.Spec) (list []*Search) {
	experiment.EachPart(s.Parts, func(t *Search) { list = append(list, t) })
	return list
}

// Probes implements experiment.ProbePart.
func (t *Search) Probes() []experiment.Cell { return t.Checked }

// Repeated implements experiment.RepeatedPart. Each replicate of a search draws its own trials.
func (t *Search) Repeated() bool { return true }

// Size implements experiment.SizePart. The first search returns a text for all searches of the experiment, the others
// return none.
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

// Problem returns the search in the form that methods take. seed is the seed of their random numbers.
func (t *Search) Problem(seed uint64) *tuner.Problem {
	return trial.Problem(&t.Tuning, t.Candidates, seed)
}

// Most returns the greatest number of trials of the search: there are no more trials than combinations of settings.
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

// ValuesAt returns the settings' values at a point. For a recorded job, they are texts of its table.
func (t *Search) ValuesAt(at []float64) []string {
	space := trial.Space(&t.Tuning)
	for _, values := range t.Candidates {
		if p, err := trial.PointOf(&t.Tuning, space, values); err == nil && slices.Equal(p, at) {
			return values
		}
	}
	return trial.Values(&t.Tuning, at)
}

// SettingsAt returns the settings at a point, with their names.
func (t *Search) SettingsAt(at []float64) []control.Setting {
	var list []control.Setting
	for i, v := range t.ValuesAt(at) {
		list = append(list, control.Setting{Name: t.Settings[i].Name, Value: v})
	}
	return list
}

// Described returns the values on which decisions about a job that is tuned while it trains depend. They are lines of
// its key.
func (t *Search) Described() []string {
	search := t.Tuning
	search.Name, search.Imported, search.Best, search.BestSettings = "", nil, nil, nil
	raw, _ := json.Marshal(search) // cannot fail: it has only numbers and texts
	lines := []string{string(raw)}
	for _, values := range t.Candidates {
		lines = append(lines, fmt.Sprintf("%q", values))
	}
	return lines
}

// Known returns the measured paces of imported trials.
func (t *Search) Known() (list []tuner.MeasuredPace) {
	for _, one := range t.Imported {
		o := &one.Outcome
		if at, err := trial.Point(&t.Tuning, one.Settings); err == nil && o.Units > 0 && o.Crashed == "" {
			list = append(list, tuner.MeasuredPace{At: at, Pace: o.Time / float64(o.Units)})
		}
	}
	return list
}
