package realise

import (
	"fmt"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages"
)

// mostCopies is how many copies of a job are sampled side by side.
const mostCopies = 8

// copies is how many copies of a job are sampled side by side for a hardware, on whose nodes so many cores are shared; 0
// if the job cannot run beside another there, or how it does so is not measured.
func (x *Experiment) copies(h *experiments.Hardware, j *experiments.Job) (copies, cores int) {
	kind := h.Kind()
	if x.spec.Profile.Contention != experiments.MeasuredContention || !h.Real() || !kind.Descendants && !kind.Contained {
		return 0, 0
	}
	if len(j.Roles) > 0 || j.GPUs > 0 || len(h.Cluster.Nodes) == 0 || h.Terms != nil {
		return 0, 0
	}
	cores = min(h.Cluster.Nodes[0].Threads, x.host.Threads)
	copies = min(cores/max(j.Threads.Request, 1), mostCopies)
	if copies < 2 {
		return 0, 0
	}
	return copies, cores
}

// besideKey describes all that a sample of copies of a job side by side depends on.
func (x *Experiment) besideKey(j *experiments.Job, copies, cores int) *store.Key {
	k := x.profileKey(j)
	k.Addf("profile.beside", "%d copies on %d cores", copies, cores)
	return k
}

// addBeside adds the sample of copies of a job side by side, if the hardware of a point asks for it.
func (x *Experiment) addBeside(c point, j *experiments.Job, at map[string]*Unit) {
	copies, cores := x.copies(c.Hardware, j)
	if copies == 0 {
		return
	}
	k := x.besideKey(j, copies, cores)
	h := k.Hash()
	if at[h] != nil {
		return
	}
	alone := at[x.profileHash(j)]
	u := x.unit(j, k, h)
	u.Name = fmt.Sprintf("%s-beside-%d-on-%d", alone.Name, copies-1, cores)
	u.Block += fmt.Sprintf(" beside %d on %d", copies-1, cores)
	u.Copies, u.Cores, u.Total, u.Repeats = copies, cores, 0, 1
	u.Lengths = u.Lengths[len(u.Lengths)-1:]
	u.Relatives = x.families[x.family(j)]
	at[h] = u
	x.units = append(x.units, u)
}

// measured is the law of contention that the samples of jobs side by side tell for a hardware; false if there are none.
func (x *Experiment) measured(h *experiments.Hardware) (estimator.Contention, bool) {
	var slowed []estimator.Slowed
	for _, u := range x.units {
		if _, cores := x.copies(h, u.job); u.Copies == 0 || cores != u.Cores {
			continue
		}
		for _, s := range x.samples[u.Hash] {
			if m, ok := estimator.SideBySide(x.samples[x.profileHash(u.job)], s); ok {
				slowed = append(slowed, m)
			}
		}
	}
	return estimator.FitSlowed(slowed), len(slowed) > 0
}

// sharing adds to the simulation of a real cell how its jobs slow each other down, as it was measured.
func (c *Cell) sharing(task *stages.Task, k *store.Key) {
	law, ok := c.x.measured(c.Hardware)
	if !ok {
		return
	}
	task.Simulation.Contention = &stages.Contention{Law: law}
	k.Addf("contention", "serial %.4g, capacity %.4g, sharpness %.4g", law.Serial, law.Capacity, law.Sharpness)
}
