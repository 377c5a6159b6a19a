package policy

import "github.com/tfexp/tfexp/scheduler"

// SJF is the order "shortest job first", by predicted run time. A job without a prediction counts as the longest.
const SJF Order = "sjf"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: SJF, Title: "SJF", Doc: "the shortest predicted run time", Place: 4, Estimates: true, ByTime: true, OfJobs: true,
	},
	OneByOne: true, New: func(Setup) scheduler.Ranker { return Shortest{} },
})

// Shortest ranks jobs by their predicted run times.
type Shortest struct{}

// Rank implements scheduler.Ranker.
func (Shortest) Rank(j scheduler.JobView) int64 {
	if predicted := j.Predicted(); predicted != 0 {
		return int64(predicted)
	}
	return int64(scheduler.Never)
}
