package clusterspeed

import (
	"encoding/gob"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
)

// Crew is the speed of a job with workers and parameter servers on a cluster. It is a simulated.Crew in plain
// values, so that a task can be written down.
type Crew struct {
	Law law.Law
	// Devices and Regions are the devices and regions of the cluster's nodes, by number.
	Devices, Regions []string
	// Factors are the factors on the speed of a worker in a region whose parameter servers are in another, by region.
	Factors map[string]map[string]float64
	// Full is the speed that counts as 1, in steps per second.
	Full float64
}

func init() { gob.Register(&Crew{}) } // it is in tasks that are written down

// stalled is the speed of a job none of whose parts trains: engines want one above 0.
const stalled = 1e-9

// Speed implements simulated.Crew.
func (c *Crew) Speed(parts []scheduler.Part) float64 {
	return max(c.StepsPerSecond(parts)/c.Full, stalled)
}

// StepsPerSecond returns the total speed of the parts.
func (c *Crew) StepsPerSecond(parts []scheduler.Part) float64 {
	var workers []law.Worker
	servers := 0
	for _, p := range parts {
		switch p.Role {
		case contract.RoleServer:
			servers++
		case contract.RoleWorker, contract.RoleChief:
			workers = append(workers, law.Worker{Device: c.Devices[p.Node], Factor: c.factor(p, parts)})
		}
	}
	return c.Law.Speed(workers, servers)
}

// factor is the lowest of those between a worker and the parameter servers.
func (c *Crew) factor(worker scheduler.Part, parts []scheduler.Part) float64 {
	least := 1.0
	here := c.Factors[c.Regions[worker.Node]]
	for _, p := range parts {
		if p.Role == contract.RoleServer {
			if f, ok := here[c.Regions[p.Node]]; ok {
				least = min(least, f)
			}
		}
	}
	return least
}
