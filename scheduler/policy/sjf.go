package policy

import "github.com/tfexp/tfexp/scheduler"

// SJF is shortest job first: by the predicted run time. A job without a
// prediction counts as longer than all others.
const SJF Order = "sjf"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: SJF, Title: "SJF", Doc: "the shortest predicted run time", Place: 4, Estimates: true, ByTime: true,
		Settings: profiled, Check: lone,
	},
	OneByOne: true, New: func(Setup) scheduler.Ranker { return shortest{} },
})

type shortest struct{}

func (shortest) Rank(j scheduler.JobView) int64 {
	if predicted := j.Predicted(); predicted != 0 {
		return int64(predicted)
	}
	return int64(scheduler.Never)
}
