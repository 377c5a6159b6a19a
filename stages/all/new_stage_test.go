package all_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/load"
	_ "github.com/tfexp/tfexp/hardware/engine/all"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	_ "github.com/tfexp/tfexp/stages/all"
)

// fastest is a stage that somebody adds: a table of the cell with the shortest
// makespan in each replicate. This file is all that it takes.
func init() {
	stages.Register(&stages.Stage{
		Name:   "fastest",
		Reads:  []stages.Artifact{stages.Tables},
		Writes: []stages.Artifact{"fastest"},
		Files:  []string{"fastest.csv"},
		Key:    func(*stages.Run) ([]stages.Line, error) { return []stages.Line{{Label: "fastest", Value: "1"}}, nil },
		Always: true,
		Run:    writeFastest,
	})
}

func writeFastest(_ context.Context, r *stages.Run) error {
	f, err := os.Open(filepath.Join(r.Dir, record.MetricsFile))
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return err
	}
	cell, replicate := slices.Index(rows[0], "cell"), slices.Index(rows[0], "replicate")
	makespan := slices.Index(rows[0], "makespan_s")
	best := map[string][]string{}
	for _, row := range rows[1:] {
		if b, ok := best[row[replicate]]; !ok || row[makespan] < b[makespan] {
			best[row[replicate]] = row
		}
	}
	text := "replicate,cell\n"
	for i := range r.Plan.Replicates {
		n := fmt.Sprint(i + 1)
		text += n + "," + best[n][cell] + "\n"
	}
	r.Made(len(best))
	return os.WriteFile(filepath.Join(r.Dir, "fastest.csv"), []byte(text), 0o644)
}

const file = `
experiment "small" { replicates = 2 }
job "j" {
  command = ["train"]
  epochs  = 4
  runtime { epoch = exponential("1s") }
}
workload "w" {
  submit {
    job   = job.j
    count = 5
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
`

// run runs an experiment, and returns what the stage reported.
func run(t *testing.T, source, out string) (seen []stages.Progress) {
	t.Helper()
	spec, diags := load.Source("small.hcl", []byte(source),
		load.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := pipeline.New(spec, pipeline.Options{Out: out, Observe: func(p stages.Progress) {
		if p.Stage == "fastest" {
			seen = append(seen, p)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return seen
}

// journal returns how the stage ended in each run so far.
func journal(t *testing.T, out string) (states []string) {
	t.Helper()
	entries, err := store.ReadJournal(filepath.Join(out, "small"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == "stage_end" && e.Unit == "fastest" {
			states = append(states, e.State)
		}
	}
	return states
}

// A new stage runs after what it reads, is seen in progress and journal, leaves
// its file, and runs again only when what it depends on has changed.
func TestNewStage(t *testing.T) {
	out := t.TempDir()
	seen := run(t, file, out)
	if len(seen) != 2 || seen[0].Kind != stages.StageStart || seen[1].Kind != stages.StageEnd || seen[1].Done != 2 {
		t.Errorf("progress: %+v", seen)
	}
	path := filepath.Join(out, "small", "fastest.csv")
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "replicate,cell\n1,w-h-fcfs-r1\n2,w-h-fcfs-r2\n" {
		t.Fatalf("%s %v", raw, err)
	}
	if seen := run(t, file, out); len(seen) != 0 {
		t.Errorf("nothing has changed, and it runs: %+v", seen)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	run(t, file, out)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("its file did not come back: %v", err)
	}
	run(t, strings.Replace(file, "epochs  = 4", "epochs  = 5", 1), out)
	if got, want := journal(t, out), []string{"finished", "reused", "finished", "finished"}; !slices.Equal(got, want) {
		t.Errorf("the stage ended as %v, want %v", got, want)
	}
}
