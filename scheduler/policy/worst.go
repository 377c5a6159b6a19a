package policy

import "github.com/tfexp/tfexp/scheduler"

// Worst pauses the jobs first that are the worst in the policy's order at that instant;
// ties go to the later arrival.
const Worst VictimRule = "worst"

var _ = RegisterVictims(VictimChoice{
	Choice: Choice{
		Name: Worst, Title: "Worst first", Doc: "those that come last in the order", Place: 3,
	},
	Key: func(scheduler.JobView) (first, second int64) { return 0, 0 }, Last: true,
})
