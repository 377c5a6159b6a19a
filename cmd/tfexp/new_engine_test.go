package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/load"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// steady is an engine that package engine does not know: each job takes the time that the hardware says, whatever
// the job, and none can be paused.
var steady = &engine.Kind{
	Name: "steady", Rank: 90, Clusters: true,
	Doc: "pretends that all jobs take the same time",
	Args: []schema.Arg{
		{Name: "takes", Type: schema.Duration, Default: `"10s"`, Doc: "The time that each job takes.", Example: `"5s"`},
	},
	Decode: func(b engine.Block) (any, []engine.Problem) {
		takes := engine.Get[time.Duration](b.Values, "takes")
		if takes%time.Second != 0 {
			return nil, []engine.Problem{{
				Arg: "takes", Summary: "Not whole seconds", Detail: fmt.Sprintf("takes must be whole seconds; this is %s.", takes),
			}}
		}
		return takes, nil
	},
	Capabilities: func(*engine.Hardware) scheduler.Capabilities {
		return scheduler.Capabilities{Resize: true, Memory: true, GPUs: true}
	},
	Lines: func(h *engine.Hardware) []engine.Line {
		return []engine.Line{{Label: "hardware.takes", Value: h.Settings.(time.Duration).String()}}
	},
	Simulate: func(s engine.Simulation) (scheduler.Engine, error) {
		work := make([]simulated.Scaling, len(s.Jobs))
		for i, j := range s.Jobs {
			work[i] = simulated.FullRequest(s.Hardware.Settings.(time.Duration), j.Threads)
		}
		return simulated.New(s.Jobs, work, simulated.Options{})
	},
}

const steadyFile = `
experiment "steadily" { replicates = 1 }

job "train" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = "1h" }
}

workload "two" {
  submit {
    job   = job.train
    count = 2
  }
}

hardware "h" {
  engine  = "steady"
  threads = 1
  takes   = "5s"
}

policy "p" {
  order = "fcfs"
}
`

// An engine is one value that is registered: the language, its reference, the checks, the plan, the keys, the run
// and the report then know it.
func TestNewEngine(t *testing.T) {
	engine.Register(steady)
	dir := t.TempDir()
	file, out := filepath.Join(dir, "e.hcl"), filepath.Join(dir, "results")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(steadyFile)

	reference := string(language.Markdown())
	for _, want := range []string{
		"`steady` pretends that all jobs take the same time",
		"| `takes` | duration | `\"10s\"` | The time that each job takes. Only on `steady`. | `\"5s\"` |",
	} {
		if !strings.Contains(reference, want) {
			t.Errorf("the reference of the language does not have %q", want)
		}
	}

	if plan := outputOf(t, "plan", "--out", out, file); !strings.Contains(plan, "1 cell to run") {
		t.Errorf("plan:\n%s", plan)
	}
	mustRun(t, "run", "--out", out, file)
	for _, row := range readTable(t, filepath.Join(out, "steadily", "jobs.csv")) {
		want := map[string]string{"train-1": "5.", "train-2": "10."}[row["job"]]
		if !strings.HasPrefix(row["finish_s"]+".", want) {
			t.Errorf("%s finished at %s, want %s", row["job"], row["finish_s"], want)
		}
	}
	report, err := os.ReadFile(filepath.Join(out, "steadily", "report.html"))
	if err != nil || !bytes.Contains(report, []byte("steady engine")) {
		t.Errorf("the report does not name the engine, %v", err)
	}

	if plan := outputOf(t, "plan", "--out", out, file); !strings.Contains(plan, "all reused") {
		t.Errorf("plan after the run:\n%s", plan)
	}
	write(strings.Replace(steadyFile, `"5s"`, `"6s"`, 1))
	if plan := outputOf(t, "plan", "--out", out, file); !strings.Contains(plan, "hardware.takes changed") {
		t.Errorf("plan after a change of the setting:\n%s", plan)
	}

	for _, c := range []struct {
		old, new, summary string
		line              int
	}{
		{`"5s"`, `"5500ms"`, "Not whole seconds", 20},
		{`"steady"`, `"simulated"`, "Argument that nothing reads", 20},
		{"threads = 1\n", "threads = 1\n  noise   = 0.1\n", "Argument that nothing reads", 20},
		{`"fcfs"`, "\"round_robin\"\n  quantum = \"1s\"", `The engine of "h" lacks "pause"`, 24},
		{"  threads = 1\n", "", "Hardware without threads", 17},
	} {
		write(strings.Replace(steadyFile, c.old, c.new, 1))
		_, diags := load.File(file, load.Options{})
		if len(diags) != 1 || diags[0].Summary != c.summary || diags[0].Range.Start.Line != c.line {
			t.Errorf("%s: %v, want %q at line %d", c.new, diags, c.summary, c.line)
		}
	}
}
