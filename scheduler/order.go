package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// rank returns what the policy orders a job by; less is better. For a running
// job it says how it compares with waiting ones at this instant.
func (l *loop) rank(j int32) int64 {
	job := &l.Jobs[j]
	switch l.p.Order {
	case Priority:
		return int64(l.lives[j].level)
	case SJF:
		if l.predicted(j) == 0 {
			return int64(Never)
		}
		return int64(l.predicted(j))
	case SRTF:
		return int64(l.remaining(j))
	case LAS:
		return int64(l.attained(j))
	case EDF:
		if job.Deadline <= 0 {
			return int64(Never)
		}
		return int64(job.Deadline)
	case RoundRobin:
		return l.arrivals
	case Fair:
		return l.fair.of(j)
	}
	return int64(job.Arrival)
}

// place returns where a job that begins to wait stands in the queue.
func (l *loop) place(j int32) queue.Key {
	k := queue.Key{Rank: l.rank(j), Second: int64(l.Jobs[j].Arrival), Job: j}
	if l.p.Order == Fair {
		k.Second = int64(l.lives[j].CoreTime)
	}
	return k
}

// attained returns the core time that a job has had up to now.
func (l *loop) attained(j int32) time.Duration {
	f := &l.lives[j]
	if f.State != Running {
		return f.CoreTime
	}
	return plus(f.CoreTime, coreTime(l.now-f.since, f.grant.Cores.Count()))
}

// least returns the least that a waiting job can start with.
func (l *loop) least(j int32) queue.Ask {
	if choices := l.choices(j); len(choices) > 0 {
		return l.leastOf(j, choices)
	}
	need, _ := l.Jobs[j].needs(l.atLeast(j))
	return queue.Ask{Cores: need.cores, Length: l.length(j, l.lives[j].request)}
}

// atLeast returns the least number of cores that a waiting job can start
// with. Gangs start whole, and a rigid job that has started keeps its size.
func (l *loop) atLeast(j int32) int32 {
	f, job := &l.lives[j], &l.Jobs[j]
	if l.p.Allocation == Strict || l.sized(j) {
		return f.request
	}
	return min(int32(max(job.MinThreads, 1)), f.request)
}

// atMost returns the greatest number of cores that a waiting or running job
// can be given.
func (l *loop) atMost(j int32) int32 {
	f, job := &l.lives[j], &l.Jobs[j]
	if l.p.Allocation != MaxProp || l.sized(j) {
		return f.request
	}
	return max(f.request, int32(job.MaxThreads))
}

// sized tells whether the number of cores of a job is not to be chosen: it is
// a gang, or rigid and has started.
func (l *loop) sized(j int32) bool {
	return l.Jobs[j].Nodes > 1 || !l.Jobs[j].Malleable && l.lives[j].booked
}

// fairShares keeps what each owner has attained, for the order fair. A user
// owns all of the user's jobs; a job without a user owns itself.
//
// An owner that comes back after a time without jobs, or for the first time,
// does not start from what it had, which would let it hold the machine until
// it has caught up with all others: it starts at least from the virtual time,
// the attained service of the owner that was served last (start-time fair
// queueing: P. Goyal, H. M. Vin, H. Cheng, 1996).
type fairShares struct {
	owner    []int32 // by job
	attained []int64 // core-nanoseconds, by owner
	present  []int32 // jobs that have arrived and are not final, by owner
	virtual  int64
}

func newFairShares(jobs []Job) fairShares {
	s := fairShares{owner: make([]int32, len(jobs))}
	users := map[string]int32{}
	owners := int32(0)
	for i := range jobs {
		if user := jobs[i].User; user != "" {
			if o, ok := users[user]; ok {
				s.owner[i] = o
				continue
			}
			users[user] = owners
		}
		s.owner[i] = owners
		owners++
	}
	s.attained, s.present = make([]int64, owners), make([]int32, owners)
	return s
}

func (s *fairShares) enter(j int32) {
	if s.owner == nil {
		return
	}
	o := s.owner[j]
	if s.present[o] == 0 {
		s.attained[o] = max(s.attained[o], s.virtual)
	}
	s.present[o]++
}

func (s *fairShares) leave(j int32) {
	if s.owner != nil {
		s.present[s.owner[j]]--
	}
}

// use adds core time that a job has had.
func (s *fairShares) use(j int32, d time.Duration) {
	if s.owner != nil {
		o := s.owner[j]
		s.attained[o] = int64(plus(time.Duration(s.attained[o]), d))
	}
}

// serve notes that a job is given cores.
func (s *fairShares) serve(j int32) {
	if s.owner != nil {
		s.virtual = max(s.virtual, s.attained[s.owner[j]])
	}
}

func (s *fairShares) of(j int32) int64 { return s.attained[s.owner[j]] }
