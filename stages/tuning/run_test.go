package tuning_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
	_ "github.com/tfexp/tfexp/stages/all"
	"github.com/tfexp/tfexp/stages/tuning"
)

// tuned is an experiment that tunes a recorded job. The table has no time for one of its settings.
const tuned = `
experiment "tuned" { replicates = 2 }
job "j" {
  recorded {
    file     = "measured.csv"
    settings = { workers = "workers", type = "type" }
    time     = row.seconds
    accuracy = row.accuracy
  }
}
hardware "cloud" {
  engine  = "simulated"
  threads = 1
}
tune "t" {
  job       = job.j
  objective = "time"
  trials    = 6
  setting "workers" {}
  setting "type" {}
  constraint "accuracy" { min = 0.8 }
}
`

const measuredTable = `workers,type,seconds,accuracy
1,small,100,0.9
2,small,60,0.9
4,small,,
1,large,50,0.9
2,large,30,0.85
4,large,20,0.7
`

func tunedPlan(t *testing.T, out string, observe func(pipeline.Progress)) *pipeline.Plan {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "measured.csv"), []byte(measuredTable), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, diags := decode.Source(filepath.Join(dir, "tuned.hcl"), []byte(tuned), decode.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := pipeline.New(spec, pipeline.Options{Out: out, Observe: observe})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func runTuned(t *testing.T, out string) (*pipeline.Outcome, []tuning.TrialRow) {
	t.Helper()
	p := tunedPlan(t, out, nil)
	o, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tuning.Trials.Read(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return o, rows
}

// TestTuning runs a search to its end. Each setting is tried once, and a crashed setting differs from a bad one;
// neither is the best.
func TestTuning(t *testing.T) {
	out := t.TempDir()
	o, rows := runTuned(t, out)
	if o.Failed != 0 || len(rows) != 12 {
		t.Fatalf("%d trials, %d failed", len(rows), o.Failed)
	}
	states := map[string]string{}
	for _, r := range rows[:6] {
		states[r.Settings] = r.State
	}
	want := map[string]string{
		"workers=1 type=small": "done", "workers=2 type=small": "done", "workers=4 type=small": "crashed",
		"workers=1 type=large": "done", "workers=2 type=large": "done", "workers=4 type=large": "infeasible",
	}
	if !reflect.DeepEqual(states, want) {
		t.Errorf("trials are %v, want %v", states, want)
	}
	if last := rows[5]; last.Best != 30 || last.RegretPct != 0 {
		t.Errorf("the best is %v (regret %v%%), want 30", last.Best, last.RegretPct)
	}
	if o, _ := runTuned(t, out); o.Ran != 0 || o.Reused != 12 {
		t.Errorf("again: %d ran, %d reused", o.Ran, o.Reused)
	}
	for name, state := range lastEnds(t, filepath.Join(out, "tuned")) {
		if state != "reused" {
			t.Errorf("again, with the trials that the search added: %s is %s", name, state)
		}
	}
}

// lastEnds returns how each stage ended in the last run.
func lastEnds(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := history.ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]string{}
	for _, e := range entries {
		switch e.Event {
		case "run_start":
			clear(ended)
		case "stage_end":
			ended[e.Unit] = e.State
		}
	}
	return ended
}

// TestTuningGoesOn stops a search after some trials, as kill -9 would. The next trials are the same as without the
// stop.
func TestTuningGoesOn(t *testing.T) {
	out := t.TempDir()
	_, whole := runTuned(t, out)
	broken := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	p := tunedPlan(t, broken, func(pipeline.Progress) {
		if n++; n == 12 {
			cancel()
		}
	})
	if _, err := p.Run(ctx); err == nil {
		t.Fatal("it was not broken off")
	}
	// The cell that was being written is incomplete.
	folders, err := filepath.Glob(filepath.Join(broken, "tuned", record.CellsDir, "*"))
	if err != nil || len(folders) == 0 || len(folders) == 12 {
		t.Fatalf("%d cells, %v", len(folders), err)
	}
	if err := os.Remove(filepath.Join(folders[len(folders)-1], record.CellFile)); err != nil {
		t.Log(err) // the cell had not begun
	}
	_, resumed := runTuned(t, broken)
	a, _ := json.Marshal(comparable(whole))
	b, _ := json.Marshal(comparable(resumed))
	if string(a) != string(b) {
		t.Errorf("broken off it came to\n%s\nand else to\n%s", b, a)
	}
}

// comparable returns the fields of trials without NaN, which cannot be compared.
func comparable(rows []tuning.TrialRow) [][]any {
	var out [][]any
	for _, r := range rows {
		out = append(out, []any{r.Replicate, r.Trial, r.Settings, r.State, r.Time})
	}
	return out
}

// priced tunes the threads of a job and the type of its server. The price of the server determines the cost of a trial.
const priced = `
experiment "priced" { replicates = 1 }
job "train" {
  threads = each.threads
  builtin "mlp" {}
  epochs = 20
  runtime {
    epoch    = "60s"
    parallel = 0.9
  }
}
hardware "cloud" {
  engine = "simulated"
  node "vm" {
    threads = 8
    price   = { small = 0.2, large = 0.9 }[each.type]
  }
}
tune "t" {
  job       = job.train
  objective = "cost"
  trials    = 4
  setting "threads" { values = [1, 8] }
  setting "type" { values = ["small", "large"] }
}
`

// TestCostOfServers: the cost of a trial is the price of the server's cores that its job held, for the time in which it
// held them.
func TestCostOfServers(t *testing.T) {
	spec, diags := decode.Source("priced.hcl", []byte(priced), decode.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, err := pipeline.New(spec, pipeline.Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tuning.Trials.Read(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		price, cores := 0.2, 8.0
		if strings.Contains(r.Settings, "large") {
			price = 0.9
		}
		if strings.Contains(r.Settings, "threads=1 ") {
			cores = 1
		}
		if want := r.Time / 3600 * price * cores / 8; math.Abs(r.Cost-want) > 1e-6 || r.Objective != r.Cost {
			t.Errorf("%s: it cost %v, want %v", r.Settings, r.Cost, want)
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d trials", len(rows))
	}
}
