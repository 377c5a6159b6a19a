package realise

import (
	"context"
	"errors"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/realise/program"
)

// FindImages finds the images of jobs that run in containers, which are part of keys, in the order of the file; it
// comes before Plan. The error is what is missing first, an *engine.Unavailable for each engine that lacks something.
func (x *Experiment) FindImages(ctx context.Context, fetch bool) error {
	var missing []error
	for _, kind := range engine.Kinds() {
		if !kind.Contained {
			continue
		}
		var needs []engine.ImageNeed
		var waiting []*program.Place
		asked := map[*program.Place]bool{}
		need := func(c *experiments.Cell) {
			for _, j := range jobsOf(*c) {
				if in := x.places[j]; in != nil && in.On.Kind() == kind && !asked[in] {
					asked[in] = true
					needs = append(needs, engine.ImageNeed{Hardware: in.On.ForEngine(), Image: j.Container.Image})
					waiting = append(waiting, in)
				}
			}
		}
		for i := range x.spec.Cells {
			need(&x.spec.Cells[i])
		}
		for _, t := range x.spec.Tunings {
			for _, c := range t.Probes { // which have each image that its trials have
				x.placeTrial(&c)
				need(&c)
			}
		}
		if len(needs) == 0 {
			continue
		}
		found, err := kind.Images(ctx, needs, fetch)
		missing = append(missing, err)
		for i, in := range waiting {
			in.Image = found[i]
			x.images[imageOn{needs[i].Image, in.On.Name}] = found[i]
		}
	}
	return errors.Join(missing...)
}

// imageOn is an image, as a file names it, on the hardware of a name.
type imageOn struct{ image, hardware string }

// Hardware lists the hardware of the experiment's cells and trials that a kind of engine runs, each once.
func (x *Experiment) Hardware(kind *engine.Kind) []*engine.Hardware {
	var list []*engine.Hardware
	seen := map[*experiments.Hardware]bool{}
	cells := slices.Concat(x.spec.Deepened...)
	for _, t := range x.spec.Tunings {
		cells = append(cells, t.Probes[:min(len(t.Probes), 1)]...)
	}
	for _, c := range append(cells, x.spec.Cells...) {
		if c.Hardware.Kind() == kind && !seen[c.Hardware] {
			seen[c.Hardware] = true
			list = append(list, c.Hardware.ForEngine())
		}
	}
	return list
}
