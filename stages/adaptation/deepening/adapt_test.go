package deepening

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded reads the table that ships with the experiment adaptation.hcl.
func adaptRecorded(t *testing.T) *Study {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "experiments", "papers", "adaptation", "cnn1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &Study{Name: "cnn", Seeds: 5}
	if s.Tables, s.Budget, err = ReadTable(f.Name(), s.Name, f, DefaultColumns, 3, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// mean returns the mean regret of a controller over scenarios and seeds.
func mean(s *Study, c *Controller) float64 {
	sum, n := 0.0, 0
	for _, t := range s.Tables {
		for seed := 1; seed <= s.SeedsOf(c); seed++ {
			choice := s.Play(c, t, seed, nil)
			sum += Regret(t, choice.Sequence)
			n++
		}
	}
	return sum / float64(n)
}

// Values in the table's description: the best accuracy, the mean, and the rank of doing nothing.
func TestRecordedTable(t *testing.T) {
	s := adaptRecorded(t)
	want := map[string][3]float64{"early": {.7391, .6895, 60}, "middle": {.7348, .6690, 60}, "late": {.6827, .6189, 50}}
	if len(s.Tables) != 3 {
		t.Fatalf("%d scenarios", len(s.Tables))
	}
	nothing := s.Play(&Controller{Kind: "nothing"}, s.Tables[0], 1, nil).Sequence
	for _, table := range s.Tables {
		w := want[table.Name]
		if table.Best() != w[0] || !near(MeanAccuracyAfter(table, 0, 0), w[1], 5e-5) || table.Rank(nothing) != int(w[2]) {
			t.Errorf("%s: best %v, mean %v, rank of nothing %d; want %v", table.Name, table.Best(), MeanAccuracyAfter(table, 0,
				0),
				table.Rank(nothing), w)
		}
	}
}

func near(a, b, tolerance float64) bool { return a-b < tolerance && b-a < tolerance }

// The results of heuristics on the recorded table, and of a search with few runs.
func TestHeuristics(t *testing.T) {
	s := adaptRecorded(t)
	for _, c := range []struct {
		kind      string
		low, high float64
	}{
		{"best_constant", .0108, .0110}, {"best_elsewhere", .0237, .0240}, {"greedy", .02, .04}, {"nothing", .1, .12},
		{"random", .02, .1},
	} {
		if got := mean(s, &Controller{Kind: c.kind}); got < c.low || got > c.high {
			t.Errorf("%s: mean regret %.4f, want %.4f to %.4f", c.kind, got, c.low, c.high)
		}
	}
	few := &Controller{Kind: "few_runs", Runs: 15}
	if got := mean(s, few); got > .01 {
		t.Errorf("15 runs of 64: mean regret %.4f, want at most 0.01", got)
	}
	if runs := s.Play(few, s.Tables[0], 1, nil).Runs; runs != 15 {
		t.Errorf("the search used %d runs, want 15", runs)
	}
}

// A controller that tries sequences takes the best of them, and the number of its runs is recorded.
func TestTrying(t *testing.T) {
	s := adaptRecorded(t)
	for _, c := range []struct{ runs, most int }{{1, 3}, {5, 3}, {10, 2}, {64, 1}, {1000, 1}} {
		elsewhere := &Controller{Kind: "best_elsewhere", Runs: c.runs}
		choice := s.Play(elsewhere, s.Tables[0], 1, nil)
		if rank := s.Tables[0].Rank(choice.Sequence); rank > c.most || choice.Runs != min(c.runs, 64) ||
			!s.KnewScenario(elsewhere, "early") {
			t.Errorf("%d runs: rank %d after %d", c.runs, rank, choice.Runs)
		}
	}
	if got := mean(s, &Controller{Kind: "best_elsewhere", Runs: 5}); got > .0067 {
		t.Errorf("5 runs: mean regret %.4f, want at most 0.0067", got)
	}
	weights := NewNetwork(6, 4, rand.New(rand.NewPCG(1, 1)))
	table := s.Tables[0]
	tries := &Controller{Kind: "agent", Runs: 64, Learn: &AgentLearning{LeaveOut: true}}
	if choice := s.Play(tries, table, 1, weights); table.Rank(choice.Sequence) != 1 || choice.Runs != 64 {
		t.Errorf("all tried: rank %d after %d runs", table.Rank(choice.Sequence), choice.Runs)
	}
}

// The lessons of agents, in order.
func TestLessons(t *testing.T) {
	s := adaptRecorded(t)
	unseen := &Controller{Name: "unseen", Kind: "agent", Learn: &AgentLearning{LeaveOut: true,
		Settings: DefaultSettings(false)}}
	moved := &Controller{Name: "moved", Kind: "agent", Learn: &AgentLearning{From: unseen,
		Settings: DefaultSettings(true)}}
	taught := &Controller{Name: "taught", Kind: "agent", Learn: &AgentLearning{
		Curriculum: []string{"early", "late", "middle"}, Settings: DefaultSettings(false), Next: 10_000,
	}}
	for _, c := range []struct {
		controller *Controller
		learned    string
		episodes   int
		knew       bool
	}{
		{&Controller{Kind: "agent", Learn: &AgentLearning{Settings: DefaultSettings(false)}}, "late", 75_000, true},
		{unseen, "early, middle", 75_000, false},
		{moved, "early, middle then late", 85_000, true},
		{taught, "early then late then middle", 95_000, true},
	} {
		got := s.Training(c.controller, "late", 1)
		learned := strings.Split(got.LearnedOn(), " then ")
		first := strings.Split(learned[0], ", ")
		slices.Sort(first)
		learned[0] = strings.Join(first, ", ")
		if l := strings.Join(learned, " then "); l != c.learned || got.Episodes() != c.episodes ||
			s.KnewScenario(c.controller, "late") != c.knew {
			t.Errorf("learned on %s in %d episodes, knew it: %v; want %+v", l, got.Episodes(), s.KnewScenario(c.controller,
				"late"), c)
		}
	}
}

const adaptSmall = `run,step1,left1,seconds,score
1,0,60,100,0.5
2,0,40,100,0.7
3,1,50,100,0.9
`

// A table whose columns have other names, without scenarios, in which one sequence was run twice.
func TestReadOtherColumns(t *testing.T) {
	c := Columns{Scenario: "scenario", Action: "step", TimeLeft: "left", Total: "seconds", Accuracy: "score"}
	tables, budget, err := ReadTable("x.csv", "mine", strings.NewReader(adaptSmall), c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := tables[0]; got.Name != "mine" || got.Actions != 2 || budget != 100 || !near(got.Accuracy[0], .6, 1e-12) ||
		!near(got.Time[0][0], .5, 1e-12) {
		t.Errorf("%+v, budget %v", got, budget)
	}
	_, _, err = ReadTable("x.csv", "mine", strings.NewReader(adaptSmall), c, 1, 3)
	var missing *MissingSequences
	if !errors.As(err, &missing) || missing.In[0].Count != 2 || !slices.Equal(missing.In[0].First, []int{2}) {
		t.Errorf("with three blocks: %v", err)
	}
	_, _, err = ReadTable("x.csv", "mine", strings.NewReader(adaptSmall+"4,-1,50,100,0.9\n5,0,120,100,0.9\n"), c, 1, 0)
	if err == nil || !strings.Contains(err.Error(), "x.csv:5: unknown action") ||
		!strings.Contains(err.Error(), "x.csv:6: the time left at decision 1 is 120 s") {
		t.Errorf("malformed lines: %v", err)
	}
}
