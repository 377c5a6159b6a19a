package realise

import (
	"slices"

	"github.com/tfexp/tfexp/pipeline/realise/describe"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

// Plan returns plan.json: what the experiment asks, in plain words, and its
// cells, still without keys. It lists the samples to take, too: what is known of
// the containers of jobs has to be set before.
func (x *Experiment) Plan() record.Plan {
	x.planSamples()
	spec := x.spec
	p := record.Plan{
		Schema: store.SchemaVersion, Experiment: spec.Name, Description: spec.Description,
		Seed: spec.Seed, Replicates: spec.Replicates, Axes: spec.Axes,
		Workloads: describe.Each(spec, describe.WorkloadName, describe.Workload),
		Hardware:  describe.Each(spec, describe.HardwareName, describe.Hardware),
		Policies:  describe.Each(spec, describe.PolicyName, describe.Policy),
	}
	for _, c := range spec.Cells {
		if !slices.Contains(p.Estimating, c.Policy.Name) && x.decidesByEstimates(c) {
			p.Estimating = append(p.Estimating, c.Policy.Name)
		}
	}
	for _, c := range spec.Cells {
		for _, s := range c.Workload.Submits {
			j := s.Job
			t := record.Target{Class: j.Name, Loss: j.TargetLoss, Units: program.Length(j), Steps: j.Steps > 0}
			if t.Loss > 0 && !slices.Contains(p.Targets, t) {
				p.Targets = append(p.Targets, t)
			}
		}
	}
	p.Lives, p.Checkpoints = describe.Lives(spec), checkpointings(spec)
	p.References = spec.References
	p.Clusters = describe.MeasuredClusters(spec)
	for _, v := range spec.Variables {
		p.Variables = append(p.Variables, record.Setting(v))
	}
	for _, c := range spec.Compares {
		compare := record.Compare{
			Metric: c.Metric, Baseline: c.Baseline, Level: c.Level, By: c.By, Block: c.Block.Seconds(),
		}
		for _, s := range c.At {
			compare.At = append(compare.At, record.Setting(s))
		}
		p.Compares = append(p.Compares, compare)
	}
	for _, t := range spec.Thresholds {
		p.Thresholds = append(p.Thresholds, record.Threshold{
			Metric: t.Metric, Policy: t.Policy, Min: t.Min, Max: t.Max, FidelityPct: t.FidelityPct,
		})
	}
	if len(spec.Compares) == 0 && len(p.Policies) > 1 {
		// A file without comparisons compares with the first policy on what most people ask.
		for _, m := range []string{"mean_jct_s", "mean_waiting_s", "makespan_s"} {
			p.Compares = append(p.Compares, record.Compare{Metric: m, Baseline: p.Policies[0].Name, Level: 0.95})
		}
	}
	for _, t := range spec.Tunings {
		p.Tunings = append(p.Tunings, t.Tuning)
	}
	for _, pl := range spec.Plots {
		p.Plots = append(p.Plots, record.Plot{Kind: pl.Kind, Metric: pl.Metric, X: pl.X, Y: pl.Y, By: pl.By})
	}
	return p
}
