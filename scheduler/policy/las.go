package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// LAS is least attained service first: by the core time that jobs have had. It
// implies preemption, and is looked at again at the end of each quantum of a
// running job.
const LAS Order = "las"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: LAS, Title: "LAS", Doc: "the least attained service", Place: 6,
		Settings: []schema.Arg{quantum}, Wants: []Want{impliesPause(LAS)},
	},
	New: func(Setup) scheduler.Ranker { return leastAttained{} },
})

type leastAttained struct{}

func (leastAttained) Rank(j scheduler.JobView) int64 { return int64(j.Attained()) }
