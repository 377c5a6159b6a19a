package remaining

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

// A model has errors of −10, 30 and 20%, and two intervals contain the actual value. A run that did not reach its
// target has no error.
func TestRemaining(t *testing.T) {
	row := func(model, job string, part, pct float64, covered bool) RemainingRow {
		return RemainingRow{Cell: "c", Job: job, Model: model, Part: part, ErrorPct: pct, Covered: covered,
			Level: 0.9, Reached: !math.IsNaN(pct)}
	}
	rows := []RemainingRow{
		row("laws", "a", 0.25, -10, true), row("laws", "a", 0.5, 30, false), row("laws", "b", 0.25, 20, true),
		row("laws", "never", 0.25, math.NaN(), false), row("gp", "a", 0.5, 4, true), row("gp", "never", 0.5, math.NaN(), false),
		row("none", "never", 0.25, math.NaN(), false),
	}
	want := []Summary{
		{Model: "laws", Runs: 3, MeanAbs: 20, Covered: 2.0 / 3, Level: 0.9},
		{Model: "laws", Part: 0.25, Runs: 2, MeanAbs: 15, Covered: 1, Level: 0.9},
		{Model: "laws", Part: 0.5, Runs: 1, MeanAbs: 30, Covered: 0, Level: 0.9},
		{Model: "gp", Runs: 1, MeanAbs: 4, Covered: 1, Level: 0.9},
		{Model: "gp", Part: 0.5, Runs: 1, MeanAbs: 4, Covered: 1, Level: 0.9},
	}
	if d := cmp.Diff(want, Summaries(rows)); d != "" {
		t.Error(d)
	}
	other := row("laws", "never", 0.25, math.NaN(), false)
	other.Cell = "d"
	var got []string
	for _, r := range Unreached(append(rows, other)) {
		got = append(got, r.Cell+" "+r.Job+" "+r.Model)
	}
	if d := cmp.Diff([]string{"c never laws", "d never laws"}, got); d != "" {
		t.Error(d)
	}
}

// The text names the first jobs that did not reach their target.
func TestUnreachedInWords(t *testing.T) {
	for _, jobs := range []int{mostUnreached, mostUnreached + 2} {
		dir := t.TempDir()
		var rows []RemainingRow
		for i := range jobs {
			rows = append(rows, RemainingRow{Cell: "c", Job: fmt.Sprint("j", i), Model: "laws", Target: 0.1, Loss: 1})
		}
		if err := Remaining.Replace(dir, rows); err != nil {
			t.Fatal(err)
		}
		s, err := part.Tell(&record.Experiment{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		said := s.Report[0].Sentences
		more := slices.Contains(said, "2 more jobs did not reach theirs: see remaining.csv.")
		if more != (jobs > mostUnreached) || strings.Contains(said[len(said)-1], "more jobs") != more ||
			!slices.Contains(said, unreachedSentence(rows[mostUnreached-1])) {
			t.Errorf("%d jobs: %q", jobs, said)
		}
	}
}

// Units are converted to service time.
func TestSeconds(t *testing.T) {
	if got := (RemainingRow{Predicted: 4, PredictedSeconds: 10}).Seconds(2); got != 5 {
		t.Errorf("2 of 4 units that take 10 s are %g s", got)
	}
	if got := (RemainingRow{}).Seconds(math.NaN()); got != math.MaxFloat64 {
		t.Errorf("units without an end are %g s", got)
	}
}

// TestSentences compares the sentences with testdata/sentences.txt.
func TestSentences(t *testing.T) {
	var s plottest.Sentences
	all := []Summary{
		{Model: "laws", Runs: 9, MeanAbs: 20, Covered: 0.9, Level: 0.9},
		{Model: "laws", Part: 0.2, Runs: 4, MeanAbs: 30, Covered: 0.75, Level: 0.9},
		{Model: "laws", Part: 0.4, Runs: 5, MeanAbs: 12.5, Covered: 1, Level: 0.9},
		{Model: "gp", Runs: 1, MeanAbs: 150, Covered: 0, Level: 0.8},
		{Model: "gp", Part: 0.4, Runs: 1, MeanAbs: 150, Covered: 0, Level: 0.8},
	}
	s.Add("remaining", Sentence(all))
	s.Add("remaining of one model", Sentence(all[:3]))
	s.Add("remaining of none", Sentence(nil))
	s.Add("remaining errors", Errors(all, 0.4))
	s.Table("remaining", tableOf(all))
	s.Add("unreached", unreachedSentence(RemainingRow{Job: "j", Cell: "c", Target: 0.1, Loss: 0.1234}))
	s.Golden(t, *update)
}
