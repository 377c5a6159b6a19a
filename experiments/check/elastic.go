package check

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments"
)

// elastic reports an elastic job that its simulation cannot follow.
func (c *Checker) elastic(j *experiments.Job, h *experiments.Hardware) {
	if j.Runtime == nil || j.Runtime.Elastic == nil || h.Real() || !c.first([2]any{j.Runtime.Elastic, h}) {
		return
	}
	at, what := j.Runtime.Elastic.Range, ""
	switch {
	case h.Kind().Recorded:
		what = "replays what was recorded"
	case h.Noise > 0:
		what = "has noise"
	case h.Contention != nil:
		what = "has contention"
	case h.Terms != nil:
		what = "has servers that come and go"
	case j.Checkpoint != nil:
		c.fail(at, "Elastic job with checkpoints",
			"The job %q is elastic: what is lost of it with a server is not simulated, so it has no checkpoints.", j.Name)
		return
	case j.Placed():
		c.fail(at, "Elastic job with alternatives",
			"The job %q is elastic: it has no alternatives, and wants no type of GPU.", j.Name)
		return
	default:
		c.elasticRates(j, h)
		return
	}
	c.fail(at, "Elastic job that cannot be simulated",
		"The hardware %q %s, which is not known of the elastic job %q.", h.Name, what, j.Name)
}

// elasticRates reports a type of GPU of the hardware of which an elastic job does not say how fast it is.
func (c *Checker) elasticRates(j *experiments.Job, h *experiments.Hardware) {
	e := j.Runtime.Elastic
	for _, n := range h.Cluster.Nodes {
		if _, ok := e.Rates[n.GPU]; e.Rates != nil && n.GPUs > 0 && !ok {
			c.fail(e.Range, "No speed on the GPUs of the hardware \""+h.Name+"\"",
				"The rates of the elastic job %q have no type %q, which the hardware %q has.", j.Name, n.GPU, h.Name)
			return
		}
	}
}

// trains reports a policy that divides GPUs, on hardware or for jobs that do not let it.
func (c *Checker) trains(w *experiments.Workload, h *experiments.Hardware, p *experiments.Policy) {
	at := place(p.At, "order", p.Range)
	if p.Trains() && h.Real() {
		c.fail(at, "Order of elastic jobs on real hardware",
			"The order %q changes the GPUs of training programs while these run, which the engine of the hardware %q cannot.",
			p.Order, h.Name)
		return
	}
	if !p.DividesGPUs() {
		return
	}
	if name, why := unfit(w, p.Trains()); why != "" {
		c.fail(at, "Job without GPUs to divide", "The order %q divides the GPUs of the cluster, and the job %q %s.", p.Order, name, why)
	}
}

// unfit returns a job of a workload that an order of GPUs cannot run, and why.
func unfit(w *experiments.Workload, elastic bool) (name, why string) {
	const plain = "does not say how fast it is on other numbers of them: give its runtime block an elastic block"
	of := func(j *experiments.Job) string {
		switch {
		case j == nil && elastic, j != nil && elastic && (j.Runtime == nil || j.Runtime.Elastic == nil):
			return plain
		case j != nil && len(j.Roles)+len(j.Alternatives) > 0:
			return "has several parts or requests"
		}
		return ""
	}
	for _, s := range w.Submits {
		if why = of(s.Job); why == "" && s.Job.GPUs == 0 {
			why = "requests none"
		}
		if why != "" {
			return s.Job.Name, why
		}
	}
	if w.Trace == nil {
		return "", ""
	}
	for i := range w.Trace.Jobs {
		var block *experiments.Job
		if k := w.Trace.Block[i]; k >= 0 {
			block = w.Trace.Blocks[k].Job
		}
		j := &w.Trace.Jobs[i]
		if why = of(block); why == "" && j.GPUs == 0 {
			why = "requests none"
		}
		if why != "" {
			return j.Name, fmt.Sprintf("of the log %s", why)
		}
	}
	return "", ""
}
