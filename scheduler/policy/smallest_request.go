package policy

import "github.com/tfexp/tfexp/scheduler"

// SmallestRequest pauses the jobs with the fewest requested cores first; of equal ones, the job that has run
// longest.
const SmallestRequest VictimRule = "smallest_request"

var _ = RegisterVictims(VictimChoice{
	Choice: Choice{
		Name: SmallestRequest, Title: "Smallest request first", Doc: "the jobs that request the fewest cores",
		Place: 2,
	},
	Key: func(j scheduler.JobView) (cores, began int64) { return int64(j.Request()), int64(j.Times().Began) },
})
