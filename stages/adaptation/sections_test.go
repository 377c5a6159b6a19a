package adaptation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/table"
)

// studied returns the rows of two scenarios, with four sequences of one decision among three blocks or none. The
// controllers are an agent with two seeds and the constant sequences.
func studied() Tables {
	var all Tables
	for _, s := range []struct {
		name     string
		accuracy []float64
		ranks    []int
	}{{"early", []float64{.70, .60, .65, .50}, []int{1, 3, 2, 4}}, {"late", []float64{.55, .60, .58, .40},
		[]int{3, 1, 2, 4}}} {
		for i, a := range s.accuracy {
			all.Sequences = append(all.Sequences, SequenceRow{
				Adaptation: "net", Scenario: s.name, Sequence: fmt.Sprint(i), Accuracy: a,
				Rank: s.ranks[i], Regret: []float64{.70, .60}[len(all.Sequences)/4] - a,
			})
		}
	}
	add := func(controller, kind, scenario string, knew bool, low, high float64, regrets ...float64) {
		sum := 0.0
		for i, r := range regrets {
			sum += r / float64(len(regrets))
			all.Choices = append(all.Choices, ChoiceRow{
				Adaptation: "net", Controller: controller, Scenario: scenario, Seed: i + 1, Decision: 1,
				Accuracy: map[string]float64{"early": .70, "late": .60}[scenario] - r,
			})
		}
		all.Ranking = append(all.Ranking, RankingRow{
			Adaptation: "net", Controller: controller, Kind: kind, Scenario: scenario, Knew: knew, Seeds: len(regrets),
			Sequence: "2", Regret: sum, RegretLow: low, RegretHigh: high, Rank: 2, Of: 4,
		})
	}
	nan := math.NaN()
	add("unseen", "agent", "early", false, .04, .06, .045, .055, .05)
	add("unseen", "agent", "late", false, 0, .03, .005, .015, .01)
	add("best", "best_constant", "early", true, nan, nan, .05)
	add("best", "best_constant", "late", true, nan, nan, .05)
	add("elsewhere", "best_elsewhere", "early", false, nan, nan, .02)
	add("elsewhere", "best_elsewhere", "late", false, nan, nan, .02)
	return all
}

// The report names the scenarios in which a constant sequence is as good as an agent, or better.
func TestAgentsAgainstConstants(t *testing.T) {
	got := Adaptations(studied())
	if len(got) != 1 {
		t.Fatalf("%d blocks", len(got))
	}
	const mean = "its mean regret is 0.0300 (0.0148–0.0452), that of the constant answer "
	want := []string{
		"The agent unseen beats the best constant answer (2): " + mean +
			"0.0500. The constant answer is equal, within the interval over the seeds, in early; worse in late.",
		"The agent unseen does not beat the constant answer that is best in the other scenarios: " + mean +
			"0.0200. The constant answer is better in early; equal, within the interval over the seeds, in late.",
	}
	if d := cmp.Diff(want, got[0].Answers); d != "" {
		t.Error(d)
	}
	wantScenarios := [][]string{
		{"early", "4", "0.7000", "0", "0.6125", "0.5000", "4", "0.0500", "100%", "–", "–"},
		{"late", "4", "0.6000", "1", "0.5325", "0.4000", "4", "0.0200", "100%", "–", "–"},
	}
	if d := cmp.Diff(wantScenarios, got[0].Scenarios.Rows); d != "" {
		t.Error(d)
	}
	for _, c := range []struct {
		table table.Table
		want  string
	}{
		{got[0].Ranks, "unseen | 2 | 2 | 0.0300 (0.0148–0.0452) | 0"},
		{got[0].Regrets, "unseen | 0.0000 | 0.0500 (0.0400–0.0600) | 0.0000 | 0.0100 (0.0000–0.0300)"},
	} {
		if row := strings.Join(c.table.Rows[0], " | "); row != c.want || len(c.table.Rows) != 3 {
			t.Errorf("%q in %d rows", row, len(c.table.Rows))
		}
	}
}

// An agent is better than a constant sequence with all of its seeds.
func TestAnAgentThatBeatsAConstant(t *testing.T) {
	all := studied()
	for i := range all.Choices {
		if all.Choices[i].Controller == "best" {
			all.Choices[i].Accuracy -= .3
		}
	}
	text := Adaptations(all)[0].Answers[0]
	if !strings.Contains(text, "beats the best constant answer (2): its mean regret") {
		t.Error(text)
	}
}

// Of eight sequences of three decisions between two actions, only the combination of all three decisions has an effect.
// The noise is √8 times this effect. The greatest of eight normal values is 1.4236 standard deviations above the mean.
func TestNoiseOfSequences(t *testing.T) {
	var b blockResults
	for _, size := range []float64{.01, .02} {
		s := fmt.Sprint(size)
		b.scenarios = append(b.scenarios, s)
		for i := range 8 {
			decided := []string{fmt.Sprint(i >> 2), fmt.Sprint(i >> 1 & 1), fmt.Sprint(i & 1)}
			together := float64(1-2*(i>>2)) * float64(1-2*(i>>1&1)) * float64(1-2*(i&1))
			b.Sequences = append(b.Sequences, SequenceRow{
				Scenario: s, Sequence: strings.Join(decided, " "), Accuracy: .7 + size*together,
			})
		}
	}
	text := b.noise()
	_, after, _ := strings.Cut(text, "regret of about ")
	var regret float64
	if _, err := fmt.Sscanf(after, "%f here", &regret); err != nil ||
		!strings.Contains(text, "standard deviation of 0.0283 to 0.0566.") ||
		math.Abs(regret-1.4236*math.Sqrt(8)*.015) > .001 {
		t.Errorf("%v: %s", err, text)
	}
	b.scenarios = append(b.scenarios, "nothing is known")
	if text := b.noise(); text != "" {
		t.Error(text)
	}
}

// The results of controllers in real training are next to the table.
func TestRealTrainingInWords(t *testing.T) {
	all := studied()
	nan := math.NaN()
	all.RealRanking = []RankingRow{
		{Adaptation: "net", Controller: "unseen", Scenario: "early", Seeds: 1, Sequence: "2", Accuracy: .64, Recorded: .65,
			Fidelity: -.01, Rank: 3, Regret: .06, RegretLow: nan, RegretHigh: nan},
		{Adaptation: "net", Controller: "best", Scenario: "late", Seeds: 2, Sequence: "1", Accuracy: .63, Recorded: .60,
			Fidelity: .03, Rank: 1, Regret: -.03, RegretLow: -.05, RegretHigh: -.01, Runs: 4},
		{Adaptation: "net", Controller: "best", Scenario: "new", Seeds: 1, Sequence: "1", Accuracy: .7, Recorded: nan,
			Fidelity: nan,
			Rank:     nan, Regret: nan, RegretLow: nan, RegretHigh: nan},
	}
	got := Adaptations(all)[0]
	want := [][]string{
		{"unseen", "early", "2", "1", "0.6400", "0.6500", "-0.0100", "3", "0.0600", "0"},
		{"best", "late", "1", "2", "0.6300", "0.6000", "+0.0300", "1", "-0.0300 (-0.0500 to -0.0100)", "4"},
		{"best", "new", "1", "1", "0.7000", "–", "–", "–", "–", "0"},
	}
	if d := cmp.Diff(want, got.Real.Rows); d != "" {
		t.Error(d)
	}
	if text := got.Answers[len(got.Answers)-1]; !strings.Contains(text,
		"from the same sequence in the table is 0.0200;") ||
		!strings.Contains(text, "the mean difference is +0.0100 (") {
		t.Error(text)
	}
}

// The headline says whether each agent is better than the best constant sequence, and lists the best controllers first.
func TestHeadlineOfAgents(t *testing.T) {
	h := Adaptations(studied())[0].Headline
	if want := "unseen (mean regret 0.0300) beats the best constant answer (2: 0.0500)."; h.Sentence != want {
		t.Errorf("%s, want %s", h.Sentence, want)
	}
	all := studied()
	all.Ranking = slices.DeleteFunc(all.Ranking, func(r RankingRow) bool { return r.Kind == bestConstant })
	if got, want := Adaptations(all)[0].Headline.Sentence, "Mean regret goes from 0.0200 (elsewhere) to 0.0300 (unseen)."; got != want {
		t.Errorf("without a constant answer: %s, want %s", got, want)
	}
	var names []string
	for _, r := range h.Table.Rows {
		names = append(names, r[0])
	}
	if d := cmp.Diff([]string{"elsewhere", "unseen", "best"}, names); d != "" {
		t.Error(d)
	}
}
