package elastic

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/elastic/policies"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func init() {
	language.RegisterRule(func(on *language.Checker, cell experiment.Cell) {
		c := checker{on}
		w, h, p := cell.Workload, cell.Hardware, cell.Policy
		if c.First(w, h) {
			for _, j := range w.JobBlocks() {
				c.elastic(j, h)
			}
		}
		if c.First(w, h, p) {
			c.trains(w, h, p)
			c.samples(w, h, p)
		}
	})
}

// checker checks the rules of elastic jobs, and of the orders that divide GPUs.
type checker struct{ *language.Checker }

// elastic reports an elastic job for which the hardware cannot be simulated.
func (c checker) elastic(j *experiment.Job, h *experiment.Hardware) {
	e := of(j)
	if e == nil || h.Real() || !c.First(e, h) {
		return
	}
	at, what := e.Range, ""
	switch {
	case h.Kind().Recorded:
		what = "replays recorded runs"
	case h.Noise > 0:
		what = "has noise"
	case h.Contention != nil:
		what = "has contention"
	case h.Cluster.Changes():
		what = "has servers that come and go"
	case savesWork(j):
		c.Fail(at, "Elastic job with checkpoints",
			"The job %q is elastic. The loss of its work with a server is not simulated, so it cannot have checkpoints.",
			j.Name)
		return
	case j.Placed():
		c.Fail(at, "Elastic job with alternatives",
			"The job %q is elastic: it cannot have alternatives or request a type of GPU.", j.Name)
		return
	default:
		c.rates(j, e, h)
		return
	}
	c.Fail(at, "Elastic job that cannot be simulated",
		"The hardware %q %s: that is not supported for elastic jobs such as %q.", h.Name, what, j.Name)
}

// rates reports a type of GPU of the hardware for which an elastic job has no speed.
func (c checker) rates(j *experiment.Job, e *Elastic, h *experiment.Hardware) {
	for _, n := range h.Cluster.Nodes {
		if _, ok := e.Rates[n.GPU]; e.Rates != nil && n.GPUs > 0 && !ok {
			c.Fail(e.Range, "No speed on the GPUs of the hardware \""+h.Name+"\"",
				"The rates of the elastic job %q have no type %q, which the hardware %q has.", j.Name, n.GPU, h.Name)
			return
		}
	}
}

// trains reports a policy that divides GPUs, if the hardware or a job does not allow it.
func (c checker) trains(w *experiment.Workload, h *experiment.Hardware, p *experiment.Policy) {
	at := language.Place(p.At, "order", p.Range)
	needs, divides := policies.Of(p.Policy)
	switch {
	case p.DividesCores(h):
		c.dividesCores(at, w, h, p)
		return
	case needs.Trains && h.Real():
		c.Fail(at, "Order of elastic jobs on real GPUs",
			"The order %q changes the GPUs of training programs while these run, which the engine of the hardware "+
				"%q cannot. On hardware without GPUs it divides cores.",
			p.Order, h.Name)
		return
	case !divides || len(h.GPUTypes()) == 0: // tiresias works with cores as well
		return
	}
	if name, why := unfit(w, needs.Trains); why != "" {
		c.Fail(at, "Job without GPUs to divide",
			"The order %q divides the GPUs of the cluster, and the job %q %s.", p.Order, name, why)
	}
}

// dividesCores reports the reasons why a policy cannot divide cores among the jobs of a workload.
func (c checker) dividesCores(
	at experiments.Range, w *experiment.Workload, h *experiment.Hardware, p *experiment.Policy,
) {
	for _, need := range []struct {
		has  bool
		name string
	}{
		{h.Capabilities().Pause, "pause"}, {h.Capabilities().Resize, "resize"},
		{h.Capabilities().Migrate || len(h.Cluster.Nodes) == 1, "migrate"},
	} {
		if !need.has {
			c.Lacks(at, h, need.name, fmt.Sprintf("The order %q sets the cores of all jobs in each round", p.Order))
			return
		}
	}
	// After an error about the model it is "".
	if m := c.Spec.Estimate.Model; m != "" && w.Sampled() && !experiment.UsesCurve(m) {
		c.Fail(at, "Speed on other numbers of cores that is not measured",
			"The order %q needs the speed of jobs on other numbers of cores, but the model %q of the estimates predicts only "+
				"the speed on the requested number: write estimate { model = \"auto\" }.", p.Order, m)
		return
	}
	on := fmt.Sprintf("On the hardware %q without GPUs, the order %q divides the cores", h.Name, p.Order)
	for _, j := range w.JobBlocks() {
		switch {
		case !j.Malleable:
			c.Fail(at, "Job whose cores cannot be divided", "%s, and the job %q keeps its own: give it malleable = true, if "+
				"its program follows its control file.", on, j.Name)
			return
		case j.Threads.Min > 1:
			c.Fail(at, "Job that needs several cores", "%s, any number from 1 on, and the job %q needs at least %d.",
				on, j.Name, j.Threads.Min)
			return
		}
	}
	if t := w.Trace; t != nil {
		if i := slices.IndexFunc(t.Jobs, func(j scheduler.Job) bool { return !j.Malleable || j.MinThreads > 1 }); i >= 0 {
			c.Fail(at, "Job whose cores cannot be divided",
				"%s, and the job %q of the log is not malleable, or needs more than one.", on, t.Jobs[i].Name)
			return
		}
	}
	if t := w.Trace; len(w.Resizes) > 0 || t != nil && len(t.Resizes) > 0 {
		c.Fail(at, "Requests beside an order that sets all cores",
			"The workload %q changes the numbers of cores while jobs run, but the order %q sets these numbers itself.",
			w.Name, p.Order)
	}
}

// samples reports elastic jobs under a policy that runs samples of jobs on the cluster.
func (c checker) samples(w *experiment.Workload, h *experiment.Hardware, p *experiment.Policy) {
	s := p.Sampling()
	if s == nil || h.Real() || h.Kind().Recorded || h.Cluster.Changes() || p.Promises() || p.Corrected() {
		return // this has been reported
	}
	for _, j := range w.JobBlocks() {
		if of(j) != nil {
			c.Fail(language.Place(p.At, s.Setting, p.Range), "Profiling of elastic jobs",
				"The job %q is elastic: the time of its epochs depends on its GPUs, so it cannot be run as a sample.",
				j.Name)
			return
		}
	}
}

// unfit returns a job of the workload that an order of GPUs cannot run, and the reason.
func unfit(w *experiment.Workload, elastic bool) (name, why string) {
	const plain = "does not give its speed on other numbers of GPUs: give its runtime block an elastic block"
	reason := func(j *experiment.Job) string {
		switch {
		case elastic && of(j) == nil:
			return plain
		case j != nil && (j.RunsAsSeveralPrograms() || len(j.Alternatives) > 0):
			return "has several parts or requests"
		}
		return ""
	}
	for _, s := range w.Submits {
		if why = reason(s.Job); why == "" && s.Job.GPUs == 0 {
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
		var block *experiment.Job
		if k := w.Trace.Block[i]; k >= 0 {
			block = w.Trace.Blocks[k].Job
		}
		j := &w.Trace.Jobs[i]
		if why = reason(block); why == "" && j.GPUs == 0 {
			why = "requests none"
		}
		if why != "" {
			return j.Name, fmt.Sprintf("of the log %s", why)
		}
	}
	return "", ""
}

// savesWork reports whether a simulated job writes checkpoints.
func savesWork(j *experiment.Job) bool {
	_, saves := experiment.PartOf[stages.SavesPart](j.Parts)
	return saves
}
