package realise

import (
	"fmt"

	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/adaptation"
	"github.com/tfexp/tfexp/stages"
)

// deepenedAt names one scenario of an adaptation.
type deepenedAt struct{ study, scenario int }

// Training describes a real training of an adaptation, and returns the description of its
// key.
func (x *Experiment) Training(t stages.Training) (stages.Task, string, error) {
	at := deepenedAt{t.Study, t.Scenario}
	c, ok := x.deepened[at]
	if !ok {
		c = x.spec.Deepened[t.Study][t.Scenario]
		x.placeTrial(&c)
		x.deepened[at] = c
	}
	cores, gpus := 0, 0
	for _, n := range c.Hardware.Cluster.Nodes {
		cores, gpus = cores+n.Threads, gpus+n.GPUs
	}
	cell := &Cell{x: x, point: c, Ref: record.CellRef{
		Cell: t.Name, Workload: c.Workload.Name, Hardware: c.Hardware.Name, Policy: c.Policy.Name,
		Replicate: 1, Seed: x.ReplicateSeed(1), Engine: c.Hardware.Engine, Contained: c.Hardware.Kind().Contained,
		Cores: cores, GPUs: gpus,
	}}
	k, err := cell.Key()
	if err != nil {
		return stages.Task{}, "", err
	}
	real := x.spec.Adaptations[t.Study].Real
	k.Addf("deepening", "%d decisions between %d actions, at %v, from %s", real.Decisions, real.Blocks+1, real.At,
		real.Scenarios[t.Scenario].First)
	for _, l := range t.Depends {
		k.Add(l.Label, l.Value)
	}
	task, err := cell.Task(t.Folders)
	if err != nil {
		return stages.Task{}, "", fmt.Errorf("training %s: %w", t.Name, err)
	}
	j := c.Workload.Submits[0].Job
	task.Steered = []stages.Steered{{
		Units: program.Length(j), Steps: j.Steps > 0, Controller: adaptation.Live, Options: t.Course.Options(),
	}}
	return task, k.Description(), nil
}
