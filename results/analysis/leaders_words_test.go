package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// For more settings than a headline names, an answer counts how often each variant was the best; the headline names
// fewer.
func TestLeaders(t *testing.T) {
	leaders := []Leader{{Metric: measure.MeanJCT, Name: "srtf", Setting: axis("load", "1"), Axes: []string{"policy"}}}
	for i, name := range []string{"srtf", "las", "srtf", "las", "srtf", "fcfs", "srtf"} {
		l := Leader{Metric: measure.MeanJCT, Name: name, Mean: 2, Setting: axis("load", fmt.Sprint(i))}
		if i > 1 {
			l.Alike = []string{"rr"}
		}
		leaders = append(leaders, l)
	}
	var got []string
	for _, a := range leaderAnswers(leaders) {
		got = append(got, a.Text)
	}
	want := []string{"Lowest mean JCT in 7 settings: srtf in 4, las in 2, fcfs in 1; in 2 of them a difference from every " +
		"other was detected."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Where not all answers fit, each metric has its share, with the best candidates of each.
func TestConclusions(t *testing.T) {
	e := &record.Experiment{}
	var rows []record.ComparisonRow
	for i := range 5 {
		for _, metric := range []string{"mean_jct_s", "utilization"} {
			r := record.ComparisonRow{Metric: metric, Verdict: record.Worse, Ratio: 2 - float64(i)/10, Pairs: 3,
				PValue: 0.01, Level: 0.95, Method: stats.PairedT}
			rows = append(rows, between(r, "fcfs", fmt.Sprintf("p%d", i)))
		}
	}
	answers, more, err := Conclusions(e, rows, 4)
	if err != nil || more != 6 {
		t.Fatalf("%d more, %v", more, err)
	}
	var got []string
	for _, a := range answers {
		got = append(got, fmt.Sprintf("%s %.1f", a.Metric, a.Merit))
	}
	want := []string{"mean_jct_s -1.6", "mean_jct_s -1.7", "utilization 2.0", "utilization 1.9"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Candidates that equal the baseline in each pair leave the places to candidates that are better or worse.
func TestConclusionsThatTellComeFirst(t *testing.T) {
	e := &record.Experiment{}
	var rows []record.ComparisonRow
	add := func(candidate, method, verdict string, ratio float64) {
		r := record.ComparisonRow{Metric: "mean_jct_s", Verdict: verdict, Ratio: ratio, Difference: ratio - 1, Pairs: 3,
			PValue: 0.01, Level: 0.95, Method: method}
		rows = append(rows, between(r, "fcfs", candidate))
	}
	for i := range 4 {
		add(fmt.Sprintf("equal%d", i), stats.SignFlips, record.NoDifference, 1)
	}
	add("one", record.OneRun, record.NoDifference, 1)
	add("worse", stats.PairedT, record.Worse, 1.5)
	add("shifted", stats.SignFlips, record.Worse, 1.2)
	add("better", stats.PairedT, record.Better, 0.5)
	answers, more, err := Conclusions(e, rows, 3)
	if err != nil || more != 5 {
		t.Fatalf("%d more, %v", more, err)
	}
	var got []string
	for _, a := range answers {
		name, _, _ := strings.Cut(a.Text, " ")
		got = append(got, name)
	}
	if want := []string{"better", "shifted", "worse"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A comparison by groups on the stretches of one log gives the number of stretches, not of pairs.
func TestGroupsOfOneLogCountItsStretches(t *testing.T) {
	groups := func(blocks ...int) (rows []record.ComparisonRow) {
		for i, n := range blocks {
			r := record.ComparisonRow{Metric: "mean_jct_s", Verdict: record.Better, Ratio: 0.5, BaselineMean: 2, CandidateMean: 1,
				Pairs: 1, Method: "block bootstrap", By: "class", Group: fmt.Sprintf("c%d", i), Blocks: n}
			rows = append(rows, between(r, "fcfs", "easy"))
		}
		return rows
	}
	for _, c := range []struct {
		rows []record.ComparisonRow
		want string
	}{
		{groups(11, 11), "(11 stretches of one log)."},
		{groups(11, 10, 12), "(10–12 stretches of one log)."},
	} {
		if got := Answers(record.Plan{}, c.rows)[0].Text; !strings.HasSuffix(got, c.want) {
			t.Errorf("%s\ndoes not end in %s", got, c.want)
		}
	}
}
