package instantiate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Plan returns the content of plan.json: the questions of the experiment in plain words, and its cells without keys.
// It also lists the samples to take, so FindImages must be called before.
func (x *Experiment) Plan() record.Plan {
	x.planSamples()
	spec := x.Spec
	p := record.Plan{
		Schema: record.PlanSchema, Experiment: spec.Name, Description: spec.Description,
		Seed: spec.Seed, Replicates: spec.Replicates, Axes: spec.Axes, Variables: spec.Variables,
		Workloads: each(spec, func(c point) string { return c.Workload.Name }, describeWorkload),
		Hardware:  each(spec, func(c point) string { return c.Hardware.Name }, describeHardware),
		Policies: each(spec, func(c point) string { return c.Policy.Name }, func(c point) record.Named {
			return record.Named{Summary: c.Policy.Policy.String()}
		}),
	}
	if spec.Currency != measure.Dollars {
		p.Currency = spec.Currency
	}
	measure.SetCurrency(p.Currency)
	for _, c := range spec.Cells {
		if !slices.Contains(p.Estimating, c.Policy.Name) && x.decidesByEstimates(c) {
			p.Estimating = append(p.Estimating, c.Policy.Name)
		}
	}
	for i := range p.Workloads {
		logs := map[string]bool{}
		for _, c := range spec.Cells {
			if t := c.Workload.Trace; t != nil && c.Workload.Name == p.Workloads[i].Name {
				logs[t.File] = true
			}
		}
		if len(logs) > 1 {
			p.Workloads[i].Logs = len(logs)
		}
	}
	for _, c := range spec.Compared() {
		p.Compares = append(p.Compares, stages.PlannedCompare(c))
	}
	for _, t := range spec.Thresholds {
		p.Thresholds = append(p.Thresholds, record.Threshold{
			Metric: t.Metric, Policy: t.Policy, Min: t.Min, Max: t.Max, FidelityPct: t.FidelityPct,
		})
	}
	for _, pl := range spec.Plots {
		p.Plots = append(p.Plots, record.Plot{Kind: pl.Kind, Metric: pl.Metric, X: pl.X, Y: pl.Y, By: pl.By})
	}
	stages.FillPlan(stages.PlanMemberInput{Spec: spec, RunTime: func(j *experiment.Job) time.Duration {
		return givenWork(j, j.Runtime.Epoch.Mean).RunTime(j.Threads.Request)
	}}, &p)
	return p
}

func describeHardware(c experiment.Cell) record.Named {
	h := c.Hardware
	cores, gpus := 0, 0
	for _, n := range h.Cluster.Nodes {
		cores += n.Threads
		gpus += n.GPUs
	}
	s := fmt.Sprintf("%s engine, %s", h.Engine, schema.Plural(cores, "core"))
	if gpus > 0 {
		s += ", " + schema.Plural(gpus, "GPU")
	}
	if n := len(h.Cluster.Nodes); n > 1 {
		s += fmt.Sprintf(" on %d nodes", n)
	}
	if h.Contention != nil {
		s += ", contention " + contentionText(h.Contention)
	}
	return record.Named{Summary: s, Nodes: nodes(h.Cluster.Nodes)}
}

// mostNodes is the largest number of nodes that a plan names: more could not be distinguished in a picture.
const mostNodes = 1000

// nodes returns the nodes of a cluster; nil if it has one node, or more than mostNodes.
func nodes(of []scheduler.Node) []record.NodeRef {
	if len(of) < 2 || len(of) > mostNodes {
		return nil
	}
	out := make([]record.NodeRef, len(of))
	for i, n := range of {
		out[i] = record.NodeRef{Name: n.Name, Cores: n.Threads, GPUs: n.GPUs}
	}
	return out
}

func describeWorkload(c experiment.Cell) record.Named {
	var parts []string
	if t := c.Workload.Trace; t != nil {
		s := fmt.Sprintf("%s of %s (%s)", schema.Plural(len(t.Jobs), "job"), filepath.Base(t.File), t.Format)
		for _, set := range t.Settings {
			s += fmt.Sprintf(", %s %s", strings.ReplaceAll(set.Name, "_", " "), set.Value)
		}
		if t.Ignored > 0 {
			s += fmt.Sprintf(", %s left out", schema.Plural(t.Ignored, "line"))
		}
		parts = append(parts, s)
	}
	for _, s := range c.Workload.Submits {
		var what string
		if p, ok := experiment.PartOf[stages.ProgramPart](s.Job.Parts); ok {
			what = p.Program()
		} else {
			what = s.Job.Command[0]
		}
		parts = append(parts, fmt.Sprintf("%d × %s (%s, %s, %s), %s", s.Count, s.Job.Name, what, lengthText(s),
			schema.Plural(s.Job.Threads.Request, "thread"), arrivalText(s.Arrivals)))
	}
	n := record.Named{Summary: strings.Join(parts, "; "), Log: c.Workload.Trace != nil && len(c.Workload.Submits) == 0}
	if n.Log {
		n.Origin = c.Workload.Trace.Origin.Seconds()
	}
	return n
}

// lengthText says how much the jobs of a submit block train, such as "20 epochs" or "a budget of 400s".
func lengthText(s experiment.Submit) string {
	var parts []string
	if !s.Job.Open() {
		parts = append(parts, schema.Plural(s.Job.Length(), strings.TrimSuffix(lengthUnit(s.Job), "s")))
	}
	if s.Budget != nil {
		parts = append(parts, "a budget of "+s.Budget.String())
	}
	return strings.Join(parts, ", ")
}

// each returns the workloads, hardware or policies that the cells use, without repetitions, each with a description.
// A block that reads axes is described with the values of its first cell.
func each(spec *experiment.Spec, name func(point) string, describe func(point) record.Named) []record.Named {
	var out []record.Named
	seen := map[string]bool{}
	for _, c := range spec.Cells {
		if name := name(c); !seen[name] {
			seen[name] = true
			n := describe(c)
			n.Name, n.Summary = name, table.PlainDurations(n.Summary)
			out = append(out, n)
		}
	}
	return out
}
