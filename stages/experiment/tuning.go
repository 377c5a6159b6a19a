package experiment

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tuning"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/tuner"
)

// Tuning is a search for the best settings of a job: a tune block, at one point of
// the axes that it, its job and its hardware read.
type Tuning struct {
	tuning.Tuning
	Range experiments.Range
	// Candidates are the only settings that may be tried, each with a value for each
	// of the settings, in their order; nil where all combinations may be.
	Candidates [][]string
	// Impossible is how many combinations are left out, as no job can have them.
	Impossible int
	// At returns the cell of a trial. The error describes the problem with the settings.
	At func(values []string) (Cell, error) `json:"-"`
	// Probes are the cells at some of the settings, for the checks before a run.
	Probes []Cell
}

// Recorded are the outcomes of a job at its settings, from a table.
type Recorded struct {
	// File is the path of the table, Digest the digest of the outcomes at all settings.
	File    string
	Outcome record.TrialOutcome
}

// Problem is the search, with its random numbers derived from a seed.
func (t *Tuning) Problem(seed uint64) *tuner.Problem {
	return tuning.Problem(&t.Tuning, t.Candidates, seed)
}

// ValuesAt are the settings at a point of the problem: of a recorded job, as its table has
// them.
func (t *Tuning) ValuesAt(at []float64) []string {
	space := tuning.Space(&t.Tuning)
	for _, values := range t.Candidates {
		if p, err := tuning.PointOf(&t.Tuning, space, values); err == nil && slices.Equal(p, at) {
			return values
		}
	}
	return tuning.Values(&t.Tuning, at)
}

// SettingsAt are the settings at a point with their names.
func (t *Tuning) SettingsAt(at []float64) []control.Setting {
	var list []control.Setting
	for i, v := range t.ValuesAt(at) {
		list = append(list, control.Setting{Name: t.Settings[i].Name, Value: v})
	}
	return list
}

// Described is all that decisions about a job that is changed while it trains depend on, for
// keys.
func (t *Tuning) Described() []string {
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
func (t *Tuning) Known() (list []tuner.Known) {
	for _, one := range t.Imported {
		o := &one.Outcome
		if at, err := tuning.Point(&t.Tuning, one.Settings); err == nil && o.Units > 0 && o.Crashed == "" {
			list = append(list, tuner.Known{At: at, Pace: o.Time / float64(o.Units)})
		}
	}
	return list
}
