package published

import (
	"math"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// SRSF is shortest remaining service first: the predicted remaining time × the job's GPUs, or its cores if it requests
// no GPU (J. Gu and others, "Tiresias", NSDI 2019). It implies preemption.
const SRSF policy.Order = "srsf"

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: SRSF, Title: "SRSF", Place: 10, Estimates: true,
		Version: 2, // 2: a new request does not change the remaining service
		Doc:     "the shortest predicted remaining time × devices",
		Wants:   []policy.Want{impliesPause(SRSF)}, OfJobs: true,
	},
	New: func(policy.Setup) scheduler.Ranker { return leastService{} },
})

type leastService struct{}

func (leastService) Rank(j scheduler.JobView) int64 {
	left := j.Remaining()
	if left == scheduler.Never {
		return math.MaxInt64
	}
	return int64(scheduler.CoreTime(left, widthOf(j)))
}

// widthOf returns the number of devices by which a job's service is counted: the devices for which its run time is
// predicted. A later request does not change it.
func widthOf(j scheduler.JobView) int {
	job := j.Job()
	if job.GPUs == 0 && len(job.Alternatives()) > 0 {
		return int(j.Request()) // the request of the current alternative
	}
	return deviceCount(job)
}
