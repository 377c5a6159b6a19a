package policy

import "github.com/tfexp/tfexp/scheduler"

// LongestRun pauses the jobs that have run longest first; of equal ones, the job with the smallest request.
const LongestRun VictimRule = "longest_run"

var _ = RegisterVictims(VictimChoice{
	Choice: Choice{
		Name: LongestRun, Title: "Longest run first", Doc: "the jobs that have run longest", Place: 1,
	},
	Key: func(j scheduler.JobView) (began, cores int64) { return int64(j.Times().Began), int64(j.Request()) },
})
