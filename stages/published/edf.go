package published

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// EDF is earliest deadline first; jobs without a deadline come last.
const EDF policy.Order = "edf"

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{Name: EDF, Title: "EDF", Doc: "the earliest deadline", Place: 7},
	New:    func(policy.Setup) scheduler.Ranker { return deadlines{} },
})

type deadlines struct{}

func (deadlines) Rank(j scheduler.JobView) int64 {
	if deadline := j.Job().Deadline; deadline > 0 {
		return int64(deadline)
	}
	return int64(scheduler.Never)
}
