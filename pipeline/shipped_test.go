package pipeline

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
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

// TestPolicyMatrix runs one replicate of the shipped matrix, which is simulated.
func TestPolicyMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole experiment, which the race detector makes last for a minute")
	}
	spec := shippedSpec(t, "policy_matrix.hcl")
	spec.Replicates = 1
	p, err := New(spec, Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if o.Ran != 120 || o.Failed != 0 {
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

// TestPoliciesReal plans the shipped experiment that runs the policies for real.
func TestPoliciesReal(t *testing.T) {
	profiles := 2
	if hardware.Host().Threads > 1 {
		profiles = 4 // also large jobs on one thread, and small jobs side by side
	}
	if p := shipped(t, "policies_real.hcl"); len(p.Cells) != 48 || len(p.Pieces) != profiles {
		t.Errorf("%d cells, %d profiles", len(p.Cells), len(p.Pieces))
	}
}

// TestEstimatorAccuracy plans at least 20 real runs. Each has its cores to itself, and is predicted from samples that
// take at most 3% of its time.
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

// TestParallelism plans the experiment on TensorFlow's thread pools: three networks × two numbers of inter-op threads
// × three numbers of intra-op threads.
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

// TestDrawnRunTimes checks that each job has its own run time, the same under all policies of a replicate and
// different in other replicates. Policies get the exact run time.
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
			if math.Abs(r.Predicted-r.Service) > 1.5e-6 { // start and end are each rounded to a microsecond
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

// TestClustersOnATrace runs a small part of the shipped experiment of published policies on a trace: one load, one
// replicate, and four policies without a search. All jobs finish. The mean JCT falls as the order uses more
// information: none, the attained service, the remaining time.
func TestClustersOnATrace(t *testing.T) {
	if testing.Short() {
		t.Skip("whole cells of 180 jobs")
	}
	order := []string{"srtf", "tiresias", "first_fit", "fcfs"}
	spec := shippedSpec(t, "clusters_trace.hcl")
	spec.Replicates = 1
	spec.Cells = slices.DeleteFunc(spec.Cells, func(c experiment.Cell) bool {
		return c.Axes[0].Value != "1" || !slices.Contains(order, c.Policy.Name)
	})
	p, err := New(spec, Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.Run(context.Background()); err != nil || o.Failed > 0 {
		t.Fatalf("%d cells failed: %v", o.Failed, err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Cells) != len(order) {
		t.Fatalf("%d cells, want %d", len(e.Cells), len(order))
	}
	slices.SortFunc(e.Cells, func(a, b record.Cell) int {
		return slices.Index(order, a.Policy) - slices.Index(order, b.Policy)
	})
	last := 0.0
	for _, c := range e.Cells {
		if n := measure.Finished.Of(&c.Metrics); n != 180 {
			t.Errorf("%s: %g of 180 jobs finished", c.Policy, n)
		}
		if mean := measure.MeanJCT.Of(&c.Metrics); !(mean > last) {
			t.Errorf("%s: the mean JCT is %g s, not above the %g s before it", c.Policy, mean, last)
		} else {
			last = mean
		}
	}
}

// shippedJCT runs the cells of a shipped experiment that have one of the values on the axis, with a few replicates.
// It returns the mean JCT of each policy.
func shippedJCT(t *testing.T, file string, values ...string) map[string]float64 {
	t.Helper()
	spec := shippedSpec(t, file)
	spec.Replicates = 5
	spec.Cells = slices.DeleteFunc(spec.Cells, func(c experiment.Cell) bool {
		return len(c.Axes) > 0 && !slices.Contains(values, c.Axes[0].Value)
	})
	p, err := New(spec, Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Run(context.Background())
	if err != nil || o.Failed > 0 {
		t.Fatalf("%d cells failed: %v", o.Failed, err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := measure.MetricByName("mean_jct_s")
	means := map[string]float64{}
	for _, v := range analysis.Variants(e) {
		name := v.Policy
		if len(v.Axes) > 0 {
			name += " " + v.Axes[0].Value
		}
		means[name] = stats.MeanInterval(v.Values(m), 0.95).Mean
	}
	return means
}

// At a high load AlloX has the smallest mean JCT of all policies; with fairness among users it is only slightly
// larger.
func TestAlloXHasTheLeastMeanJCT(t *testing.T) {
	means := shippedJCT(t, "allox.hcl", "72")
	if len(means) != 7 {
		t.Fatalf("%d policies", len(means))
	}
	best := means["allox 72"]
	for policy, mean := range means { // compared one by one, so that an error names the policy
		if policy != "allox 72" && mean < best {
			t.Errorf("%s has a mean JCT of %.0f s, allox %.0f s", policy, mean, best)
		}
	}
	if fair := means["allox_fair 72"]; fair > 1.1*best {
		t.Errorf("allox with alpha 0.3 has a mean JCT of %.0f s, with 1 %.0f s", fair, best)
	}
}

// A policy that decides only by estimates has a larger mean JCT when the estimates are wrong.
func TestEstimateErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole experiment, which the race detector makes last for a minute")
	}
	means := shippedJCT(t, "estimate_error.hcl", "0", "1")
	if len(means) != 9 {
		t.Fatalf("%d variants: %v", len(means), means)
	}
	if means["allox 0"] >= means["allox 1"] || means["allox 0"] >= means["fcfs"] {
		t.Errorf("mean JCT of allox: %.0f s, with errors %.0f s; of fcfs %.0f s", means["allox 0"], means["allox 1"],
			means["fcfs"])
	}
}
