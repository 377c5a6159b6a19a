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
		for _, c := range x.spec.Cells {
			for _, j := range jobsOf(c) {
				if in := x.places[j]; in != nil && in.On.Kind() == kind && !asked[in] {
					asked[in] = true
					needs = append(needs, engine.ImageNeed{Hardware: in.On.ForEngine(), Image: j.Container.Image})
					waiting = append(waiting, in)
				}
			}
		}
		if len(needs) == 0 {
			continue
		}
		found, err := kind.Images(ctx, needs, fetch)
		missing = append(missing, err)
		for i, in := range waiting {
			in.Image = found[i]
		}
	}
	return errors.Join(missing...)
}

// Hardware lists the hardware of the experiment's cells that a kind of engine runs, each once.
func (x *Experiment) Hardware(kind *engine.Kind) []*engine.Hardware {
	var list []*engine.Hardware
	seen := map[*experiments.Hardware]bool{}
	cells := slices.Concat(x.spec.Deepened...)
	for _, c := range append(cells, x.spec.Cells...) {
		if c.Hardware.Kind() == kind && !seen[c.Hardware] {
			seen[c.Hardware] = true
			list = append(list, c.Hardware.ForEngine())
		}
	}
	return list
}
