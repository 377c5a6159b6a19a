package policy

import "github.com/tfexp/tfexp/scheduler"

// EDF is earliest deadline first; jobs without a deadline come last.
const EDF Order = "edf"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{Name: EDF, Title: "EDF", Doc: "the earliest deadline", Place: 7},
	New:    func(Setup) scheduler.Ranker { return deadlines{} },
})

type deadlines struct{}

func (deadlines) Rank(j scheduler.JobView) int64 {
	if deadline := j.Job().Deadline; deadline > 0 {
		return int64(deadline)
	}
	return int64(scheduler.Never)
}
