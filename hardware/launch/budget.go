package launch

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Scoring is how long a program may go on when its budget is used up, to evaluate its model and to end.
func Scoring(budget time.Duration) time.Duration { return 10*time.Second + budget/10 }

// Alarm returns the service time at which an attempt of the job is ended as failed, and why; 0 for never. before is the
// service time of the attempts before it.
func (j *Job) Alarm(before time.Duration) (limit time.Duration, reason string) {
	limit, reason = j.Limit, fmt.Sprintf("time limit of %s", j.Limit)
	if j.Budget == nil {
		return limit, reason
	}
	after := Scoring(*j.Budget)
	if end := j.Left(before) + after; limit == 0 || end < limit {
		return end, fmt.Sprintf("still running %s after its budget of %s (it must end when its time_left is 0)", after,
			*j.Budget)
	}
	return limit, reason
}

// Left is what is left of the job's budget when so much of it is used; 0 for a job without one.
func (j *Job) Left(used time.Duration) time.Duration {
	if j.Budget == nil {
		return 0
	}
	return max(*j.Budget-used, 0)
}

// Stands is what the control file of a job with a budget says beside its thread pools: its allotment of n units
// (GPUs, if it asked for some, and else cores), how that has changed from the one before (0: not known), and what
// is left of the budget. It is empty for a job without a budget.
func (j *Job) Stands(n, before int, used time.Duration) contract.Message {
	if j.Budget == nil {
		return contract.Message{}
	}
	whole, left := j.Budget.Seconds(), j.Left(used).Seconds()
	m := contract.Message{Allotment: n, Budget: &whole, TimeLeft: &left}
	switch {
	case j.GPUs > 0:
		m.Allotment = j.GPUs
	case before > 0 && n > before:
		m.Change = "up"
	case before > 0 && n < before:
		m.Change = "down"
	}
	return m
}
