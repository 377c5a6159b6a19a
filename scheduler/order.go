package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// rank returns what the policy orders a job by; less is better. For a running
// job it says how it compares with waiting ones at this instant.
func (l *loop) rank(j int32) int64 { return l.rules.Order.Rank(JobView{l, j}) }

// place returns where a job that begins to wait stands in the queue.
func (l *loop) place(j int32) queue.Key {
	k := queue.Key{Rank: l.rank(j), Second: int64(l.life(j).arrival), Job: j}
	if l.second != nil {
		k.Second = l.second.Second(JobView{l, j})
	}
	return k
}

// attained returns the core time that a job has had up to now.
func (l *loop) attained(j int32) time.Duration {
	f := l.life(j)
	if f.state != Running {
		return f.coreTime
	}
	return Plus(f.coreTime, CoreTime(l.now-f.since, int(f.held)))
}

// least returns the least that a waiting job can start with.
func (l *loop) least(j int32) queue.Ask {
	if choices := l.choices(j); len(choices) > 0 {
		return l.leastOf(j, choices)
	}
	ask := queue.Ask{Cores: l.atLeast(j)}
	if !l.life(j).plain {
		need, _ := l.Jobs[j].Needs(l.atLeast(j))
		ask.Cores = need.Cores
	}
	if l.rules.Ends { // otherwise no limit on the queue has a window
		ask.Length = l.length(j, l.life(j).request)
	}
	return ask
}

// atLeast returns the least number of cores that a waiting job can start
// with. Gangs start whole, and a rigid job that has started keeps its size.
func (l *loop) atLeast(j int32) int32 {
	f, job := l.life(j), &l.Jobs[j]
	if !l.rules.Partial || l.sized(j) {
		return f.request
	}
	return min(int32(max(job.MinThreads, 1)), f.request)
}

// sized reports whether the number of cores of a job is not to be chosen: it is
// a gang, or rigid and has started.
func (l *loop) sized(j int32) bool {
	if l.life(j).plain {
		return l.life(j).booked
	}
	return l.Jobs[j].Nodes > 1 || l.Jobs[j].Divided || len(l.Jobs[j].Roles()) > 0 || !l.Jobs[j].Malleable && l.life(j).booked
}
