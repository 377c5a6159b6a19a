package pipeline

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

func shipped(t *testing.T, name string) *Plan {
	t.Helper()
	p, err := New(shippedSpec(t, name), Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shippedSpec(t *testing.T, name string) *experiment.Spec {
	t.Helper()
	spec, diags := decode.File(filepath.Join("..", "experiments", name), decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return spec
}

// TestPolicyMatrix runs the shipped matrix as a whole: it is simulated.
func TestPolicyMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole experiment, which the race detector makes last for a minute")
	}
	p := shipped(t, "policy_matrix.hcl")
	o, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if o.Ran != 600 || o.Failed != 0 {
		t.Errorf("%d cells ran, %d failed", o.Ran, o.Failed)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := e.Pictures()
	if err != nil {
		t.Fatal(err)
	}
	var drawn []string
	for _, c := range pictures {
		if c.Kind == "series" && c.Skipped == "" {
			drawn = append(drawn, c.Name)
		}
	}
	want := "series-job_count-mean_jct_s series-job_count-mean_first_run_delay_s series-job_count-mean_service_s " +
		"series-job_count-utilization series-job_count-throughput_per_h"
	if got := strings.Join(drawn, " "); got != want {
		t.Errorf("pictures by number of jobs: %s", got)
	}
}

// TestPoliciesReal plans the part of it that runs for real.
func TestPoliciesReal(t *testing.T) {
	profiles := 2
	if hardware.Host().Threads > 1 {
		profiles = 4 // the large jobs on one thread as well, and the small ones side by side
	}
	if p := shipped(t, "policies_real.hcl"); len(p.Cells) != 48 || len(p.Pieces) != profiles {
		t.Errorf("%d cells, %d profiles", len(p.Cells), len(p.Pieces))
	}
}

// TestEstimatorAccuracy plans at least 20 real runs, each alone on its cores and
// predicted from samples of no more than 3% of it.
func TestEstimatorAccuracy(t *testing.T) {
	p := shipped(t, "estimator_accuracy.hcl")
	jobs := 0
	for i, ref := range p.Cells {
		drawn, err := p.cells[i].Jobs()
		if err != nil {
			t.Fatal(err)
		}
		jobs += len(drawn)
		for _, j := range drawn {
			if j.Threads != ref.Cores {
				t.Errorf("%s of %d threads is not alone on %d cores", j.Name, j.Threads, ref.Cores)
			}
		}
	}
	if hardware.Host().Threads > 1 && jobs < 20 {
		t.Errorf("%d runs, want at least 20", jobs)
	}
	for _, u := range p.x.SampledUnits() {
		sampled := 0
		for _, n := range u.Lengths {
			sampled += n * u.Repeats
		}
		if share := float64(sampled) / float64(u.Total); share > 0.03 {
			t.Errorf("%s is sampled for %.1f%% of its length", u.Name, 100*share)
		}
	}
}

// TestParallelism plans the thread pools of TensorFlow: three networks, two
// numbers of inter-op threads, three of intra-op threads.
func TestParallelism(t *testing.T) {
	if p := shipped(t, "parallelism.hcl"); len(p.Cells) != 54 || len(p.Pieces) != 18 {
		t.Errorf("%d cells, %d profiles", len(p.Cells), len(p.Pieces))
	}
}

const drawnFile = `
experiment "drawn" {
  replicates = 2
}

job "served" {
  command = ["true"]
  epochs  = 2
  runtime {
    startup = "1s"
    epoch   = exponential("10s")
  }
}

job "same" {
  command = ["true"]
  epochs  = 1
  runtime { epoch = "7s" }
}

workload "w" {
  submit {
    job   = job.same
    count = 1
  }
  submit {
    job   = job.served
    count = 2000
  }
}

hardware "sim" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }

policy "sjf" { order = "sjf" }
`

// TestDrawnRunTimes: each job has its own run time, the same under all policies
// of a replicate and another in the next; policies know what it is.
func TestDrawnRunTimes(t *testing.T) {
	p := plan(t, drawnFile, t.TempDir())
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	service := map[string][]float64{}
	for _, c := range e.Cells {
		rows, err := e.Jobs(c.CellRef)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			service[c.Cell] = append(service[c.Cell], r.Service)
			if math.Abs(r.Predicted-r.Service) > 1.5e-6 { // both ends are rounded to a microsecond
				t.Fatalf("%s %s: predicted %v, took %v", c.Cell, r.Job, r.Predicted, r.Service)
			}
		}
	}
	sum := 0.0
	for i, s := range service["w-sim-fcfs-r1"] {
		if math.Abs(s-service["w-sim-sjf-r1"][i]) > 1.5e-6 {
			t.Fatalf("job %d takes %v under FCFS and %v under SJF", i, s, service["w-sim-sjf-r1"][i])
		}
		switch same := s == service["w-sim-fcfs-r2"][i]; {
		case i == 0 && (s != 7 || !same):
			t.Errorf("the job of a fixed run time takes %v", s)
		case i > 0 && same:
			t.Errorf("job %d takes %v in both replicates", i, s)
		case i > 0:
			sum += s
		}
	}
	// 2,000 draws of 1 s + 2 × exponential(10 s): the mean is 21 s, its standard error 0.45 s.
	if mean := sum / 2000; mean < 19.5 || mean > 22.5 {
		t.Errorf("the mean run time is %v s", mean)
	}
}
