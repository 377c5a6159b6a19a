// Package pods checks experiments whose jobs run in pods. It gives jobs the image of their hardware, and refuses
// policies that pause jobs without checkpoints. It also has the order "cluster".
package pods

import (
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Settings are the settings of hardware whose jobs run in pods. The programs of paused jobs always end and start
// again.
type Settings interface {
	// JobImage returns the image of jobs that name none; empty if the hardware has none.
	JobImage() string
	// NeedsQueue adds a queue that must exist before jobs run.
	NeedsQueue(name string)
}

func init() {
	language.Extend("pods", language.File, language.Extension[experiment.Spec]{CheckCells: prepare})
	language.RegisterRule(func(c *language.Checker, cell experiment.Cell) {
		if _, ok := cell.Hardware.Settings.(Settings); ok && c.First(cell.Policy, cell.Hardware) {
			pauses(c, cell.Policy, cell.Hardware)
		}
	})
}

// prepare marks hardware on which paused jobs end, and gives its image to jobs that name none.
func prepare(d *language.Decoder, s *experiment.Spec) {
	from := map[*experiment.Job]*experiment.Hardware{}
	for _, cell := range s.Cells {
		h := cell.Hardware
		set, ok := h.Settings.(Settings)
		if !ok {
			continue
		}
		h.Suspends = true
		for _, queue := range queues(cell) {
			set.NeedsQueue(queue)
		}
		image := set.JobImage()
		if image == "" {
			continue
		}
		for _, block := range cell.Workload.JobBlocks() {
			for _, j := range append([]*experiment.Job{block}, block.Alternatives...) {
				if j.Container == nil {
					j.Container = &launch.Container{Image: image}
					from[j] = h
				} else if from[j] != nil && j.Container.Image != image {
					d.Add(experiments.ErrorAt(j.Range, "Two images for a job", "The job %q names no image, the hardware %q names "+
						"%q for it, and %q names %q: name the image in the job.", j.Name, from[j].Name, j.Container.Image, h.Name,
						image))
					return
				}
			}
		}
	}
}

// shortQuantum is about the time of a pause, which ends a pod and starts another.
const shortQuantum = 5 * time.Second

// pauses refuses a policy that pauses jobs without checkpoints, and warns where pauses take most of the time.
func pauses(c *language.Checker, p *experiment.Policy, h *experiment.Hardware) {
	if !h.Capabilities().Pause && (p.OrderPauses() || p.Pauses()) {
		c.Fail(language.Place(p.At, "order", p.Range), "Pauses without checkpoints",
			"On the hardware %q a paused job ends, and later continues from its checkpoint: set checkpoints in the "+
				"hardware block.", h.Name)
	}
	if q := p.Settings.Duration("quantum"); p.OrderPauses() && 0 < q && q < shortQuantum {
		c.Add(experiments.WarningAt(language.Place(p.At, "quantum", p.Range), "Quantum shorter than a pause",
			"On the hardware %q a paused job ends and starts again from its checkpoint, which takes several seconds: with a "+
				"quantum of %s, most of the time is lost.", h.Name, q))
	}
}
