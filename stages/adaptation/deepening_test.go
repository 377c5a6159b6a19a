package adaptation_test

import (
	"context"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/adaptation"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// trained returns an experiment with the real trainings of one decision between two actions, one with a
// budget too short for an epoch, and a controller that decided in two of them. Without a table its ranks are
// unknown.
func trained(t *testing.T, table bool) *record.Experiment {
	t.Helper()
	e := &record.Experiment{Dir: t.TempDir()}
	all := adaptation.Tables{Courses: []adaptation.CourseRow{
		{Adaptation: "net", Scenario: "grows", Sequence: "0", Accuracy: .9, Budget: 5, Trained: 5.001, Step: .004,
			Decided: []float64{1.2}, Times: []float64{1, 2, 3}, Accuracies: []float64{.5, .8, .9},
			Told: []float64{.001}, Deepening: []float64{.02}},
		{Adaptation: "net", Scenario: "grows", Sequence: "1", Accuracy: .1, Budget: 5, Trained: math.NaN(),
			Step: math.NaN()},
	}}
	rank := math.NaN()
	if table {
		rank = 1
		all.Sequences = []adaptation.SequenceRow{
			{Adaptation: "net", Scenario: "grows", Sequence: "0", Accuracy: .9, Rank: 1, Times: []float64{1, 5},
				Expected: []float64{.5, .9}},
			{Adaptation: "net", Scenario: "grows", Sequence: "1", Accuracy: .1, Rank: 2, Times: []float64{1, 5},
				Expected: []float64{.5, .1}},
		}
		all.Ranking = []adaptation.RankingRow{{Adaptation: "net", Controller: "agent", Scenario: "grows", Sequence: "0",
			Rank: 1, Of: 2,
			Where: adaptation.OnTable, Recorded: math.NaN(), Fidelity: math.NaN()}}
	}
	for seed := 1; seed <= 2; seed++ {
		for _, r := range []adaptation.ObjectiveRow{
			{LearnedOn: "grows", Lesson: 1, Episode: 1000, Objective: 10}, {LearnedOn: "grows", Lesson: 1, Episode: 2000, Objective: 30},
			{LearnedOn: "grows", Lesson: 2, Episode: 3000, Objective: 20}, {LearnedOn: "grows", Lesson: 2, Episode: 4000, Objective: 60},
		} {
			r.Adaptation, r.Controller, r.Seed = "net", "agent", seed
			r.Objective += 3 * float64(seed)
			all.Objectives = append(all.Objectives, r)
		}
		all.Courses = append(all.Courses, adaptation.CourseRow{
			Adaptation: "net", Controller: "agent", Scenario: "grows", Seed: seed, Sequence: "0", Accuracy: .95,
			Budget: 5, Trained: 5.002,
			Step: .004, Decided: []float64{1.3}, Times: []float64{1, 2, 3, 4}, Accuracies: []float64{.4, .85, .9, .95},
			Deepening: []float64{.03},
		})
	}
	all.RealRanking = []adaptation.RankingRow{{
		Adaptation: "net", Controller: "agent", Kind: "agent", Scenario: "grows", Sequence: "0", Seeds: 2,
		Accuracy: .95, Regret: -.05,
		Rank: rank, Of: 2, Where: adaptation.InTraining, Recorded: math.NaN(), Fidelity: math.NaN(),
	}}
	if err := all.Write(e.Dir); err != nil {
		t.Fatal(err)
	}
	return e
}

// The results of networks in real training are drawn: accuracy over time with the decisions, ranks, the
// distribution, and the times to add layers; without a table, the pictures that need none.
func TestRealTraining(t *testing.T) {
	for _, c := range []struct {
		table bool
		want  string
	}{
		{true, "adaptation_courses-net-grows adaptation_paths-net-grows adaptation_objective-net-agent adaptation_ranks-net " +
			"adaptation_ranks-net-real adaptation_accuracy-net-grows adaptation_time-net(skipped) adaptation_time-net-real"},
		{false, "adaptation_courses-net-grows adaptation_ranks-net-real adaptation_time-net-real"},
	} {
		e := trained(t, c.table)
		for _, kind := range []string{
			adaptation.AdaptationCourses, adaptation.AdaptationPaths, adaptation.AdaptationObjective,
			adaptation.AdaptationRanks,
			adaptation.AdaptationAccuracy, adaptation.AdaptationTime,
		} {
			e.Plan.Plots = append(e.Plan.Plots, record.Plot{Kind: kind})
		}
		list, err := pictures.Draw(context.Background(), e, t.TempDir(), pictures.Options{Formats: []string{"svg"}})
		if err != nil {
			t.Fatal(err)
		}
		plottest.Check(t, list)
		if got := plottest.Names(list); got != c.want {
			t.Errorf("table %v:\n%s\nwant\n%s", c.table, got, c.want)
		}
		raw, err := os.ReadFile(list[0].SVG)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(raw); !strings.Contains(text, "agent (0)") || !strings.Contains(text, "service time (s)") {
			t.Error("the picture of the trainings names no controller, or no axis")
		}
		if c.table {
			plottest.Golden(t, list, *update)
		}
	}
}
