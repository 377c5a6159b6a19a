package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// steady is an engine that only this test registers. Each job takes the time in the hardware block, and cannot be
// paused.
var steady = &engine.Kind{
	Name: "steady", Rank: 90, Traits: engine.Traits{Clusters: true},
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
	Lines: func(h *engine.Hardware) []engine.KeyLine {
		return []engine.KeyLine{{Label: "hardware.takes", Value: h.Settings.(time.Duration).String()}}
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

// An engine needs only one registered value. Then the language, its reference, the checks, the plan, the keys, the run
// and the report support it.
func TestNewEngine(t *testing.T) {
	engine.Register(steady)
	s := inSandbox(t, steadyFile)
	documented(t, "Only on `steady`:\n\n- `takes` (duration, default `\"10s\"`): The time that each job takes.\n")
	inHelp(t, "hardware.engine", "`steady`: pretends that all jobs take the same time")

	s.plans("1 cell to run")
	s.run()
	for _, row := range s.table("jobs.csv") {
		want := map[string]string{"train-1": "5.", "train-2": "10."}[row["job"]]
		if !strings.HasPrefix(row["finish_s"]+".", want) {
			t.Errorf("%s finished at %s, want %s", row["job"], row["finish_s"], want)
		}
	}
	s.holds("report.html", "steady engine")

	s.plans("all reused")
	s.change(steadyFile, `"5s"`, `"6s"`)
	s.plans("hardware.takes changed")

	for _, c := range []struct {
		old, new, summary string
		line              int
	}{
		{`"5s"`, `"5500ms"`, "Not whole seconds", 20},
		{`"steady"`, `"simulated"`, "Unused argument", 20},
		{"threads = 1\n", "threads = 1\n  noise   = 0.1\n", "Unused argument", 20},
		{`"fcfs"`, "\"round_robin\"\n  quantum = \"1s\"", `The engine of "h" lacks "pause"`, 24},
		{"  threads = 1\n", "", "Hardware without threads", 17},
	} {
		s.change(steadyFile, c.old, c.new)
		diags := s.diagnostics()
		if len(diags) != 1 || diags[0].Summary != c.summary || diags[0].Range.Start.Line != c.line {
			t.Errorf("%s: %v, want %q at line %d", c.new, diags, c.summary, c.line)
		}
	}
}
