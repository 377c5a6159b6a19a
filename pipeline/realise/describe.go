package realise

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// policyLines are the key lines of a policy.
func policyLines(p *experiments.Policy) []string {
	var k store.Key
	for _, l := range p.KeyLines() {
		k.Add(l.Label, l.Value)
	}
	return k.Lines()
}

// hardwareLines are the key lines of a machine: its engine and its nodes.
func hardwareLines(h *experiments.Hardware) []string {
	var k store.Key
	k.Add("hardware.engine", h.Engine)
	for i, n := range h.Cluster.Nodes {
		text := fmt.Sprintf("threads %d, gpus %d, memory %d", n.Threads, n.GPUs, n.Memory)
		if n.GPU != "" {
			text += ", gpu " + n.GPU
		}
		k.Add(fmt.Sprintf("hardware.node.%d", i), text)
	}
	k.Append(serverLines(h))
	k.Append(program.SettingsLines(h))
	if !h.Real() {
		k.Add("hardware.noise", strconv.FormatFloat(h.Noise, 'g', -1, 64))
		if h.Contention != nil {
			k.Add("hardware.contention", contentionText(h.Contention))
		}
	}
	return k.Lines()
}

// overheadLines describe the overheads of a simulated machine.
func (c *Cell) overheadLines() []string {
	if c.Hardware.Real() {
		return nil
	}
	var k store.Key
	if o := c.Hardware.Overheads; o != nil {
		k.Add("hardware.overheads", simulated.Overheads(*o).String())
	} else if slices.ContainsFunc(jobsOf(c.point), func(j *experiments.Job) bool { return c.x.sampled(c.Hardware, j) }) {
		k.Add("hardware.overheads", "measured") // with the samples, which have lines of their own
	} else {
		k.Add("hardware.overheads", simulated.Overheads{}.String())
	}
	return k.Lines()
}

// runtimeLines describe where a simulated job's run time comes from.
func (x *Experiment) runtimeLines(h *experiments.Hardware, j *experiments.Job) []string {
	var k store.Key
	if x.sampled(h, j) {
		k.Add("job."+j.Name+".runtime", "fitted "+x.estimateLine(j))
	} else if j.Runtime == nil {
		k.Add("job."+j.Name+".runtime", "as its run was recorded")
	} else {
		k.Add("job."+j.Name+".runtime", runtimeText(j))
	}
	if cp := j.Checkpoint; cp != nil {
		k.Addf("job."+j.Name+".checkpoint", "%+v", *cp)
	}
	return k.Lines()
}

// estimateLines describe the estimates that a policy decides by; policies that
// use none do not depend on them.
func (c *Cell) estimateLines() []string {
	if !c.Policy.Policy.Estimates() {
		return nil
	}
	var k store.Key
	k.Add("policy.estimates", c.Policy.Estimates)
	if c.Policy.Sigma > 0 {
		k.Addf("policy.sigma", "%g", c.Policy.Sigma)
	}
	if c.Policy.Estimates == "requested" {
		return k.Lines()
	}
	for _, j := range jobsOf(c.point) {
		if c.x.sampled(c.Hardware, j) {
			k.Add("job."+j.Name+".estimate", c.x.estimateLine(j))
		}
	}
	return k.Lines()
}

// workloadLines are the key lines of a workload as it is written; the jobs
// that it came to are hashed beside them.
func workloadLines(w *experiments.Workload) []string {
	var k store.Key
	if t := w.Trace; t != nil {
		k.Addf("workload.trace", "%s, %s, sha256:%s", filepath.Base(t.File), t.Format, t.Digest)
		for _, s := range t.Settings {
			k.Add("workload.trace."+s.Name, s.Value)
		}
		if text := t.LeftOut(); text != "" {
			k.Add("workload.trace.lenient", text)
		}
		for _, job := range t.Blocks {
			if r := job.Runtime; r != nil && job.Timed {
				k.Add("workload.trace.parallel."+job.Name, speedUpText(r))
			}
		}
	}
	for i, s := range w.Submits {
		line := fmt.Sprintf("%d × %s, %s", s.Count, s.Job.Name, arrivalText(s.Arrivals))
		if s.Priority > 0 {
			line += fmt.Sprintf(", priority %d", s.Priority)
		}
		if s.Deadline > 0 {
			line += ", deadline " + s.Deadline.String()
		}
		if s.User != "" {
			line += ", user " + s.User
		}
		k.Add(fmt.Sprintf("workload.submit.%d", i+1), line)
	}
	for i, r := range w.Resizes {
		k.Addf(fmt.Sprintf("workload.resize.%d", i+1), "%s to %d threads at %s", r.Job, r.Threads, r.At)
	}
	return k.Lines()
}

// maxInstants bounds the instants that are listed; the key has the digest of
// all arrivals besides.
const maxInstants = 32

// arrivalText says in words how the jobs of a submit block arrive.
func arrivalText(a workload.Arrivals) string {
	var s string
	switch a.Kind {
	case workload.At:
		if n := len(a.Times); n > maxInstants {
			return fmt.Sprintf("at %d instants from %s to %s", n, slices.Min(a.Times), slices.Max(a.Times))
		}
		times := make([]string, len(a.Times))
		for i, t := range a.Times {
			times[i] = t.String()
		}
		return "at " + strings.Join(times, ", ")
	case workload.Every:
		s = "every " + a.Mean.String()
	case workload.Exponential:
		s = "exponential gaps of mean " + a.Mean.String()
	case workload.Normal:
		s = fmt.Sprintf("normal gaps of mean %s, sd %s", a.Mean, a.SD)
	}
	if a.Start > 0 {
		s += " from " + a.Start.String()
	}
	return s
}

// jobsOf lists the job blocks that a cell depends on, each once, in order. A
// simulated job whose trace has its run time depends on no program.
func jobsOf(c experiments.Cell) []*experiments.Job {
	var jobs []*experiments.Job
	if t := c.Workload.Trace; t != nil {
		for _, k := range t.Blocks {
			if !k.Timed || c.Hardware.Real() {
				jobs = append(jobs, k.Job)
			}
		}
	}
	seen := map[*experiments.Job]bool{}
	for _, j := range jobs {
		seen[j] = true
	}
	for _, s := range c.Workload.Submits {
		if !seen[s.Job] {
			seen[s.Job] = true
			jobs = append(jobs, on(c.Hardware, s.Job)...)
		}
	}
	return jobs
}

// named lists the workloads, hardware or policies that the cells use, each once,
// with a line that describes it; a block that reads axes is described as it is in
// its first cell.
func named(
	spec *experiments.Spec, name func(experiments.Cell) string, describe func(experiments.Cell) record.Named,
) []record.Named {
	var out []record.Named
	seen := map[string]bool{}
	for _, c := range spec.Cells {
		if name := name(c); !seen[name] {
			seen[name] = true
			n := describe(c)
			n.Name = name
			out = append(out, n)
		}
	}
	return out
}

func workloadName(c experiments.Cell) string { return c.Workload.Name }
func hardwareName(c experiments.Cell) string { return c.Hardware.Name }
func policyName(c experiments.Cell) string   { return c.Policy.Name }

// describePolicy titles a policy by its order, unless that is its name already.
func describePolicy(c experiments.Cell) record.Named {
	p := c.Policy
	n := record.Named{Summary: p.Policy.String()}
	if p.Name != string(p.Order) {
		n.Title = p.Title()
	}
	return n
}

func describeHardware(c experiments.Cell) record.Named {
	h := c.Hardware
	cores, gpus := 0, 0
	for _, n := range h.Cluster.Nodes {
		cores += n.Threads
		gpus += n.GPUs
	}
	s := fmt.Sprintf("%s engine, %s", h.Engine, plural(cores, "core"))
	if gpus > 0 {
		s += ", " + plural(gpus, "GPU")
	}
	if n := len(h.Cluster.Nodes); n > 1 {
		s += fmt.Sprintf(" on %d nodes", n)
	}
	if h.Contention != nil {
		s += ", contention " + contentionText(h.Contention)
	}
	return record.Named{Summary: s}
}

func describeWorkload(c experiments.Cell) record.Named {
	var parts []string
	if t := c.Workload.Trace; t != nil {
		s := fmt.Sprintf("%s of %s (%s)", plural(len(t.Jobs), "job"), filepath.Base(t.File), t.Format)
		for _, set := range t.Settings {
			s += fmt.Sprintf(", %s %s", strings.ReplaceAll(set.Name, "_", " "), set.Value)
		}
		if t.Ignored > 0 {
			s += fmt.Sprintf(", without %s of partial executions and cancelled jobs", plural(t.Ignored, "line"))
		}
		parts = append(parts, s)
	}
	for _, s := range c.Workload.Submits {
		what := s.Job.Builtin
		switch {
		case s.Job.Recorded != nil:
			what = "recorded"
		case what == "":
			what = s.Job.Command[0]
		}
		parts = append(parts, fmt.Sprintf("%d × %s (%s, %s, %s), %s", s.Count, s.Job.Name, what,
			plural(program.Length(s.Job), strings.TrimSuffix(program.LengthUnit(s.Job), "s")),
			plural(s.Job.Threads.Request, "thread"), arrivalText(s.Arrivals)))
	}
	return record.Named{Summary: strings.Join(parts, "; ")}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
