package program

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Place is where a job runs whose hardware is not simply this machine.
type Place struct {
	On *experiments.Hardware
	// Image is what its image is there; empty where that is not known.
	Image string
}

// contained reports whether the job runs in a container; the receiver may be nil.
func (p *Place) contained() bool { return p != nil && p.On.Kind().Contained }

// Placed gives each real hardware that is not simply this machine job blocks of its own: what is measured of a job
// in a container, or on another machine, is not what is measured of it as a process here, and that of parts on
// nodes of their own not that of parts side by side. Other cells stay as they are.
func Placed(spec *experiments.Spec) (*experiments.Spec, map[*experiments.Job]*Place) {
	type key struct {
		block any
		on    *experiments.Hardware
	}
	jobs := map[key]*experiments.Job{}
	workloads := map[key]*experiments.Workload{}
	places := map[*experiments.Job]*Place{}
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
			places[own] = &Place{On: on}
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

// inParts reports whether a cell has jobs with roles whose parts may be on several nodes.
func inParts(c *experiments.Cell) bool {
	return len(c.Hardware.Cluster.Nodes) > 1 && slices.ContainsFunc(c.Workload.Submits, func(s experiments.Submit) bool {
		return len(s.Job.Roles) > 0
	})
}

// Nodes returns the node of each part of a job with roles where it is alone on its hardware, in the order of its roles.
func (p *Place) Nodes(j *experiments.Job) []int {
	var nodes []int
	for _, part := range PartsOn(p.On, j) {
		nodes = append(nodes, part.Node)
	}
	return nodes
}

// PartsOn returns the parts of a job with roles on the nodes on which it starts alone on a hardware; none when it does
// not fit.
func PartsOn(h *experiments.Hardware, j *experiments.Job) []cluster.Part {
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

// SettingsLines are the key lines of what an engine's settings are.
func SettingsLines(h *experiments.Hardware) []string {
	var k store.Key
	if h.Kind().Lines != nil {
		for _, l := range h.Kind().Lines(h.ForEngine()) {
			k.Add(l.Label, l.Value)
		}
	}
	return k.Lines()
}

// lines are the key lines of where a job runs.
func (p *Place) lines(programs *Programs, j *experiments.Job) []string {
	var k store.Key
	label := func(s string) string { return "job." + j.Name + "." + s }
	if p.contained() {
		image := p.Image
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
	k.Append(SettingsLines(p.On))
	return k.Lines()
}
