package realise

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages"
)

// onCluster is the work of a job whose speed depends on what its parts run on: as long as all parts take where they are
// placed on the free hardware.
func onCluster(j *experiments.Job, h *experiments.Hardware) simulated.Scaling {
	crew := crewOn(j.Runtime.Cluster, h)
	crew.Full = crew.StepsPerSecond(freelyPlaced(j, h.Cluster))
	if !(crew.Full > 0) {
		crew.Full = 1 // what is wrong with it has been reported
	}
	return simulated.Scaling{
		Fixed: j.Runtime.Startup, Scaled: time.Duration(math.Round(float64(program.Length(j)) / crew.Full * 1e9)), Special: &simulated.Special{Crew: crew},
	}
}

// crewOn is the law of a job on the nodes of a hardware.
func crewOn(c *experiments.ClusterSpeed, h *experiments.Hardware) *stages.Crew {
	crew := &stages.Crew{Law: c.Law, Factors: map[string]map[string]float64{}}
	for i, n := range h.Cluster.Nodes {
		region, device := "", c.Device
		if h.Terms != nil && h.Terms[i] != nil {
			region = h.Terms[i].Region
		}
		if device == "" {
			device = n.GPU
		}
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

// freelyPlaced are the parts of a job where they fit on a free cluster; none where they do not.
func freelyPlaced(j *experiments.Job, on scheduler.Cluster) []scheduler.Part {
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
