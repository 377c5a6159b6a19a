package published

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// SRTF is shortest remaining time first, by predicted remaining time. It implies preemption.
const SRTF policy.Order = "srtf"

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: SRTF, Title: "SRTF", Doc: "the shortest predicted remaining time", Place: 5, Estimates: true, ByTime: true, OfJobs: true,
		Settings: []schema.Arg{rankBy},
		Wants:    []policy.Want{impliesPause(SRTF)},
	},
	New: func(s policy.Setup) scheduler.Ranker {
		if s.Policy.Settings[rankBy.Name] == "whole" {
			return policy.Shortest{}
		}
		return leastLeft{}
	},
})

var rankBy = schema.Arg{
	Name: "rank_by", Type: schema.String, DefaultDoc: "`remaining`", Allowed: []string{"remaining", "whole"}, Example: `"whole"`,
	Doc: "Whether jobs are ranked by the predicted `remaining` time, or by the `whole` run time, as in AlloX's simulator.",
}

// impliesPause requires preemption by pausing, because the order also ranks running jobs.
func impliesPause(o policy.Order) policy.Want {
	return policy.Want{
		Of: policy.PreemptionOf, Name: policy.PausePreemption, Implied: true,
		Detail: "The order \"" + o + "\" implies preemption.",
	}
}

type leastLeft struct{}

func (leastLeft) Rank(j scheduler.JobView) int64 { return int64(j.Remaining()) }
