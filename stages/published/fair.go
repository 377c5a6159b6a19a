package published

import (
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/accounts"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Fair lets jobs take turns like RoundRobin. The queue is sorted by the attained service of the job's user, then of the
// job, then by the job's number.
const Fair policy.Order = "fair"

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: Fair, Title: "Fair sharing", Doc: "the user with the least core time, then the job with the least", Place: 8,
		Settings: []schema.Arg{policy.Quantum},
	},
	RequeueAfterQuantum: true, RankDependsOnOthers: true,
	New: func(s policy.Setup) scheduler.Ranker { return &fair{accounts.New(s.Run.Jobs)} },
})

type fair struct{ accounts.Accounts }

func (f *fair) Rank(j scheduler.JobView) int64   { return f.Of(j.Number()) }
func (f *fair) Second(j scheduler.JobView) int64 { return int64(j.Times().CoreTime) }

// Used implements scheduler.UsageObserver: it adds core time to the user's service.
func (f *fair) Used(j int32, d time.Duration, g scheduler.Grant) {
	f.Add(j, scheduler.CoreTime(d, g.Cores.Count()))
}
