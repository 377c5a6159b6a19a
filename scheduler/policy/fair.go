package policy

import (
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Fair lets jobs take turns like RoundRobin, but the queue is ordered by the
// attained service of the job's user, then the job's own, then number.
const Fair Order = "fair"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: Fair, Title: "Fair sharing", Doc: "the user, then job, that had least", Place: 8,
		Settings: []schema.Arg{quantum},
	},
	RequeueAfterQuantum: true, RankDependsOnOthers: true,
	New: func(s Setup) scheduler.Ranker { return &fair{NewAccounts(s.Run.Jobs)} },
})

type fair struct{ Accounts }

func (f *fair) Rank(j scheduler.JobView) int64   { return f.of(j.Number()) }
func (f *fair) Second(j scheduler.JobView) int64 { return int64(j.Times().CoreTime) }

// Used implements scheduler.UsageObserver: users attain core time.
func (f *fair) Used(j int32, d time.Duration, g scheduler.Grant) {
	f.Add(j, scheduler.CoreTime(d, g.Cores.Count()))
}
