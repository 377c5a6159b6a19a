package published

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// LAS is least attained service first; service is core time. It implies preemption, and ranks jobs again at the end of
// each quantum of a running job.
const LAS policy.Order = "las"

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: LAS, Title: "LAS", Doc: "the least attained service", Place: 6,
		Settings: []schema.Arg{policy.Quantum}, Wants: []policy.Want{impliesPause(LAS)},
	},
	New: func(policy.Setup) scheduler.Ranker { return leastAttained{} },
})

type leastAttained struct{}

func (leastAttained) Rank(j scheduler.JobView) int64 { return int64(j.Attained()) }
