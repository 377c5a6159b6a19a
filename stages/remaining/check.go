package remaining

import (
	"slices"

	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func init() {
	language.RegisterRule(func(c *language.Checker, cell experiment.Cell) {
		w, h, p := cell.Workload, cell.Hardware, cell.Policy
		if c.First(w, h) {
			targets(c, w, h)
		}
		if c.First(w, h, p) {
			lossCurves(c, w, p)
		}
	})
}

// targets reports jobs with a target loss that report no losses. Simulated jobs need losses from a file.
func targets(c *language.Checker, w *experiment.Workload, h *experiment.Hardware) {
	for _, s := range w.Submits {
		j := s.Job
		switch {
		case targetOf(j) == 0:
		case len(j.Alternatives) > 0:
			c.Fail(j.At["target_loss"], "Target loss of a job with alternatives",
				"The job %q has alternatives, whose progress is not followed, so it cannot have a target_loss.", j.Name)
		case !h.Real() && (j.Runtime == nil || len(j.Runtime.Losses) == 0):
			c.Fail(j.At["target_loss"], "Target loss without losses",
				"On the hardware %q the job %q is simulated. Give the losses that it reports there in its runtime "+
					"block: losses = \"losses.csv\".", h.Name, j.Name)
		}
	}
	if w.Trace == nil {
		return
	}
	for _, k := range w.Trace.Blocks {
		if targetOf(k.Job) > 0 {
			c.Fail(k.At["target_loss"], "Target loss of a trace's job",
				"The jobs of a trace end as it says; the job block %q of the workload %q cannot have a target_loss.",
				k.Name, w.Name)
		}
	}
}

// lossCurves reports a policy that predicts by loss curves if no job has a target loss.
func lossCurves(c *language.Checker, w *experiment.Workload, p *experiment.Policy) {
	if p.Estimates != lossCurve.Name ||
		slices.ContainsFunc(w.Submits, func(s experiment.Submit) bool { return targetOf(s.Job) > 0 }) {
		return
	}
	c.Fail(language.Place(p.At, "estimates", p.Range), "Loss curves without a target",
		"No job of the workload %q has a target_loss, so there is nothing to predict from losses. Use \"online\".", w.Name)
}
