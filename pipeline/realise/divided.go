package realise

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// divided lets the policy divide jobs over nodes, if it does that: those that ask for no number of
// nodes.
func (c *Cell) divided(jobs []scheduler.Job) []scheduler.Job {
	if !c.Policy.Divides() {
		return jobs
	}
	jobs = slices.Clone(jobs) // other cells share them
	for i := range jobs {
		jobs[i].Divided = jobs[i].Divisible()
	}
	return jobs
}
