package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// SRTF is shortest remaining time first: by the predicted run time that is left.
// It implies preemption.
const SRTF Order = "srtf"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: SRTF, Title: "SRTF", Doc: "the shortest predicted remaining time", Place: 5, Estimates: true, ByTime: true,
		Settings: append([]schema.Arg{rankBy}, profiled...), Check: lone,
		Wants: []Want{impliesPause(SRTF)},
	},
	New: func(s Setup) scheduler.Ranker {
		if s.Policy.Settings[rankBy.Name] == "whole" {
			return shortest{}
		}
		return leastLeft{}
	},
})

var rankBy = schema.Arg{
	Name: "rank_by", Type: schema.String, DefaultDoc: "`remaining`", Allowed: []string{"remaining", "whole"}, Example: `"whole"`,
	Doc: "Whether jobs are ranked by the predicted `remaining` time, or by the `whole` predicted run time, as the " +
		"simulator of AlloX's authors has SRPT.",
}

// impliesPause is the want of an order that also ranks running jobs.
func impliesPause(o Order) Want {
	return Want{
		Of: PreemptionOf, Name: PausePreemption, Implied: true,
		Detail: "The order \"" + o + "\" implies preemption.",
	}
}

type leastLeft struct{}

func (leastLeft) Rank(j scheduler.JobView) int64 { return int64(j.Remaining()) }
