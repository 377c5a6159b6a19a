package realise

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/store"
)

// place is where a job runs whose hardware is not simply this machine.
type place struct {
	on *experiments.Hardware
	// image is what its image is there; empty where that is not known.
	image string
}

// contained reports whether the job runs in a container; the receiver may be nil.
func (p *place) contained() bool { return p != nil && p.on.Kind().Contained }

// placedJobs gives each real hardware that is not simply this machine job blocks of its own: what is measured of a
// job in a container, or on another machine, is not what is measured of it as a process here. Other cells stay as
// they are.
func placedJobs(spec *experiments.Spec) (*experiments.Spec, map[*experiments.Job]*place) {
	type key struct {
		block any
		on    *experiments.Hardware
	}
	jobs := map[key]*experiments.Job{}
	workloads := map[key]*experiments.Workload{}
	places := map[*experiments.Job]*place{}
	var job func(*experiments.Job, *experiments.Hardware) *experiments.Job
	job = func(j *experiments.Job, on *experiments.Hardware) *experiments.Job {
		own, ok := jobs[key{j, on}]
		if !ok {
			copied := *j
			own = &copied
			own.Alternatives = slices.Clone(j.Alternatives)
			for i, a := range own.Alternatives {
				own.Alternatives[i] = job(a, on)
			}
			own.Form = strings.TrimPrefix(j.Form+"-"+on.Name, "-") // names its samples
			jobs[key{j, on}] = own
			places[own] = &place{on: on}
		}
		return own
	}
	out := *spec
	out.Cells = slices.Clone(spec.Cells)
	for i := range out.Cells {
		c := &out.Cells[i]
		if !c.Hardware.Real() || c.Hardware.Kind().Here {
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

// settingsLines are the key lines of what an engine's settings are.
func settingsLines(h *experiments.Hardware) []string {
	var k store.Key
	if h.Kind().Lines != nil {
		for _, l := range h.Kind().Lines(h.ForEngine()) {
			k.Add(l.Label, l.Value)
		}
	}
	return k.Lines()
}

// lines are the key lines of where a job runs.
func (p *place) lines(programs *programs, j *experiments.Job) []string {
	var k store.Key
	label := func(s string) string { return "job." + j.Name + "." + s }
	if p.contained() {
		image := p.image
		if image == "" {
			image = "not found"
		}
		k.Addf(label("image"), "%s %s", j.Container.Image, image)
		if j.Container.Dir != "" {
			k.Add(label("workdir"), j.Container.Dir)
		}
		for _, m := range j.Container.Mounts {
			mode := "rw"
			if m.ReadOnly {
				mode = "ro"
			}
			k.Addf(label("mount."+m.Target), "%s %s", programs.place(m.Source), mode)
		}
	}
	k.Append(settingsLines(p.on))
	return k.Lines()
}

// FindImages finds the images of jobs that run in containers, which are part of keys, in the order of the file; it
// comes before Plan. The error is what is missing first, an *engine.Unavailable for each engine that lacks something.
func (x *Experiment) FindImages(ctx context.Context, fetch bool) error {
	var missing []error
	for _, kind := range engine.Kinds() {
		if !kind.Contained {
			continue
		}
		var needs []engine.ImageNeed
		var waiting []*place
		asked := map[*place]bool{}
		for _, c := range x.spec.Cells {
			for _, j := range jobsOf(c) {
				if in := x.places[j]; in != nil && in.on.Kind() == kind && !asked[in] {
					asked[in] = true
					needs = append(needs, engine.ImageNeed{Hardware: in.on.ForEngine(), Image: j.Container.Image})
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
			in.image = found[i]
		}
	}
	return errors.Join(missing...)
}

// Hardware lists the hardware of the experiment's cells that a kind of engine runs, each once.
func (x *Experiment) Hardware(kind *engine.Kind) []*engine.Hardware {
	var list []*engine.Hardware
	seen := map[*experiments.Hardware]bool{}
	for _, c := range x.spec.Cells {
		if c.Hardware.Kind() == kind && !seen[c.Hardware] {
			seen[c.Hardware] = true
			list = append(list, c.Hardware.ForEngine())
		}
	}
	return list
}
