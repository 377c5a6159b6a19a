package published

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// MLFQ has multi-level feedback queues (F. J. Corbató, 1962). A job is in the first queue until it has run for the
// first quantum, then in the second queue for the second quantum, and so on; it stays in the last queue. The first
// queue with jobs is served round robin; the last queue is served by arrival in it. A job that arrives in a better
// queue pauses a job of a worse queue. The paused job keeps its place and the rest of its quantum.
const MLFQ policy.Order = "mlfq"

var quanta = schema.Arg{
	Name: "quanta", Type: schema.Strings, Required: true, Example: `["8s", "16s"]`,
	Doc: "The quantum of each queue except the last one, in which jobs run until they end.",
}

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: MLFQ, Title: "Multi-level feedback queues", Place: 12,
		Doc:      "queues by the time that jobs have run",
		Settings: []schema.Arg{quanta}, Wants: []policy.Want{impliesPause(MLFQ)},
		Check: func(s policy.Settings) (string, error) { _, err := quantaOf(s); return quanta.Name, err },
	},
	RequeueAfterQuantum: true, Levels: true,
	New: func(s policy.Setup) scheduler.Ranker {
		ends, _ := quantaOf(s.Policy.Settings)
		return &feedbackQueues{ends: ends, LevelQueues: policy.NewLevelQueues(s)}
	},
})

// quantaOf returns the total running times after which jobs leave each queue except the last.
func quantaOf(s policy.Settings) (ends []time.Duration, err error) {
	texts, _ := s[quanta.Name].([]string)
	sum := time.Duration(0)
	for _, text := range texts {
		d, err := schema.ParseDuration(text)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%q is not a quantum: a quantum is a time above 0, such as \"8s\"", text)
		}
		sum = scheduler.Plus(sum, d)
		ends = append(ends, sum)
	}
	return ends, nil
}

// feedbackQueues is the state of the order.
type feedbackQueues struct {
	policy.LevelQueues
	ends []time.Duration
}

// Rank returns the number of a job's queue, from 0.
func (q *feedbackQueues) Rank(j scheduler.JobView) int64 {
	ran := j.Times().Service
	n := 0
	for n < len(q.ends) && ran >= q.ends[n] {
		n++
	}
	return int64(n)
}

// Quantum returns the rest of a job's quantum in its queue.
func (q *feedbackQueues) Quantum(j scheduler.JobView) time.Duration {
	if n := q.Rank(j); n < int64(len(q.ends)) {
		return q.ends[n] - j.Times().Service
	}
	return scheduler.Never
}
