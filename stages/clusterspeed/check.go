package clusterspeed

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func init() {
	language.RegisterRule(func(on *language.Checker, cell experiment.Cell) {
		for _, submit := range cell.Workload.Submits {
			if on.First(submit.Job, cell.Hardware) {
				checker{on}.speed(submit.Job, cell.Hardware)
			}
		}
	})
}

// checker has the checks of cluster blocks.
type checker struct{ *language.Checker }

// speed reports simulated hardware with device types for which a job's law has no speed, and regions that no hardware
// of the job has.
func (c checker) speed(j *experiment.Job, h *experiment.Hardware) {
	law := speedOf(j)
	if law == nil || h.Real() {
		return
	}
	if law.Device == "" && !h.Kind().Recorded {
		for _, n := range h.Cluster.Nodes {
			_, known := law.Rate(n.GPU)
			switch {
			case known:
			case n.GPU == "" && j.GPUs > 0: // workers do not run there
			case n.GPU == "":
				c.Fail(law.Range, "Workers on nodes without a type of GPU",
					"The job %q has workers without GPUs, and the nodes "+
						"of the hardware %q do not say which device they are: give its cluster block a device.", j.Name, h.Name)
				return
			default:
				c.Fail(law.Range, "No speed on the GPUs of the hardware \""+h.Name+"\"",
					"The law of the job %q has no rate for "+
						"the type %q, which the hardware %q has.", j.Name, n.GPU, h.Name)
				return
			}
		}
	}
	for _, r := range law.Regions {
		for _, name := range []string{r.A, r.B} {
			if c.Whole && !slices.Contains(c.regions(), name) {
				c.Fail(law.Range, "Unknown region",
					"The regions of the job %q have %q, but no hardware of the experiment has a node "+
						"there.", j.Name, name)
				return
			}
		}
	}
}

// regions returns the regions of all hardware.
func (c checker) regions() []string {
	var out []string
	for _, cell := range c.Spec.Cells {
		for _, n := range cell.Hardware.Cluster.Nodes {
			if n.Supply != cluster.Standing && !slices.Contains(out, n.Region) {
				out = append(out, n.Region)
			}
		}
	}
	return out
}
