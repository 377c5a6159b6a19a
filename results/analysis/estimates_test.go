package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// lines returns the rows of a table without its header.
func lines(t table.Table) string {
	all := []string{strings.Join(t.Header(), " | ")}
	for _, r := range t.Rows {
		all = append(all, strings.Join(r, " | "))
	}
	return strings.Join(all, "\n")
}

// An unknown value of an estimate is a dash. There is a column for the axes if some job reads an axis.
func TestEstimateTable(t *testing.T) {
	rows := []record.EstimateRow{
		{Job: "a", Hardware: "h", Model: "auto", Chosen: "linear", Axes: "n=2", Threads: 2, Samples: 3, SampleFraction: 0.25,
			Intercept: 1, Slope: 2, Predicted: 10, Low: 0, High: 12, Actual: -1, ErrorPct: math.NaN()},
		{Job: "b", Hardware: "h", Model: "linear", Chosen: "linear", Threads: 1, Predicted: -1, Low: -1, High: -1, Actual: 8,
			Runs: 2, ErrorPct: 25},
		{Job: "c", Hardware: "h", Model: "mean", Threads: 1, Predicted: 1, Low: 1, High: 1, Actual: 1, Runs: 1},
	}
	const header = "job | hardware | model | axes | threads | samples | sampled | start-up (s) | an epoch or step (s) | " +
		"predicted (s) | interval (s) | actual (s) | runs | error"
	view := estimateTable(rows)
	want := header + `
a | h | auto (linear) | n=2 | 2 | 3 | 25% | 1 | 2 | 10 | 0 to 12 | – | 0 | –
b | h | linear |  | 1 | 0 | 0% | 0 | 0 | – | – to – | 8 | 2 | 25%
c | h | mean |  | 1 | 0 | 0% | 0 | 0 | 1 | 1 to 1 | 1 | 1 | 0%`
	if d := cmp.Diff(want, lines(view)); d != "" || view.Left() != 4 {
		t.Error(d, view.Left())
	}
	view = estimateTable(rows[2:])
	want = strings.Replace(header, "axes | ", "", 1) + "\nc | h | mean | 1 | 0 | 0% | 0 | 0 | 1 | 1 to 1 | 1 | 1 | 0%"
	if d := cmp.Diff(want, lines(view)); d != "" || view.Left() != 3 {
		t.Error(d, view.Left())
	}

	got := accuracyTable([]record.AccuracyRow{
		{Model: "linear", By: record.ByAll, Estimates: 2, Runs: 7, MeanAbs: 3, SD: 4, Bias: -1, Coverage: 0.5, Choices: 1,
			BestRank: 2, Regret: 5},
		{Model: "linear", By: record.ByJob, Group: "a", Made: record.MadeCorrected, SD: math.NaN(), BestRank: math.NaN()},
	})
	want = "linear | all runs | 2 | 7 | 3% | 4% | −1% | 50% | 1 | 2 | 5%\n" +
		"linear, corrected | a | 0 | 0 | 0% | – | 0% | 0% | 0 | – | 0%"
	if _, rows, _ := strings.Cut(lines(got), "\n"); rows != want {
		t.Error(rows)
	}
}

// The section on estimates describes their quality over all runs.
func TestEstimatesInWords(t *testing.T) {
	dir := t.TempDir()
	all := record.AccuracyRow{Model: "linear", By: record.ByAll, Runs: 7, MeanAbs: 3}
	accuracy := []record.AccuracyRow{{Model: "linear", By: record.ByJob, Group: "a"}, all}
	if err := record.Accuracy.Replace(dir, accuracy); err != nil {
		t.Fatal(err)
	}
	s, err := estimates.Tell(&record.Experiment{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	said := s.Report[0].Sentences
	if n := strings.Count(strings.Join(said, "\n"), AccuracySentence(all)); n != 1 || len(s.Report[3].Table.Rows) != 2 {
		t.Errorf("the accuracy over all runs is said %d times: %q", n, said)
	}
}

// A part's text comes after the text of the part that contains it. Sentences of the answer stay together.
func TestPartsWithinOthers(t *testing.T) {
	own := table.Section{Answers: []string{"a"}, Report: []table.Item{{Note: "above"}, {Sentences: []string{"b"}, Answer: true}}}
	told := Content{Section: own}
	told.add(table.Section{Answers: []string{"c"}, Terminal: []table.Item{{Note: "t"}}, Report: []table.Item{{Sentences: []string{"d"}, Answer: true},
		{Sentences: []string{"e"}}}})
	want := table.Section{Answers: []string{"a", "c"}, Terminal: []table.Item{{Note: "t"}},
		Report: []table.Item{{Note: "above"}, {Sentences: []string{"b", "d"}, Answer: true}, {Sentences: []string{"e"}}}}
	if d := cmp.Diff(want, told.Section); d != "" {
		t.Error(d)
	}
}
