package roles

import (
	"fmt"

	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func init() {
	language.RegisterRule(func(c *language.Checker, cell experiment.Cell) {
		if t := cell.Workload.Trace; t != nil && c.First(t) {
			withoutRoles(c, t)
		}
		for _, s := range cell.Workload.Submits {
			if p, ok := experiment.PartOf[*Roles](s.Job.Parts); ok && c.First(s.Job, cell.Hardware) {
				fits(c, p, s.Job, cell.Hardware)
			}
		}
	})
}

// fits reports parts of a job that a hardware cannot run.
func fits(c *language.Checker, p *Roles, j *experiment.Job, h *experiment.Hardware) {
	t := j.Template()
	if !t.CouldRun(h.Cluster, false) {
		c.Fail(j.Range, fmt.Sprintf("Too large for the hardware %q", h.Name), "The parts of the job %q do not fit on the "+
			"hardware %q: %s.", j.Name, h.Name, p.ask())
	}
	if j.GPUs > 0 && !h.Capabilities().GPUs {
		c.Lacks(j.Range, h, "gpus", fmt.Sprintf("The job %q requests GPUs", j.Name))
	}
}

// withoutRoles reports job blocks of a trace that have roles: the requests of its jobs are in the trace.
func withoutRoles(c *language.Checker, t *experiment.Trace) {
	for _, k := range t.Blocks {
		if k.Job.RunsAsSeveralPrograms() {
			c.Fail(k.Job.Range, "Roles in a trace", "The jobs of a trace have one part each, but the job %q has roles.",
				k.Job.Name)
		}
	}
}
