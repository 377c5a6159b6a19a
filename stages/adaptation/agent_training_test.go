package adaptation_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	_ "github.com/tfexp/tfexp/stages/all"
)

// A kind of controller that another package registers.
func init() {
	deepening.Register(deepening.Kind{
		Rank: 100, Name: "always_first", Doc: "Deepens the first block at each decision.",
		New: func(w deepening.DecisionInputs) deepening.Decider { return alwaysFirst{w.Table.Actions} },
	})
}

type alwaysFirst struct{ actions int }

func (a alwaysFirst) Probabilities(int, int) []float64 {
	p := make([]float64, a.actions)
	p[0] = 1
	return p
}

const file = `
experiment "small" {}

adaptation "net" {
  table     = "deepening.csv"
  decisions = 2
  seeds     = 2

  controller "agent" {
    name      = "unseen"
    leave_out = true
    episodes  = EPISODES
    rate      = 0.001
  }
  controller "agent" {
    transfer_from = "unseen"
    episodes      = 320
  }
  controller "always_first" {}
}
`

// missing returns the number of agents that a plan will train.
func missing(t *testing.T, episodes, out string) int {
	t.Helper()
	n := 0
	for _, w := range plan(t, episodes, out, nil).Pieces {
		if w.Stage.Name == "learn" && !w.Reuse {
			n++
		}
	}
	return n
}

func run(t *testing.T, ctx context.Context, episodes, out string, observe func(stages.Progress)) error {
	t.Helper()
	_, err := plan(t, episodes, out, observe).Run(ctx)
	return err
}

func plan(t *testing.T, episodes, out string, observe func(stages.Progress)) *pipeline.Plan {
	t.Helper()
	at := filepath.Join("..", "..", "pipeline", "decode", "testdata", "small.hcl")
	spec, diags := decode.Source(at, []byte(strings.Replace(file, "EPISODES", episodes, 1)), decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := pipeline.New(spec, pipeline.Options{Out: out, Parallel: 1, Observe: observe})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// weights returns the files of all agents' weights, by key.
func weights(t *testing.T, out string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "small", adaptation.AgentsDir, "*", "weights"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(f))] = string(raw)
	}
	return all
}

// A run that is interrupted while agents learn continues, and the weights are the same as without the interruption.
// Finished agents do not learn again. A controller of another package is ranked with the others.
func TestLearningGoesOnAfterAnInterruption(t *testing.T) {
	whole, broken, episodes := t.TempDir(), t.TempDir(), "160"
	if err := run(t, context.Background(), episodes, whole, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := run(t, ctx, episodes, broken, func(p stages.Progress) {
		if p.Kind == stages.StageStart && p.Stage == "learn" {
			time.AfterFunc(5*time.Millisecond, cancel)
		}
	})
	if !errors.Is(err, pipeline.ErrInterrupted) {
		t.Fatalf("the first run ended with %v", err)
	}
	if err := run(t, context.Background(), episodes, broken, nil); err != nil {
		t.Fatal(err)
	}
	want, got := weights(t, whole), weights(t, broken)
	if len(want) != 8 || len(got) != len(want) { // two scenarios, two seeds, two lessons
		t.Fatalf("%d and %d agents, want 8", len(want), len(got))
	}
	for key := range want {
		if got[key] != want[key] {
			t.Errorf("the agent %s has other weights", key)
		}
	}
	err = run(t, context.Background(), episodes, whole, func(p stages.Progress) {
		if p.Stage == "learn" {
			t.Errorf("agents learn again: %+v", p)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(filepath.Join(whole, "small"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := adaptation.ReadTables(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(tables.Ranking) != 6 || tables.Ranking[4].Controller != "always_first" || tables.Ranking[4].Sequence != "0 0" {
		t.Errorf("ranking: %+v", tables.Ranking)
	}
	if n := len(tables.Choices); n != 2*2*(2+2+1) {
		t.Errorf("%d decisions", n)
	}
	lessons := map[int]int{}
	for i, o := range tables.Objectives {
		if last := i - 1; o.Controller == "agent" {
			lessons[o.Lesson]++
			if p := tables.Objectives[max(last, 0)]; p.Controller == o.Controller && p.LearnedOn == o.LearnedOn &&
				p.Seed == o.Seed &&
				p.Episode >= o.Episode {
				t.Errorf("episode %d comes after %d", o.Episode, p.Episode)
			}
		}
	}
	if len(lessons) != 2 || lessons[1] == 0 || lessons[2] == 0 {
		t.Errorf("the rewards of the transferred agent are of lessons %v, want both", lessons)
	}
	pictures, err := e.Pictures()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, p := range pictures {
		if p.Skipped == "" {
			kinds[p.Kind] = true
		}
	}
	for _, kind := range []string{
		"adaptation_paths", "adaptation_objective", "adaptation_ranks", "adaptation_accuracy", "adaptation_time",
	} {
		if !kinds[kind] {
			t.Errorf("there is no picture %s", kind)
		}
	}
}

// After an edit, only the agents that it affects learn again.
func TestAnEditOfAnAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	out := t.TempDir()
	if err := run(t, context.Background(), "64", out, nil); err != nil {
		t.Fatal(err)
	}
	before := weights(t, out)
	if n := missing(t, "64", out); n != 0 {
		t.Errorf("%d agents are to be trained after the run", n)
	}
	if n := missing(t, "96", out); n != 8 {
		t.Errorf("%d agents are to be trained after the edit, want 8", n)
	}
	if err := run(t, context.Background(), "96", out, nil); err != nil {
		t.Fatal(err)
	}
	after := weights(t, out)
	if len(after) != 16 {
		t.Errorf("%d agents, want the 8 before and 8 others", len(after))
	}
	for key := range before {
		if after[key] != before[key] {
			t.Errorf("the agent %s was trained again", key)
		}
	}
}
