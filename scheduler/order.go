package scheduler

import (
	"github.com/tfexp/tfexp/scheduler/queue"
)

// rank returns the policy's sort key of a job; the lowest is first. The key of a running job is comparable with the
// keys of waiting jobs at this instant.
func (l *loop) rank(j *jobState) int64 { return l.rules.Order.Rank(JobView{l, j}) }

// place returns the place in the queue for a job that is to wait.
func (l *loop) place(j *jobState) queue.Key {
	k := queue.Key{Rank: l.rank(j), Second: int64(j.arrival), Job: j.number}
	if l.policy.second != nil {
		k.Second = l.policy.second.Second(JobView{l, j})
	}
	return k
}

// least returns the smallest request with which a waiting job can start, over its alternatives.
func (l *loop) least(j *jobState) queue.Ask {
	choices, now := l.choices(j), j.alternative
	if len(choices) == 1 {
		return l.leastAs(j)
	}
	least := queue.AnyAsk
	for _, k := range choices {
		l.adopt(j, k)
		ask := l.leastAs(j)
		least = queue.Ask{Cores: min(least.Cores, ask.Cores), Length: min(least.Length, ask.Length)}
	}
	l.adopt(j, now)
	return least
}

// leastAs is least for the job's present alternative.
func (l *loop) leastAs(j *jobState) queue.Ask {
	ask := queue.Ask{Cores: l.atLeast(j)}
	if !j.plain {
		need, _ := j.job.Needs(l.atLeast(j))
		ask.Cores = need.Cores
	}
	if l.rules.Ends { // only policies with Ends ask for the length
		ask.Length = l.length(j, j.request)
	}
	return ask
}

// atLeast returns the smallest number of cores with which a waiting job can start. A job on several nodes needs its
// full request, and a rigid job that has started keeps its number.
func (l *loop) atLeast(j *jobState) int32 {
	job := j.job
	if !l.rules.Partial || l.sized(j) {
		return j.request
	}
	return min(int32(max(job.MinThreads, 1)), j.request)
}

// sized reports whether the number of cores of a waiting job is fixed: it runs on several nodes, or is rigid and has
// started before.
func (l *loop) sized(j *jobState) bool {
	if j.plain {
		return j.booked
	}
	return j.job.Nodes > 1 || j.job.Divided || len(j.job.Roles()) > 0 || !j.job.Malleable && j.booked
}
