package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// RoundRobin keeps jobs in a queue: jobs that arrive and jobs whose quantum is over go to its end.
const RoundRobin Order = "round_robin"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: RoundRobin, Title: "Round robin", Doc: "jobs take turns of a quantum", Place: 2,
		Settings: []schema.Arg{Quantum},
	},
	RequeueAfterQuantum: true,
	New:                 func(Setup) scheduler.Ranker { return turns{} },
})

type turns struct{}

func (turns) Rank(j scheduler.JobView) int64 { return j.Turn() }
