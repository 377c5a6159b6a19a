package realise

import (
	"fmt"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages"
)

// copies is how many copies of a job are sampled side by side for a hardware, and how many cores they share.
func (x *Experiment) copies(h *experiments.Hardware, j *experiments.Job) (copies, cores int) {
	return sampling.Copies(x.spec.Profile, h, j, x.host.Threads)
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
