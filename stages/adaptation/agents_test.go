package adaptation_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/adaptation"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	_ "github.com/tfexp/tfexp/stages/all"
)

// The rewards of an agent cover all of its lessons in order, up to the last episode. If several controllers share an
// agent, its rewards appear once.
func TestRewardsOfAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	at := filepath.Join("..", "..", "pipeline", "decode", "testdata", "small.hcl")
	spec, diags := decode.Source(at, []byte(`
experiment "small" {}
adaptation "net" {
  table     = "deepening.csv"
  decisions = 2
  seeds     = 1
  controller "agent" {
    name     = "first"
    train_on = ["early"]
    episodes = 4832
    batch    = 32
  }
  controller "agent" {
    name          = "second"
    transfer_from = "first"
    episodes      = 64
    batch         = 32
  }
}
`), decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	out := t.TempDir()
	p, err := pipeline.New(spec, pipeline.Options{Out: out, Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(filepath.Join(out, "small"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := adaptation.ReadTables(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range tables.Objectives {
		// Every two of 151 batches have a row, and the last one has a row.
		if n := len(got); r.Lesson == 1 && 64 < r.Episode && r.Episode < 4800 {
			if last := tables.Objectives[max(i-1, 0)]; r.Episode != last.Episode+64 {
				t.Errorf("%d rows before episode %d comes %d", n, r.Episode, last.Episode)
			}
			continue
		}
		got = append(got, fmt.Sprint(r.Controller, ", ", r.LearnedOn, ", lesson ", r.Lesson, ", episode ", r.Episode))
	}
	want := []string{
		"first, early, lesson 1, episode 64", "first, early, lesson 1, episode 4800", "first, early, lesson 1, episode 4832",
	}
	for _, on := range []string{"early", "late"} {
		for _, at := range []string{"1, episode 64", "1, episode 4800", "1, episode 4832", "2, episode 4864", "2, episode 4896"} {
			want = append(want, "second, early then "+on+", lesson "+at)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(tables.Trainings) != 4 || tables.Trainings[1].Episodes != 4832 || tables.Trainings[3].Episodes != 4832+64 ||
		tables.Trainings[3].LearnedOn != "early then late" || !(tables.Trainings[0].Seconds > 0) {
		t.Errorf("%+v", tables.Trainings)
	}
	// Both lessons decide by the table: the mean reward of a batch lies between the rewards of its worst and best
	// sequences.
	for _, r := range tables.Objectives {
		if r.Objective < deepening.Reward(0.4) || r.Objective > deepening.Reward(0.95) {
			t.Errorf("no sequence has such a reward: %+v", r)
		}
	}
}
