package realise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/store"
)

// Contained is where a job runs in containers.
type Contained struct {
	On *experiments.Hardware
	// Images are the IDs of its image on the hosts of the hardware; empty where
	// that is not known.
	Images []string
}

// containerJobs gives each hardware of the engine docker job blocks of its
// own: what is measured of a job in a container is not what is measured of it
// as a process. The cells of other hardware stay as they are.
func containerJobs(spec *experiments.Spec) (*experiments.Spec, map[*experiments.Job]*Contained) {
	type placed struct {
		block any
		on    *experiments.Hardware
	}
	jobs := map[placed]*experiments.Job{}
	workloads := map[placed]*experiments.Workload{}
	containers := map[*experiments.Job]*Contained{}
	var job func(*experiments.Job, *experiments.Hardware) *experiments.Job
	job = func(j *experiments.Job, on *experiments.Hardware) *experiments.Job {
		own, ok := jobs[placed{j, on}]
		if !ok {
			copied := *j
			own = &copied
			own.Alternatives = slices.Clone(j.Alternatives)
			for i, a := range own.Alternatives {
				own.Alternatives[i] = job(a, on)
			}
			own.Variant = strings.TrimPrefix(j.Variant+"-"+on.Name, "-") // names its samples
			jobs[placed{j, on}] = own
			containers[own] = &Contained{On: on}
		}
		return own
	}
	out := *spec
	out.Cells = slices.Clone(spec.Cells)
	for i := range out.Cells {
		c := &out.Cells[i]
		if c.Hardware.Engine != engineDocker {
			continue
		}
		at := placed{c.Workload, c.Hardware}
		if workloads[at] == nil {
			w := *c.Workload
			w.Submits = slices.Clone(w.Submits)
			for n := range w.Submits {
				w.Submits[n].Job = job(w.Submits[n].Job, c.Hardware)
			}
			if w.Trace != nil {
				t := *w.Trace
				t.Kinds = slices.Clone(t.Kinds)
				for n := range t.Kinds {
					t.Kinds[n].Job = job(t.Kinds[n].Job, c.Hardware)
				}
				w.Trace = &t
			}
			workloads[at] = &w
		}
		c.Workload = workloads[at]
	}
	return &out, containers
}

// dockerLines are the key lines of the engine docker's settings.
func dockerLines(h *experiments.Hardware) []string {
	var k store.Key
	d := h.Docker
	k.Addf("hardware.docker", "cpus %s, network %s, privileges %s, user %q, platform %q", d.CPUs, d.Network, d.Privileges, d.User, d.Platform)
	for i, host := range d.Hosts {
		if host != "" {
			k.Add(fmt.Sprintf("hardware.node.%d.host", i), host)
		}
	}
	return k.Lines()
}

// lines are the key lines of a job's container.
func (c *Contained) lines(p *programs, j *experiments.Job) []string {
	var k store.Key
	label := func(s string) string { return "job." + j.Name + "." + s }
	ids := slices.Compact(slices.Clone(c.Images))
	if len(ids) == 0 || slices.Contains(ids, "") {
		ids = []string{"not found"}
	}
	k.Addf(label("image"), "%s %s", j.Container.Image, strings.Join(ids, " "))
	if j.Container.Dir != "" {
		k.Add(label("workdir"), j.Container.Dir)
	}
	for _, m := range j.Container.Mounts {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		k.Addf(label("mount."+m.Target), "%s %s", p.place(m.Source), mode)
	}
	k.Append(dockerLines(c.On))
	return k.Lines()
}
