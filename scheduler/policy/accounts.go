package policy

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// accounts keep the attained service of each owner of jobs. A user owns all
// of the user's jobs; a job without a user owns itself.
//
// An owner that returns after a time without jobs, or is new, does not start
// from its old service: it would then hold the machine until it has caught up
// with all others. It starts at least from the virtual time, the attained
// service of the owner that was served last (start-time fair queueing: P.
// Goyal, H. M. Vin, H. Cheng, 1996).
type accounts struct {
	owner    []int32 // by job
	attained []int64 // nanoseconds, by owner
	present  []int32 // jobs that have arrived and are not final, by owner
	virtual  int64
}

func newAccounts(jobs []scheduler.Job) accounts {
	s := accounts{owner: make([]int32, len(jobs))}
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

// Arrived implements scheduler.UsageObserver.
func (s *accounts) Arrived(j int32) {
	o := s.owner[j]
	if s.present[o] == 0 {
		s.attained[o] = max(s.attained[o], s.virtual)
	}
	s.present[o]++
}

// Ended implements scheduler.UsageObserver.
func (s *accounts) Ended(j int32) { s.present[s.owner[j]]-- }

// Served implements scheduler.UsageObserver.
func (s *accounts) Served(j int32) { s.virtual = max(s.virtual, s.attained[s.owner[j]]) }

// add adds service to the owner of a job.
func (s *accounts) add(j int32, d time.Duration) {
	o := s.owner[j]
	s.attained[o] = int64(scheduler.Plus(time.Duration(s.attained[o]), d))
}

func (s *accounts) of(j int32) int64 { return s.attained[s.owner[j]] }
