package policy

import (
	"cmp"

	"github.com/tfexp/tfexp/scheduler"
)

// LongestRun pauses the jobs first that have run for longest; ties go to the
// smaller request.
const LongestRun VictimRule = "longest_run"

func init() {
	RegisterVictims(VictimChoice{
		Choice: Choice{
			Name: string(LongestRun), Title: "Longest run first", Doc: "those that have run for longest", Place: 1,
		},
		Compare: func(a, b scheduler.JobView) int {
			if c := longestRun(a, b); c != 0 {
				return c
			}
			return smallestRequest(a, b)
		},
	})
}

func longestRun(a, b scheduler.JobView) int { return cmp.Compare(b.Service(), a.Service()) }
