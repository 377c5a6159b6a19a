package policy

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Priority orders jobs by their effective level, 0 first. With feedback, the level of a waiting job improves by one
// for each full interval since it last ran. The job keeps this level while it runs, and returns to its own level
// when it is paused.
const Priority Order = "priority"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: Priority, Title: "Priority order", Doc: "by level", Place: 3,
		Settings: []schema.Arg{feedback},
	},
	OneByOne: true, New: func(Setup) scheduler.Ranker { return levels{} },
})

type levels struct{}

func (levels) Rank(j scheduler.JobView) int64 { return int64(j.Level()) }
