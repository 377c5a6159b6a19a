package clusterspeed

import (
	"encoding/gob"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
)

// Crew computes the speed of a job with workers and parameter servers on a cluster. It is a simulated.Crew without
// functions, so that a task with it can be written to a file.
type Crew struct {
	Law law.Law
	// Devices and Regions are the device type and the region of each node.
	Devices, Regions []string
	// Factors are factors on a worker's speed, by the worker's region and then by the region of its parameter servers.
	Factors map[string]map[string]float64
	// Full is the speed that counts as 1, in steps per second.
	Full float64
}

func init() { gob.Register(&Crew{}) } // Crew is part of tasks that are written to files

// stalled is the speed of a job whose parts cannot train. It is positive because engines require it.
const stalled = 1e-9

// Speed implements simulated.Crew.
func (c *Crew) Speed(parts []scheduler.Part) float64 {
	return max(c.StepsPerSecond(parts)/c.Full, stalled)
}

// StepsPerSecond returns the total speed of the parts in steps per second.
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

// factor returns the lowest factor of a worker with any of its parameter servers.
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
