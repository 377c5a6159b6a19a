package policy

import (
	"cmp"

	"github.com/tfexp/tfexp/scheduler"
)

// SmallestRequest pauses the jobs first that ask for the fewest cores; ties go to
// the longer run.
const SmallestRequest VictimRule = "smallest_request"

func init() {
	RegisterVictims(VictimChoice{
		Choice: Choice{
			Name: string(SmallestRequest), Title: "Smallest request first", Doc: "those that ask for the fewest cores",
			Place: 2,
		},
		Compare: func(a, b scheduler.JobView) int { return cmp.Or(smallestRequest(a, b), longestRun(a, b)) },
	})
}

func smallestRequest(a, b scheduler.JobView) int { return cmp.Compare(a.Request(), b.Request()) }
