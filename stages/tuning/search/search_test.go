package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/search"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// A recorded job has the settings of its table, others the settings of the search.
func TestSettingsOfSearches(t *testing.T) {
	tune := &search.Search{Tuning: trial.Tuning{
		Name: "t", Job: "a", Settings: []trial.TunedSetting{
			{Name: "lr", Min: 1, Max: 5}, {Name: "batch", Values: []string{"16", "32", "64"}, Numeric: true},
		},
		Imported: []trial.Imported{
			{Settings: []record.Setting{{Name: "lr", Value: "1"}, {Name: "batch", Value: "32"}}, Outcome: trial.Outcome{Time: 6, Units: 3}},
			{Settings: []record.Setting{{Name: "lr", Value: "1"}, {Name: "batch", Value: "64"}}, Outcome: trial.Outcome{Time: 6}},
			{Settings: []record.Setting{{Name: "lr", Value: "1"}, {Name: "batch", Value: "64"}},
				Outcome: trial.Outcome{Time: 6, Units: 3, Crashed: "out of memory"}},
			{Settings: []record.Setting{{Name: "lr", Value: "1"}, {Name: "batch", Value: "many"}}, Outcome: trial.Outcome{Time: 6, Units: 3}},
		},
	}}
	p := tune.Problem(1)
	at := tune.Known()
	if len(at) != 1 || at[0].Pace != 2 || len(at[0].At) != len(p.Space) {
		t.Fatalf("the paces %+v", at)
	}
	if got := fmt.Sprint(tune.SettingsAt(at[0].At)); got != "[{lr 1} {batch 32}]" {
		t.Errorf("the settings of the point are %s", got)
	}
	same := []tuner.MeasuredPace{{At: at[0].At, Pace: 2}}
	if diff := cmp.Diff(same, at); diff != "" {
		t.Error(diff)
	}
	tune.Candidates = [][]string{{"odd", "odd"}, {"1.0", "64"}, {"1.0", "32"}}
	if got := tune.ValuesAt(at[0].At); !slices.Equal(got, []string{"1.0", "32"}) {
		t.Errorf("the settings of the table are %q", got)
	}
	lines := tune.Described()
	if len(lines) != 4 || lines[3] != `["1.0" "32"]` || !strings.Contains(lines[0], `"lr"`) || strings.Contains(lines[0], `"imported"`) {
		t.Errorf("described as %q", lines)
	}
}

// A search of a finite space makes no more trials than there are combinations.
func TestTrialsOfAFiniteSpace(t *testing.T) {
	three := []string{"a", "b", "c"}
	listed := trial.TunedSetting{Name: "x", Values: []string{"1", "2", "3", "4", "5", "6"}, Numeric: true}
	for name, c := range map[string]struct {
		search search.Search
		want   int
	}{
		"grid":       {search.Search{Tuning: trial.Tuning{Trials: 60, Settings: []trial.TunedSetting{listed, {Name: "y", Values: three}}}}, 18},
		"fewer":      {search.Search{Tuning: trial.Tuning{Trials: 5, Settings: []trial.TunedSetting{listed}}}, 5},
		"continuous": {search.Search{Tuning: trial.Tuning{Trials: 60, Settings: []trial.TunedSetting{listed, {Name: "z", Min: 1, Max: 2, Numeric: true}}}}, 60},
		"whole":      {search.Search{Tuning: trial.Tuning{Trials: 60, Settings: []trial.TunedSetting{{Name: "n", Min: 1, Max: 9, Numeric: true, Integer: true}}}}, 9},
		"a table":    {search.Search{Tuning: trial.Tuning{Trials: 60, Settings: []trial.TunedSetting{listed}}, Candidates: [][]string{{"1"}, {"4"}}}, 2},
		"one job":    {search.Search{Tuning: trial.Tuning{Trials: 60, Mode: trial.Online, Settings: []trial.TunedSetting{listed}}}, 1},
	} {
		if got := c.search.Most(); got != c.want {
			t.Errorf("%s: at most %d trials, want %d", name, got, c.want)
		}
	}
}
