package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/hardware/engine"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// pauses checks that the engine can pause jobs if the policy pauses jobs.
func (c *Checker) pauses(p *experiment.Policy, h *experiment.Hardware) {
	if h.Capabilities().Pause {
		return
	}
	switch {
	case p.OrderPauses():
		c.Lacks(language.Place(p.At, "order", p.Range), h, "pause", fmt.Sprintf("The order %q pauses jobs", p.Order))
	case p.Pauses():
		c.Lacks(language.Place(p.At, "preemption", p.Range), h, "pause", "Preemption pauses jobs")
	}
}

// gpuAssumptions checks that the hardware has the type of GPU that a policy assumes for all GPUs (the argument
// blind). It also checks that the engine can pause jobs if the policy decides in rounds.
func (c *Checker) gpuAssumptions(p *experiment.Policy, h *experiment.Hardware) {
	if p.Settings.Duration("rounds") > 0 && !h.Capabilities().Pause {
		c.Lacks(language.Place(p.At, "rounds", p.Range), h, "pause", "A policy that decides in rounds pauses jobs")
	}
	like, _ := p.Settings["blind"].(string)
	if like == "" || like == "cores" || slices.Contains(h.GPUTypes(), like) {
		return
	}
	c.Fail(language.Place(p.At, "blind", p.Range), "Unknown type of device",
		"The hardware %q has no GPUs of the type %q; its types are %s.", h.Name, like, strings.Join(h.GPUTypes(), ", "))
}

// malleable checks that the engine can resize jobs if the policy resizes jobs.
func (c *Checker) malleable(w *experiment.Workload, h *experiment.Hardware, p *experiment.Policy) {
	if !p.Partial() || h.Capabilities().Resize {
		return
	}
	name := ""
	if t := w.Trace; t != nil {
		if i := slices.IndexFunc(t.Jobs, func(j scheduler.Job) bool { return j.Malleable }); i >= 0 {
			name = t.Jobs[i].Name
		}
	}
	for _, s := range w.Submits {
		if s.Job.Malleable && name == "" {
			name = s.Job.Name
		}
	}
	if name != "" {
		c.Lacks(language.Place(p.At, "allocation", p.Range), h, "resize",
			fmt.Sprintf("The allocation %q resizes malleable jobs such as %q", p.Allocation, name))
	}
}

// alternatives checks that a policy can handle a workload's jobs with alternatives.
func (c *Checker) alternatives(w *experiment.Workload, p *experiment.Policy) {
	if t := w.Trace; t != nil {
		for _, k := range t.Blocks {
			if len(k.Alternatives) > 0 && !k.Chosen {
				c.Fail(t.Range, "Trace of jobs with alternatives",
					"The request of a trace's job comes from the file, so its job block cannot have alternatives, "+
						"as %q has. The file can have them, in columns like cpu_run_time.", k.Name)
			}
		}
	}
	for _, j := range w.JobBlocks() {
		if j.Placed() && p.Partial() {
			c.Fail(language.Place(p.At, "allocation", p.Range), "Allocation of jobs with alternatives",
				"The job %q has alternatives, or requests a type of GPU. It needs its whole request: use the "+
					"allocation %s, not %q.", j.Name, policy.WholeAllocations(), p.Allocation)
			break
		}
	}
	for _, u := range w.Resizes {
		for _, s := range w.Submits {
			if s.Job.Placed() && strings.HasPrefix(u.Job, s.Job.Name+"-") {
				c.Fail(u.Range, "Resize of a job with alternatives",
					"The job %q has alternatives, or requests a type of GPU. It keeps the request with which it starts.",
					s.Job.Name)
			}
		}
	}
}

// oracle reports a policy with exact run times on hardware where they are unknown.
func (c *Checker) oracle(p *experiment.Policy, h *experiment.Hardware) {
	if at, ok := p.At["estimates"]; ok && h.Real() && p.Source().True {
		c.Fail(at, "Unknown estimates",
			"On the hardware %q jobs really run, and their run times are not known beforehand. Take \"fitted\", or "+
				"the engine \"simulated\".", h.Name)
	}
}

// requested reports a policy that needs requested run times if the log of jobs does not have them.
func (c *Checker) requested(p *experiment.Policy, w *experiment.Workload) {
	t := w.Trace
	if t == nil || !p.Source().Asked || !p.Policy.Estimates() {
		return
	}
	for i := range t.Jobs {
		k := t.Block[i]
		if t.Jobs[i].Predicted > 0 || k >= 0 && t.Blocks[k].Limit > 0 {
			return
		}
	}
	c.Fail(language.Place(p.At, "estimates", p.Range), "Unknown estimates",
		"The jobs of the workload %q come from a log without requested times. Take \"oracle\" or \"fitted\", name the "+
			"column that has them, or give the job blocks a limit.", w.Name)
}

// misfits reports settings of a policy that do not fit the hardware or the jobs.
func (c *Checker) misfits(w *experiment.Workload, h *experiment.Hardware, p *experiment.Policy) {
	run := scheduler.Run{Cluster: h.Cluster}
	var at []experiments.Range // of the job blocks
	if w.Trace != nil {
		run.Jobs = slices.Clip(w.Trace.Jobs)
	}
	count := map[*experiment.Job]int{}
	for _, s := range w.Submits {
		j := s.Job.Template()
		if j.Submission() == nil {
			continue
		}
		for range s.Count { // each job has its own name
			count[s.Job]++
			j.Number, j.Name = len(run.Jobs), fmt.Sprintf("%s-%d", s.Job.Name, count[s.Job])
			run.Jobs, at = append(run.Jobs, j), append(at, s.Job.Range)
		}
	}
	seen := map[experiments.Range]bool{}
	for _, x := range p.Misfits(&run) {
		where, detail := p.Range, x.Err.Error()
		if first := len(run.Jobs) - len(at); x.Block >= 0 && x.Block < len(p.BlocksAt) {
			where = p.BlocksAt[x.Block]
		} else if x.Job >= first {
			where = at[x.Job-first]
		} else if x.Job >= 0 {
			where, detail = w.Trace.Range, fmt.Sprintf("%s line %d: %s", w.Trace.File, w.Trace.Lines[x.Job], detail)
		}
		if !seen[where] && c.First(w.Name, where) {
			c.Fail(where, "Settings that do not fit together", "Under the policy %q on the hardware %q: %s.", p.Name, h.Name, detail)
		}
		seen[where] = true
	}
}

// jobDivision checks that the hardware can run a job on several nodes if the policy divides jobs over nodes.
func (c *Checker) jobDivision(p *experiment.Policy, h *experiment.Hardware) {
	if !p.Divides() {
		return
	}
	at := language.Place(p.At, "nodes", p.Range)
	switch check := h.Kind().CheckJob; {
	case h.Cluster.Changes():
		c.Fail(at, "Nodes that come and go", "The policy %q divides jobs over nodes, and nodes of the hardware %q come "+
			"and go: leave nodes out.", p.Name, h.Name)
	case h.Real() && check != nil:
		gang := check(h.ForEngine(), &engine.Job{Name: "of several nodes", Threads: 2, Nodes: 2}, c.host())
		for _, problem := range gang {
			if problem.Arg == "nodes" {
				c.Fail(at, "Engine without jobs of several nodes", "The policy %q divides jobs over nodes, and the "+
					"engine %q of the hardware %q runs each job on one node.", p.Name, h.Engine, h.Name)
				return
			}
		}
	}
}
