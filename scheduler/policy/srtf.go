package policy

import "github.com/tfexp/tfexp/scheduler"

// SRTF is shortest remaining time first: by the predicted run time that is left.
// It implies preemption.
const SRTF Order = "srtf"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: SRTF, Title: "SRTF", Doc: "the shortest predicted remaining time", Place: 5, Estimates: true, ByTime: true,
		Settings: profiled, Check: lone,
		Wants: []Want{impliesPause(SRTF)},
	},
	New: func(Setup) scheduler.Ranker { return leastLeft{} },
})

// impliesPause is what an order wants that is about running jobs as well.
func impliesPause(o Order) Want {
	return Want{
		Of: PreemptionOf, Name: PausePreemption, Implied: true,
		Detail: "The order \"" + o + "\" implies preemption.",
	}
}

type leastLeft struct{}

func (leastLeft) Rank(j scheduler.JobView) int64 { return int64(j.Remaining()) }
