package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// PriorityTurns orders by effective level, and lets jobs of one level take turns.
const PriorityTurns Order = "priority_round_robin"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: PriorityTurns, Title: "Priority in turns", Place: 13,
		Doc:      "the best level, in turns within it",
		Settings: []schema.Arg{Quantum, feedback},
	},
	RequeueAfterQuantum: true, Levels: true,
	New: func(s Setup) scheduler.Ranker { return &levelTurns{NewLevelQueues(s)} },
})

type levelTurns struct{ LevelQueues }

// Rank returns the effective level.
func (*levelTurns) Rank(j scheduler.JobView) int64 { return int64(j.Level()) }

// LevelQueues keeps the places of jobs in the queues of their levels: at the tail when they
// arrive and when their quantum is over. A job that is paused for a better one keeps its
// place.
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
