package instantiate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/experiment"
)

// place is where a job runs if its hardware is not simply this machine.
type place struct {
	On *experiment.Hardware
	// Image is the identity of its image on that hardware; empty if unknown.
	Image string
}

// contained reports whether the job runs in a container; the receiver may be nil.
func (p *place) contained() bool { return p != nil && p.On.Kind().Contained }

// placed gives separate job blocks to each real hardware that is not simply this machine, because measurements differ
// there: a job in a container or on another machine, or parts on separate nodes. Other cells stay as they are.
func placed(spec *experiment.Spec) (*experiment.Spec, map[*experiment.Job]*place) {
	type key struct {
		block any
		on    *experiment.Hardware
	}
	jobs := map[key]*experiment.Job{}
	workloads := map[key]*experiment.Workload{}
	places := map[*experiment.Job]*place{}
	var job func(*experiment.Job, *experiment.Hardware) *experiment.Job
	job = func(j *experiment.Job, on *experiment.Hardware) *experiment.Job {
		own, ok := jobs[key{j, on}]
		if !ok {
			copied := *j
			own = &copied
			own.Alternatives = slices.Clone(j.Alternatives)
			for i, a := range own.Alternatives {
				own.Alternatives[i] = job(a, on)
			}
			own.Form = strings.TrimPrefix(j.Form+"-"+on.Name, "-") // distinguishes its samples
			jobs[key{j, on}] = own
			places[own] = &place{On: on}
		}
		return own
	}
	out := *spec
	out.Cells = slices.Clone(spec.Cells)
	for i := range out.Cells {
		c := &out.Cells[i]
		if !c.Hardware.Real() || c.Hardware.Kind().Here && !inParts(c) {
			continue
		}
		at := key{c.Workload, c.Hardware}
		if workloads[at] == nil {
			w := *c.Workload
			w.Submits = slices.Clone(w.Submits)
			for n := range w.Submits {
				w.Submits[n].Job = job(w.Submits[n].Job, c.Hardware)
			}
			if w.Trace != nil {
				t := *w.Trace
				t.Blocks = slices.Clone(t.Blocks)
				for n := range t.Blocks {
					t.Blocks[n].Job = job(t.Blocks[n].Job, c.Hardware)
				}
				w.Trace = &t
			}
			workloads[at] = &w
		}
		c.Workload = workloads[at]
	}
	return &out, places
}

// inParts reports whether a cell has jobs whose parts may be on several nodes.
func inParts(c *experiment.Cell) bool {
	return len(c.Hardware.Cluster.Nodes) > 1 && slices.ContainsFunc(c.Workload.Submits, func(s experiment.Submit) bool {
		return s.Job.RunsAsSeveralPrograms()
	})
}

// Nodes returns the node of each part of a job that is alone on its hardware.
func (p *place) Nodes(j *experiment.Job) []int {
	return schema.Each(partsOn(p.On, j), func(part cluster.Part) int { return part.Node })
}

// partsOn returns the parts of a job on the nodes where it starts when it is alone on a hardware; nil if it does not
// fit.
func partsOn(h *experiment.Hardware, j *experiment.Job) []cluster.Part {
	m := cluster.NewMachine(h.Cluster)
	job := j.Template()
	need, count := job.Needs(int32(job.Threads))
	need.Parts.On(m)
	nodes, ok := cluster.Fit(m.Whole, need, count, nil, nil)
	if !ok {
		return nil
	}
	return m.Choose(nodes, need, cluster.Grant{}).Layout.Parts
}

// settingsLines adds the key lines of the engine's settings.
func settingsLines(k *store.Key, h *experiment.Hardware) {
	if h.Kind().Lines != nil {
		k.AddAll(h.Kind().Lines(h.ForEngine()))
	}
}

// placeLines adds the key lines of the place where a job runs.
func (x *Experiment) placeLines(k *store.Key, p *place, j *experiment.Job) {
	label := func(s string) string { return "job." + j.Name + "." + s }
	if p.contained() {
		image := p.Image
		image = cmp.Or(image, "not found")
		k.Addf(label("image"), "%s %s", j.Container.Image, image)
		if j.Container.Dir != "" {
			k.Add(label("workdir"), j.Container.Dir)
		}
		for _, m := range j.Container.Mounts {
			mode := "rw"
			if m.ReadOnly {
				mode = "ro"
			}
			k.Addf(label("mount."+m.Target), "%s %s", x.relative(m.Source), mode)
		}
	}
	settingsLines(k, p.On)
}

// FindImages looks up the images of jobs that run in containers, in the order of the file. They are part of keys, so
// call it before Plan. For each engine that lacks something, the error has an *engine.Unavailable with the first
// missing thing.
func (x *Experiment) FindImages(ctx context.Context, fetch bool) error {
	var missing []error
	for _, kind := range engine.Kinds() {
		if !kind.Contained {
			continue
		}
		var needs []engine.ImageNeed
		var waiting []*place
		asked := map[*place]bool{}
		need := func(c *experiment.Cell) {
			for _, j := range jobsOf(*c) {
				if in := x.places[j]; in != nil && in.On.Kind() == kind && !asked[in] {
					asked[in] = true
					needs = append(needs, engine.ImageNeed{Hardware: in.On.ForEngine(), Image: j.Container.Image})
					waiting = append(waiting, in)
				}
			}
		}
		for i := range x.Spec.Cells {
			need(&x.Spec.Cells[i])
		}
		x.Spec.EachProbe(func(c experiment.Cell) { // a probe uses every image that cells outside the matrix use
			x.placeBeyond(&c)
			need(&c)
		})
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

// imageOn identifies an image, as the file names it, on the hardware with a name.
type imageOn struct{ image, hardware string }

// Hardware returns the hardware of all cells that an engine kind runs, without repetitions.
func (x *Experiment) Hardware(kind *engine.Kind) []*engine.Hardware {
	var list []*engine.Hardware
	seen := map[*experiment.Hardware]bool{}
	var cells []experiment.Cell
	experiment.EachPart(x.Spec.Parts, func(p experiment.ProbePart) {
		probes := p.Probes()
		cells = append(cells, probes[:min(len(probes), 1)]...)
	})
	for _, c := range append(cells, x.Spec.Cells...) {
		if c.Hardware.Kind() == kind && !seen[c.Hardware] {
			seen[c.Hardware] = true
			list = append(list, c.Hardware.ForEngine())
		}
	}
	return list
}
