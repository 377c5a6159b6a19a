package pipeline

import (
	"slices"
	"testing"
)

// TestEstimatingPolicies: a policy that decides by fitted estimates is named in
// plan.json, also where their errors are drawn or corrected while jobs run. Only
// the others are a baseline without estimates.
func TestEstimatingPolicies(t *testing.T) {
	p := plan(t, `
experiment "estimating" {}
job "j" {
  builtin "softmax" {}
  epochs = 4
}
workload "w" {
  submit { job = job.j }
}
hardware "h" {
  engine  = "process"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
policy "fitted" { order = "sjf" }
policy "noisy" {
  order     = "sjf"
  estimates = noisy(0.5)
}
policy "online" {
  order     = "srtf"
  estimates = "online"
}
policy "requested" {
  order     = "sjf"
  estimates = "requested"
}
`, t.TempDir())
	if want := []string{"fitted", "noisy", "online"}; !slices.Equal(p.Estimating, want) {
		t.Errorf("policies that decide by fitted estimates: %v, want %v", p.Estimating, want)
	}
}
