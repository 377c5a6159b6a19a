package realise

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/describe"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages"
)

// Key describes all that the records of the cell depend on.
func (c *Cell) Key() (*store.Key, error) {
	x := c.x
	r, err := c.realise()
	if err != nil {
		return nil, err
	}
	k := store.NewKey(stages.Writer(stages.Cells))
	k.Addf("cell", "%s %s %s", c.Workload.Name, c.Hardware.Name, c.Policy.Name)
	for _, a := range c.Axes {
		k.Add("axis."+a.Name, a.Value)
	}
	k.Append(c.trialLines())
	k.Append(x.blockLines(c.Policy, func() []string { return describe.PolicyLines(c.Policy) }))
	k.Append(x.blockLines(c.Hardware, func() []string { return describe.HardwareLines(c.Hardware) }))
	k.Append(describe.AvailabilityLines(c.terms()))
	place := placed{c.Workload, c.Hardware}
	k.Append(x.blockLines(overheadsOf(place), c.overheadLines))
	if c.Hardware.Real() {
		k.Append(x.hostLines())
	}
	k.Append(x.blockLines(c.Workload, func() []string { return describe.WorkloadLines(c.Workload) }))
	k.Append(x.blockLines(place, c.jobLines))
	k.Append(describe.NeighbourLines(c.Policy, blocks(c.point)))
	k.Append(c.estimateLines())
	k.Addf("records", "%s", x.spec.Records)
	if x.spec.Until > 0 {
		k.Addf("until", "%s", x.spec.Until)
	}
	k.Addf("replicate", "%d", c.Ref.Replicate)
	k.Addf("experiment.seed", "%d", x.spec.Seed)
	k.Addf("seed", "%d", c.Ref.Seed)
	k.Add("workload.jobs", r.Digest)
	return k, nil
}

// placed is a workload on a hardware: what the lines of jobs and of overheads
// depend on.
type placed struct {
	workload *experiments.Workload
	hardware *experiments.Hardware
}

// overheadsOf is the same as an address of its own.
type overheadsOf placed

// jobLines are the key lines of the cell's jobs, each once: the forms of a job
// block have most lines in common.
func (c *Cell) jobLines() []string {
	var k store.Key
	added := map[string]bool{}
	add := func(lines []string) {
		for i, l := range lines {
			if !added[l] {
				added[l] = true
				k.Append(lines[i : i+1])
			}
		}
	}
	for _, j := range blocks(c.point) {
		add(alternativeLines(c.Hardware, j))
	}
	for _, j := range jobsOf(c.point) {
		lines := c.x.programs.Describe(j)
		if !c.Hardware.Real() {
			lines = append(slices.Clone(lines), c.x.runtimeLines(c.Hardware, j)...)
		}
		add(lines)
	}
	return k.Lines()
}

// blockLines returns the key lines of a block, which are made once.
func (x *Experiment) blockLines(block any, lines func() []string) []string {
	x.keying.Lock()
	defer x.keying.Unlock()
	l, ok := x.lines[block]
	if !ok {
		l = lines()
		x.lines[block] = l
	}
	return l
}
