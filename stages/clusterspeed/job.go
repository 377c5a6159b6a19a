package clusterspeed

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Speed is the speed of a job as a function of its parts. It is a part of the job's run time. The run time's Epoch is
// then the time of a step with all parts in one region and on the first device type.
type Speed struct {
	law.Law
	Range experiments.Range
	// Device is the device type of all workers; if empty, it is the GPU type of each worker's node.
	Device string
	// Regions has factors on the speed of workers whose parameter servers are in another region.
	Regions []RegionFactor
	// Samples are the measurements to which the law was fitted, Model is the model that the job trains, and File names
	// the table. They are empty if the law was given.
	Samples     []law.Sample
	Model, File string
}

// RegionFactor is a factor on a worker's speed if it is in one of two regions and its parameter servers are in the
// other.
type RegionFactor struct {
	A, B   string
	Factor float64
}

// speedOf returns the Speed of a job; nil if the job has none.
func speedOf(j *experiment.Job) *Speed {
	if j.Runtime == nil {
		return nil
	}
	c, _ := experiment.PartOf[*Speed](j.Runtime.Parts)
	return c
}

// Times implements stages.TimesPart.
func (c *Speed) Times() string {
	return fmt.Sprintf("by its parts %+v on %q, regions %v", c.Law, c.Device, c.Regions)
}

// Work implements stages.WorkPart: the speed does not depend on the number of threads.
func (c *Speed) Work(w *simulated.Scaling) { w.Threads, w.Parallel, w.SpeedUp = 0, 0, nil }

// WorkIn implements stages.CellWorkPart. It sets the run time for all parts placed on free hardware.
func (c *Speed) WorkIn(in experiment.Cell, block *experiment.Job, _ *scheduler.Job, w *simulated.Scaling) {
	crew := c.on(in.Hardware)
	crew.Full = crew.StepsPerSecond(freelyPlaced(block, in.Hardware.Cluster))
	if !(crew.Full > 0) {
		crew.Full = 1 // a mistake here was reported before
	}
	w.Scaled = time.Duration(math.Round(float64(block.Length()) / crew.Full * 1e9))
	w.Special = &simulated.Special{Crew: crew}
}

// on returns the Crew of a job on the nodes of a hardware.
func (c *Speed) on(h *experiment.Hardware) *Crew {
	crew := &Crew{Law: c.Law, Factors: map[string]map[string]float64{}}
	for _, n := range h.Cluster.Nodes {
		region, device := n.Region, c.Device
		device = cmp.Or(device, n.GPU)
		crew.Devices, crew.Regions = append(crew.Devices, device), append(crew.Regions, region)
	}
	for _, r := range c.Regions {
		for _, pair := range [][2]string{{r.A, r.B}, {r.B, r.A}} {
			if crew.Factors[pair[0]] == nil {
				crew.Factors[pair[0]] = map[string]float64{}
			}
			crew.Factors[pair[0]][pair[1]] = r.Factor
		}
	}
	return crew
}

// freelyPlaced returns the placement of a job's parts on a free cluster; nil if they do not fit.
func freelyPlaced(j *experiment.Job, on scheduler.Cluster) []scheduler.Part {
	t := j.Template()
	need, count := t.Needs(int32(t.Threads))
	machine := cluster.NewMachine(on)
	nodes, ok := cluster.Fit(machine.Whole, need, count, nil, nil)
	if !ok {
		return nil
	}
	g := machine.Choose(nodes, need, scheduler.Grant{})
	return g.Parts(on)
}
