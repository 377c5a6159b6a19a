package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// longestFirst is an order that only this test registers. The job with the longest predicted run time, in whole grains,
// is first.
type longestFirst struct{ grain time.Duration }

func (o longestFirst) Rank(j scheduler.JobView) int64 { return -int64(j.Predicted() / o.grain) }

// half is an allocation that only this test registers. It gives a job half of its request, but no less than its
// minimum, on the first node with enough free cores.
func half(_ scheduler.View, j scheduler.JobView) (cores int32, nodes []int32, ok bool) {
	cores = max(j.Request()/2, j.Least())
	nodes, ok = j.Fits(cores)
	return cores, nodes, ok
}

func init() {
	policy.RegisterOrder(policy.OrderChoice{
		Choice: policy.Choice{
			Name: "ljf", Title: "Longest job first", Doc: "the longest predicted run time", Estimates: true,
			Settings: []schema.Arg{{
				Name: "grain", Type: schema.Duration, Default: `"1s"`, Positive: true,
				Doc: "Differences below it do not count.", Example: `"10s"`,
			}},
		},
		New: func(s policy.Setup) scheduler.Ranker { return longestFirst{s.Policy.Settings.Duration("grain")} },
	})
	policy.RegisterAllocation(policy.AllocationChoice{
		Choice:  policy.Choice{Name: "half", Title: "Halves", Doc: "half of its request"},
		Partial: true, Allot: half,
	})
}

const newPolicyFile = `
experiment "longest" {
  replicates = 3
}

job "short" {
  builtin "softmax" {}
  epochs  = 1
  threads = 2
  runtime {
    epoch    = "2s"
    parallel = 1
  }
}

job "long" {
  builtin "softmax" {}
  epochs  = 4
  threads = 2
  runtime {
    epoch    = "2s"
    parallel = 1
  }
}

workload "both" {
  submit { job = job.short }
  submit { job = job.long }
}

hardware "sim" {
  engine  = "simulated"
  threads = 2
}

policy "fcfs" { order = "fcfs" }

policy "backwards" {
  order     = "ljf"
  grain     = "500ms"
  estimates = "oracle"
}

policy "halves" {
  order      = "fcfs"
  allocation = "half"
}

compare "mean_jct" { baseline = policy.fcfs }
`

// An order and an allocation each need only one registered value. Then the language, its reference and checks, the
// plan, the run and the report support them.
func TestNewPolicies(t *testing.T) {
	documented(t,
		"`ljf`",
		"Only under the order `ljf`:\n\n- `grain` (duration, default `\"1s\"`): Differences below it do not count.\n",
	)
	inHelp(t, "policy.estimates", "`isolated` or `ljf`")
	inHelp(t, "policy.allocation", "- `half`: half of its request")

	s := inSandbox(t, newPolicyFile)
	s.change(newPolicyFile, `{ order = "fcfs" }`, "{\n  order = \"fcfs\"\n  grain = \"1s\"\n}")
	if code, _, errs := inProcess("validate", s.file); code != command.ExitInvalid ||
		!strings.Contains(errs, `grain is only for the order "ljf"`) {
		t.Errorf("a setting of another order: exit status %d\n%s", code, errs)
	}

	s.write("e.hcl", newPolicyFile)
	s.plans("9 cells to run")
	s.run()
	finish := map[string]string{}
	for _, row := range s.table("jobs.csv") {
		if row["replicate"] == "1" {
			finish[row["policy"]+" "+row["job"]] = row["finish_s"]
		}
	}
	for job, want := range map[string]string{
		"fcfs short-1": "1", "fcfs long-1": "5", "backwards long-1": "4", "backwards short-1": "5",
		"halves short-1": "2", "halves long-1": "8",
	} {
		if got := finish[job]; got != want && !strings.HasPrefix(got, want+".") {
			t.Errorf("%s finished at %q, want %s", job, got, want)
		}
	}
	s.holds("report.html", "backwards")

	s.plans("all reused")
	s.change(newPolicyFile, `"500ms"`, `"250ms"`)
	s.plans("policy.grain")
}
