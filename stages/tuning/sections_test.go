package tuning

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot/plottest"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// Sentences about searches.
func TestTuningInWords(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		runs              int
		median, low, high float64
		want, of          string
	}{
		{8, 11, 8, 15, "11 (8 to 15)", "11 (8 to 15) trials"}, {8, 11, 8, math.Inf(1), "11 (8 to more)", "11 (8 to more) trials"},
		{8, 11, 8, nan, "11 (8 to more)", "11 (8 to more) trials"}, {5, 1, 1, 2, "1", "1 trial"}, {6, 1, 1, 2, "1 (1 to 2)", "1 (1 to 2) trials"},
		{8, nan, nan, nan, "more", "more trials"},
	} {
		r := TuningRow{Runs: c.runs, Median: c.median, Low: c.low, High: c.high}
		if trialsTo(r) != c.want || trialsOf(r) != c.of {
			t.Errorf("%+v: %s, %s", c, trialsTo(r), trialsOf(r))
		}
	}
	for v, want := range map[float64]string{1.23456: "1.235", math.Inf(1): "–", 12345: "1.234e+04"} {
		if got := significant(v); got != want {
			t.Errorf("%g: %s", v, got)
		}
	}
	most, least := 0.5, 0.9
	e := &record.Experiment{}
	trial.Asked.Set(&e.Plan, []trial.Tuning{
		{Name: "t", Method: "x", Objective: "time", Constraints: []trial.Constraint{{Outcome: "cost", Max: &least}}},
		{Name: "t", Method: "bo", Objective: "time_to_loss", Target: &most,
			Constraints: []trial.Constraint{{Outcome: "accuracy", Min: &least}}},
		{Name: "u", Method: "bo", Objective: "time"},
	})
	row := TuningRow{Tuning: "t", Method: "bo", Hardware: "h", Runs: 4, Reached: 1, Best: nan, Median: nan, Trials: 9,
		RegretPct: 20, CostToBest: nan}
	want := "found nothing: no trial of t reached the target loss of at most 0.5 and accuracy of at least 0.9."
	if got := tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	row.Crashed = 2
	if got := tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"); !strings.HasSuffix(got, want+" 2 of its 9 trials crashed.") {
		t.Errorf("with crashes: %q", got)
	}
	if row.Best = 3; !strings.Contains(tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"), "only 1 of 4 runs came within 10% of the best known value (3 s); "+
		"the best that a run found was 20% behind it at the median.") {
		t.Errorf("%q", tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"))
	}
	if row.Median = 2; !strings.Contains(tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"), "needs 2 trials at the median to come within 10% of the best (3 s).") {
		t.Errorf("%q", tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"))
	}
	if row.CostToBest = 0.5; !strings.Contains(tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"), "needs 2 trials, which cost 0.500, at the median") {
		t.Errorf("%q", tuningSentence(e, &trial.Asked.Of(&e.Plan)[1], row, "t"))
	}
	row.Tuning = "u"
	if got := unsatisfied(e, row); got != "has an outcome" {
		t.Errorf("%q", got)
	}
	here, there := TuningRow{Tuning: "t", Hardware: "h", Axes: "a=1"}, TuningRow{Hardware: "i"}
	if one, several := tuningLabel(here, []TuningRow{here}), tuningLabel(here, []TuningRow{here, there}); one != "t a=1" ||
		several != "t on h a=1" {
		t.Errorf("%q, %q", one, several)
	}
	// Each row belongs to its tuning; a tuning without runs has no row.
	rows := []TuningRow{{Tuning: "t", Method: "bo", Hardware: "", Runs: 1, Best: nan, Median: nan, Found: nan}}
	if said := tuningSentences(e, rows); len(said) != 1 || !strings.Contains(said[0], "found nothing") {
		t.Errorf("%q", said)
	}
}

// If several searches find the same best settings, the text names the search with the fewest trials, and the one with
// the least cost.
func TestFewestTrials(t *testing.T) {
	nan := math.NaN()
	row := func(method string, reached int, median, low, high, cost float64) TuningRow {
		return TuningRow{Tuning: "t", Method: method, Hardware: "h", Axes: "method=" + method, Runs: 9, Reached: reached,
			Best: 3, Median: median, Low: low, High: high, CostToBest: cost, ToFixed: nan, RegretPct: nan}
	}
	bo, selftf, random := row("bo", 9, 11, 8, 15, 2), row("selftf", 9, 17, 12, 20, 1), row("random", 4, nan, nan, nan, 0.5)
	want := "t method=bo comes within 10% of the best after 11 (8 to 15) trials, the fewest; no difference from t method=selftf " +
		"is known. Until then, t method=selftf spends the least: 1."
	if got := needsFewest([]TuningRow{selftf, bo, random}); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	other := bo
	other.Best = 4
	for name, rows := range map[string][]TuningRow{
		"one": {bo}, "different bests": {bo, other}, "none came there": {random, random},
	} {
		if got := needsFewest(rows); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The terminal does not repeat how soon a single search found the best; the note names the size of the trials that count.
func TestSaidOnce(t *testing.T) {
	e := &record.Experiment{}
	trial.Asked.Set(&e.Plan, []trial.Tuning{{Name: "t", Method: "halving", Objective: "loss", Settings: []trial.TunedSetting{
		{Name: "lr"}, {Name: "images", Context: true}}}})
	row := TuningRow{Tuning: "t", Runs: 1, Median: 3}
	if got := unsaid(e, []TuningRow{row}, []string{"a", "b"}); len(got) != 1 || got[0] != "b" {
		t.Errorf("%q", got)
	}
	row.Crashed = 1
	if got := unsaid(e, []TuningRow{row}, []string{"a"}); len(got) != 1 {
		t.Errorf("the crashes are not said: %q", got)
	}
	best := found{}
	best.Settings = []record.Setting{{Name: "lr", Value: "0.1"}, {Name: "images", Value: "60000"}}
	if got := sizeOf(&trial.Asked.Of(&e.Plan)[0], best); got != " at images=60000" {
		t.Errorf("%q", got)
	}
}

// TestSentences compares the sentences about tuning while a job trains with testdata/sentences.txt.
func TestSentences(t *testing.T) {
	nan := math.NaN()
	var s plottest.Sentences
	for _, r := range []TuningRow{{Tuning: "t", Hardware: "h", Method: "bo"}, {Tuning: "t", Hardware: "h", Method: "nobody's"}} {
		for _, c := range []struct {
			mode string
			a    AgainstFixed
		}{
			{trial.Online, AgainstFixed{Value: 8, Runs: 1, Best: 10, Settings: "lr=0.1", Measured: 9, Ratio: 0.8, Low: nan,
				High: nan, Initial: nan}},
			{trial.ByRestart, AgainstFixed{Value: 8, Runs: 2, Best: 10, Settings: "lr=0.1", Measured: 9, Ratio: 0.8,
				Low: nan, High: nan, Initial: 0.5}},
			{trial.Online, AgainstFixed{Value: 8, Runs: 5, Best: 10, Settings: "lr=0.1", Measured: 9, Ratio: 0.8,
				Low: 0.7, High: 0.9, Initial: nan}},
		} {
			s.Add("tuned", againstFixed(r.Tuning, r, &trial.Tuning{Mode: c.mode, Objective: "time_to_loss"}, &c.a))
		}
	}
	s.Golden(t, *update)
}

// A search that found nothing has no distance from the best, in both tables.
func TestBehindBest(t *testing.T) {
	for want, pct := range map[string]float64{"–": math.NaN(), "39.1%": 39.109, "0%": 0} {
		if got := behindBest(TuningRow{RegretPct: pct}); got != want {
			t.Errorf("%g: %q, want %q", pct, got, want)
		}
	}
}
