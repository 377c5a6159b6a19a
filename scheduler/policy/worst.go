package policy

import "github.com/tfexp/tfexp/scheduler"

// Worst pauses the jobs that are worst in the policy's order first; of equal ones, the job that arrived last.
const Worst VictimRule = "worst"

var _ = RegisterVictims(VictimChoice{
	Choice: Choice{
		Name: Worst, Title: "Worst first", Doc: "the jobs that come last in the order", Place: 3,
	},
	Key: func(scheduler.JobView) (first, second int64) { return 0, 0 }, Last: true,
})
