package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// PriorityTurns orders jobs by effective level. Jobs of the same level share the cores by round robin.
const PriorityTurns Order = "priority_round_robin"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: PriorityTurns, Title: "Priority in turns", Place: 13,
		Doc:      "the best level; its jobs take turns of a quantum",
		Settings: []schema.Arg{Quantum, feedback},
	},
	RequeueAfterQuantum: true, Levels: true,
	New: func(s Setup) scheduler.Ranker { return &levelTurns{NewLevelQueues(s)} },
})

type levelTurns struct{ LevelQueues }

// Rank returns the effective level.
func (*levelTurns) Rank(j scheduler.JobView) int64 { return int64(j.Level()) }

// LevelQueues orders the jobs of each level as a queue. Jobs go to its end when they arrive and when their quantum
// is over. A job that is paused for a better level keeps its place.
type LevelQueues struct{ places []int64 }

// NewLevelQueues returns empty queues for the jobs of a run.
func NewLevelQueues(s Setup) LevelQueues { return LevelQueues{make([]int64, len(s.Run.Jobs))} }

// Second implements scheduler.SecondRanker.
func (q *LevelQueues) Second(j scheduler.JobView) int64 {
	if j.State() == scheduler.Queued || j.Yields() {
		q.places[j.Number()] = j.Turn()
	}
	return q.places[j.Number()]
}
