package realise

import (
	"fmt"
	"strconv"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Tunings are the searches for settings, in the order of the file.
func (x *Experiment) Tunings() []*experiments.Tuning { return x.spec.Tunings }

// Replicates is how often each point of the matrix, and each tuning, is repeated.
func (x *Experiment) Replicates() int { return x.spec.Replicates }

// ReplicateSeed is the seed of a replicate.
func (x *Experiment) ReplicateSeed(replicate int) int64 { return replicateSeed(x.spec.Seed, replicate) }

// Trial makes the cell of a trial of a tuning: with settings, as values in the
// order of the tuning's, in a replicate. The error says why the settings cannot be.
func (x *Experiment) Trial(tuning, replicate int, values []string, ref record.TrialRef) (*Cell, error) {
	t := x.spec.Tunings[tuning]
	at, err := t.At(values)
	if err != nil {
		return nil, err
	}
	x.placeTrial(&at)
	named := at
	named.Axes = nil
	for _, a := range t.Axes {
		named.Axes = append(named.Axes, experiments.Setting(a))
	}
	ref.Tuning, ref.Settings = tuning, nil
	for _, a := range at.Axes {
		ref.Settings = append(ref.Settings, record.Setting(a))
	}
	what := "trial"
	if t.Mode != "" {
		what = t.Mode
	}
	var cores, gpus int
	for _, n := range at.Hardware.Cluster.Nodes {
		cores += n.Threads
		gpus += n.GPUs
	}
	return &Cell{x: x, point: at, Ref: record.CellRef{
		Cell:     fmt.Sprintf("%s-r%d-%s%d", cellName(named), replicate, what, ref.Number),
		Workload: at.Workload.Name, Hardware: at.Hardware.Name, Policy: at.Policy.Name,
		Replicate: replicate, Seed: x.ReplicateSeed(replicate), Engine: at.Hardware.Engine,
		Simulated: !at.Hardware.Real(), Contained: at.Hardware.Kind().Contained,
		Axes: t.Axes, Cores: cores, GPUs: gpus, Trial: &ref,
	}}, nil
}

// placeTrial gives a trial that runs elsewhere than on this machine a job block of
// its own, as placedJobs does for the cells of the matrix.
func (x *Experiment) placeTrial(c *experiments.Cell) {
	if !c.Hardware.Real() || c.Hardware.Kind().Here {
		return
	}
	placed, places := program.Placed(&experiments.Spec{Cells: []experiments.Cell{*c}})
	*c = placed.Cells[0]
	for j, p := range places {
		if j.Container != nil {
			p.Image = x.images[imageOn{j.Container.Image, p.On.Name}]
		}
		x.places[j] = p
	}
}

// trialLines are the key lines of a trial: which one of its tuning it is.
func (c *Cell) trialLines() []string {
	var k store.Key
	if t := c.Ref.Trial; t != nil {
		for _, a := range c.Ref.Axes {
			k.Add("tuning.axis."+a.Name, a.Value)
		}
		k.Add("tuning.trial", strconv.Itoa(t.Number))
		if g := c.x.spec.Tunings[t.Tuning].Target; g != nil {
			k.Addf("tuning.target", "%s %g", c.x.spec.Tunings[t.Tuning].Objective, *g)
		}
		k.Append(c.modeLines(c.x.spec.Tunings[t.Tuning]))
	}
	return k.Lines()
}

// trial describes a trial to the stage that runs it; nil for other cells.
func (c *Cell) trial() *stages.Trial {
	t := c.Ref.Trial
	if t == nil {
		return nil
	}
	j := c.Workload.Submits[0].Job
	out := &stages.Trial{Tuning: c.x.spec.Tunings[t.Tuning].Tuning, Units: program.Length(j)}
	if j.Recorded != nil {
		out.Recorded = &j.Recorded.Outcome
	}
	return out
}
