package adaptation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// Three controllers: one that follows its sequence after two trainings, one that decides by its seed, and one that
// decides nothing.
func init() {
	deepening.Register(deepening.Kind{Rank: 201, Name: "tries", Doc: "Tries two sequences, and follows its own.",
		New: func(w deepening.DecisionInputs) deepening.Decider {
			w.Run(0)
			w.Run(1)
			return follows(w.Controller.Sequence)
		}})
	deepening.Register(deepening.Kind{Rank: 202, Name: "seeded", Doc: "Follows its seed.", Random: true,
		New: func(w deepening.DecisionInputs) deepening.Decider { return follows{int(w.Seed) % 2, 1} }})
	deepening.Register(deepening.Kind{Rank: 203, Name: "makes", Doc: "Decides nothing.", Makes: true,
		New: func(deepening.DecisionInputs) deepening.Decider { panic("it decides nothing") }})
	deepening.Register(deepening.Kind{Rank: 204, Name: "oracle_first", Doc: "Knows all.", Oracle: true,
		New: func(deepening.DecisionInputs) deepening.Decider { return follows{1, 0} }})
}

// follows decides by a sequence; the probability of each of its actions is 3/4.
type follows []int

func (f follows) Probabilities(decision, _ int) []float64 {
	p := []float64{0.25, 0.25}
	p[f[decision]] = 0.75
	return p
}

// ranked returns a study of two decisions: to deepen block 0, or no block. The accuracies are of 0 0, 0 1, 1 0 and 1 1.
func ranked() *deepening.Study {
	return &deepening.Study{
		Name: "net", Digest: "abc", Budget: 40, Seeds: 3,
		Tables: []*deepening.OutcomeTable{{Name: "calm", Decisions: 2, Actions: 2, Time: [][]float64{{0.25}, {0.5, 0.75}},
			Accuracy: []float64{0.5, 0.875, 0.75, 0.625}}},
		Controllers: []*deepening.Controller{
			{Name: "fix", Kind: "tries", Sequence: []int{1, 1}}, {Name: "dice", Kind: "seeded"}, {Name: "table", Kind: "makes"},
			{Name: "best", Kind: "oracle_first"},
		},
	}
}

// Each controller is ranked by its choices under all of its seeds.
func TestRanking(t *testing.T) {
	var out Tables
	if err := playControllers(t.TempDir(), ranked(), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.Ranking {
		got = append(got, fmt.Sprintf("%s %s %s: %d seeds, %q of %d, accuracy %.4f, regret %.4f, rank %g from %d to %d of %d, %g runs, knew %t, on the %s",
			r.Adaptation, r.Controller, r.Scenario, r.Seeds, r.Sequence, r.Sequences, r.Accuracy, r.Regret, r.Rank, r.BestRank, r.WorstRank,
			r.Of, r.Runs, r.Knew, r.Where))
		if !math.IsNaN(r.Recorded) || !math.IsNaN(r.Fidelity) {
			t.Errorf("%s was never trained: %+v", r.Controller, r)
		}
	}
	want := []string{
		`net fix calm: 1 seeds, "1 1" of 1, accuracy 0.6250, regret 0.2500, rank 3 from 3 to 3 of 4, 2 runs, knew false, on the table`,
		// seeds 1 and 3 choose 1 1, seed 2 chooses 0 1
		`net dice calm: 3 seeds, "1 1" of 2, accuracy 0.7083, regret 0.1667, rank 3 from 1 to 3 of 4, 0 runs, knew false, on the table`,
		`net best calm: 1 seeds, "1 0" of 1, accuracy 0.7500, regret 0.1250, rank 2 from 2 to 2 of 4, 0 runs, knew true, on the table`,
	}
	same(t, got, want)
	if dice := out.Ranking[1]; !math.IsNaN(dice.RegretLow) || !math.IsNaN(dice.RegretHigh) {
		t.Errorf("one of three seeds differs, and the interval is %g to %g", dice.RegretLow, dice.RegretHigh)
	}
	if fix := out.Ranking[0]; !math.IsNaN(fix.RegretLow) || !math.IsInf(fix.RegretHigh, 1) && !math.IsNaN(fix.RegretHigh) {
		t.Errorf("one seed has the interval %g to %g", fix.RegretLow, fix.RegretHigh)
	}
	if len(out.Trainings) != 1+3+1 || out.Trainings[2].Seed != 2 || out.Trainings[0].Seconds != -1 || !(out.Trainings[0].Deciding >= 0) {
		t.Errorf("%+v", out.Trainings)
	}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("line %d of %d, want %d lines:\n%v\nwant\n%v", i, len(got), len(want), got[min(i, len(got)):], want[min(i, len(want)):])
			return
		}
	}
}

// The row of a decision has the remaining budget, the network at that time, the probabilities, and the expected
// accuracies before and after.
func TestDecisions(t *testing.T) {
	var out Tables
	s := ranked()
	s.Controllers = s.Controllers[:1]
	if err := playControllers(t.TempDir(), s, &out); err != nil {
		t.Fatal(err)
	}
	s.Controllers[0].Sequence = []int{0, 1}
	if err := playControllers(t.TempDir(), s, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range out.Choices {
		got = append(got, fmt.Sprintf("decision %d of seed %d: %g s left, network %s, %s: %d, %.4f to %.4f, in the end %g, on the %s", r.Decision, r.Seed,
			r.TimeLeft, r.State, r.Probabilities, r.Action, r.ExpectedBefore, r.ExpectedAfter, r.Accuracy, r.Where))
		if !math.IsNaN(r.Before) || !math.IsNaN(r.After) {
			t.Errorf("nothing was trained: %+v", r)
		}
	}
	same(t, got, []string{
		"decision 1 of seed 1: 30 s left, network 0, 0.2500 0.7500: 1, 0.6875 to 0.6875, in the end 0.625, on the table",
		"decision 2 of seed 1: 10 s left, network 0, 0.2500 0.7500: 1, 0.6875 to 0.6250, in the end 0.625, on the table",
		"decision 1 of seed 1: 30 s left, network 0, 0.7500 0.2500: 0, 0.6875 to 0.6875, in the end 0.875, on the table",
		"decision 2 of seed 1: 20 s left, network 0 0+, 0.2500 0.7500: 1, 0.6875 to 0.8750, in the end 0.875, on the table",
	})
}

// Every sequence has its rank, the times of its decisions, and the expected accuracies after each decision.
func TestSequences(t *testing.T) {
	s := ranked()
	var got []string
	for _, r := range sequences(s, s.Tables[0]) {
		got = append(got, fmt.Sprintf("%s: %g, regret %g, rank %d, at %v, expected %v", r.Sequence, r.Accuracy, r.Regret, r.Rank, r.Times, r.Expected))
	}
	same(t, got, []string{
		"0 0: 0.5, regret 0.375, rank 4, at [10 20 40], expected [0.6875 0.6875 0.5]",
		"0 1: 0.875, regret 0, rank 1, at [10 20 40], expected [0.6875 0.6875 0.875]",
		"1 0: 0.75, regret 0.125, rank 2, at [10 30 40], expected [0.6875 0.6875 0.75]",
		"1 1: 0.625, regret 0.25, rank 3, at [10 30 40], expected [0.6875 0.6875 0.625]",
	})
	if got := layers([]int{0, 1, 1, 2, 5}); got != "0 0+ 0+ 1 2+" {
		t.Errorf("the layers are %s", got)
	}
}

// Decisions in real training are ranked among the sequences of the table, and compared with them.
func TestRealTraining(t *testing.T) {
	s := ranked()
	fix, dice := s.Controllers[0], s.Controllers[1]
	s.Controllers = nil
	s.Real = &deepening.RealTrainings{Decisions: 2, Blocks: 1, Budget: 40 * time.Second}
	decide := func(left float64, action int) deepening.RealDecision {
		return deepening.RealDecision{TimeLeft: left, Action: action, Probabilities: []float64{0.5, 0.5}, Before: 0.25,
			After: 0.375}
	}
	s.Chosen = []deepening.RealDecisions{
		{Controller: fix, Scenario: "calm", Seed: 1, Runs: 2, Decisions: []deepening.RealDecision{decide(30, 0), decide(20,
			1)}, Accuracy: 0.8125, Recorded: 0.875},
		{Controller: dice, Scenario: "unknown", Seed: 1, Decisions: []deepening.RealDecision{decide(28, 1)}, Accuracy: 0.5,
			Recorded: math.NaN()},
		{Controller: fix, Scenario: "calm", Seed: 2, Runs: 4, Decisions: []deepening.RealDecision{decide(29, 1), decide(9,
			0)}, Accuracy: 0.6875, Recorded: 0.75},
		{Controller: fix, Scenario: "calm", Seed: 3, Decisions: []deepening.RealDecision{decide(29, 1), decide(9, 0)},
			Accuracy: 0.9375, Recorded: math.NaN()},
	}
	s.Trained = []deepening.RealTraining{{Scenario: "calm", Sequence: "0 1", Accuracy: 0.875, Trained: 39, Budget: 40},
		{Controller: "fix", Scenario: "calm", Seed: 2, Sequence: "1"}}
	out := Tables{Ranking: []RankingRow{{Adaptation: "another"}}, Choices: []ChoiceRow{{Adaptation: "another"}}}
	if err := playControllers(t.TempDir(), s, &out); err != nil {
		t.Fatal(err)
	}
	if out.Ranking[0].Where != "" || out.Choices[0].Where != "" {
		t.Error("the rows of another adaptation have changed")
	}
	var got []string
	for _, r := range out.RealRanking {
		got = append(got, fmt.Sprintf("%s %s: %d seeds, %q of %d, accuracy %.4f, regret %.4f, rank %g from %d to %d of %d, %g runs, recorded %.4f, fidelity %.4f, in %s",
			r.Controller, r.Scenario, r.Seeds, r.Sequence, r.Sequences, r.Accuracy, r.Regret, r.Rank, r.BestRank, r.WorstRank, r.Of, r.Runs,
			r.Recorded, r.Fidelity, r.Where))
	}
	same(t, got, []string{
		`fix calm: 3 seeds, "0 1" of 2, accuracy 0.8125, regret 0.0625, rank 2 from 1 to 3 of 4, 2 runs, recorded 0.8125, fidelity -0.0625, in real`,
		`dice unknown: 1 seeds, "1" of 1, accuracy 0.5000, regret NaN, rank NaN from 0 to 0 of 4, 0 runs, recorded NaN, fidelity NaN, in real`,
	})
	if r := out.RealRanking[0]; !(r.RegretLow < r.Regret && r.Regret < r.RegretHigh) {
		t.Errorf("the regret %g lies in %g to %g", r.Regret, r.RegretLow, r.RegretHigh)
	}
	got = nil
	for _, r := range out.RealChoices[:3] {
		got = append(got, fmt.Sprintf("%s seed %d, decision %d: %g s left, network %s, %s: %d, from %g to %g, expected %.4f to %.4f, in the end %g, in %s",
			r.Controller, r.Seed, r.Decision, r.TimeLeft, r.State, r.Probabilities, r.Action, r.Before, r.After, r.ExpectedBefore, r.ExpectedAfter,
			r.Accuracy, r.Where))
	}
	same(t, got, []string{
		"fix seed 1, decision 1: 30 s left, network 0, 0.5000 0.5000: 0, from 0.25 to 0.375, expected 0.6875 to 0.6875, in the end 0.8125, in real",
		"fix seed 1, decision 2: 20 s left, network 0 0+, 0.5000 0.5000: 1, from 0.25 to 0.375, expected 0.6875 to 0.8750, in the end 0.8125, in real",
		"fix seed 2, decision 1: 29 s left, network 0, 0.5000 0.5000: 1, from 0.25 to 0.375, expected 0.6875 to 0.6875, in the end 0.6875, in real",
	})
	if last := out.RealChoices[len(out.RealChoices)-1]; last.Controller != "dice" || !math.IsNaN(last.ExpectedBefore) || !math.IsNaN(last.ExpectedAfter) {
		t.Errorf("without a table nothing is expected: %+v", last)
	}
	if c := out.Courses; len(c) != 2 || c[0].Controller != "" || c[0].Sequence != "0 1" || c[0].Accuracy != 0.875 || c[0].Budget != 40 ||
		c[1].Controller != "fix" || c[1].Seed != 2 {
		t.Errorf("%+v", c)
	}
}

// A controller that trains networks decides only once. Another one repeats its decision until the clock can measure it.
func TestTimed(t *testing.T) {
	for _, c := range []struct {
		runs, least, most int
	}{{1, 1, 1}, {0, 2, 100}} {
		asked := 0
		choice, seconds := timed(func() deepening.PlayedDecisions {
			asked++
			return deepening.PlayedDecisions{Sequence: 7,
				Runs: c.runs}
		})
		if asked < c.least || asked > c.most || choice.Sequence != 7 || seconds < 0 || seconds > 1 {
			t.Errorf("%d trainings: asked %d times, %g s", c.runs, asked, seconds)
		}
	}
}

// The 95% intervals of mean regrets contain the true mean in 95% of studies, also for agents that nearly always choose
// the best sequence. There is no interval if the seeds cannot show how bad the other sequences are.
func TestIntervalsOfRegretsAreCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	for _, seeds := range []int{3, 5, 10, 20, 50} {
		for _, best := range []float64{0, 0.3, 0.6, 0.9} { // probability with which the agent chooses the best sequence
			held, given := 0, 0
			rng := rand.New(rand.NewPCG(7, uint64(seeds)))
			for range 600 {
				var regret, often [12]float64
				sum, mean := 0.0, 0.0
				for i := 1; i < len(regret); i++ {
					regret[i], often[i] = 0.02*rng.ExpFloat64(), rng.ExpFloat64()
					sum += often[i]
				}
				for i := range often {
					often[i] *= (1 - best) / sum
					mean += often[i] * regret[i]
				}
				often[0] = best
				var all []playResult
				for range seeds {
					u, k := rng.Float64(), 0
					for u > often[k] && k < len(often)-1 {
						u -= often[k]
						k++
					}
					all = append(all, playResult{regret: regret[k], rank: k + 1})
				}
				var r RankingRow
				if sumUp(&r, all); math.IsNaN(r.RegretLow) {
					continue
				}
				if given++; r.RegretLow <= mean && mean <= r.RegretHigh {
					held++
				}
			}
			least := 0.95*float64(given) - 3*math.Sqrt(0.95*0.05*float64(given)) - 0.01*float64(given)
			if float64(held) < least || seeds >= 10 && best < 0.5 && given < 550 {
				t.Errorf("%d seeds, %.0f%% of them without regret: %d of %d intervals (of 600 studies) hold the mean",
					seeds, 100*best, held, given)
			}
		}
	}
}
