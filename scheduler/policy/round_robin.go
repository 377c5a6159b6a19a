package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// RoundRobin lets jobs take turns: arrivals and jobs whose quantum has ended go to
// the tail of a queue.
const RoundRobin Order = "round_robin"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: RoundRobin, Title: "Round robin", Doc: "in turns of a quantum", Place: 2,
		Settings: []schema.Arg{Quantum},
	},
	RequeueAfterQuantum: true,
	New:                 func(Setup) scheduler.Ranker { return turns{} },
})

type turns struct{}

func (turns) Rank(j scheduler.JobView) int64 { return j.Turn() }
