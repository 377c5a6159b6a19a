// Package accounts keeps the service that users have attained, for orders that share a cluster among them.
package accounts

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Accounts keep the attained service of each owner of jobs. A user owns all
// of the user's jobs; a job without a user owns itself.
//
// An owner that returns after a time without jobs, or is new, does not start
// from its old service: it would then hold the machine until it has caught up
// with all others. It starts at least from the virtual time, the attained
// service of the owner that was served last (start-time fair queueing: P.
// Goyal, H. M. Vin, H. Cheng, 1996).
type Accounts struct {
	Owner    []int32 // by job
	Attained []int64 // nanoseconds, by owner
	present  []int32 // jobs that have arrived and are not final, by owner
	virtual  int64
}

// New returns the accounts of the owners of jobs, before any service.
func New(jobs []scheduler.Job) Accounts {
	s := Accounts{Owner: make([]int32, len(jobs))}
	users := map[string]int32{}
	owners := int32(0)
	for i := range jobs {
		if user := jobs[i].User; user != "" {
			if o, ok := users[user]; ok {
				s.Owner[i] = o
				continue
			}
			users[user] = owners
		}
		s.Owner[i] = owners
		owners++
	}
	s.Attained, s.present = make([]int64, owners), make([]int32, owners)
	return s
}

// Arrived implements scheduler.UsageObserver.
func (s *Accounts) Arrived(j int32) {
	o := s.Owner[j]
	if s.present[o] == 0 {
		s.Attained[o] = max(s.Attained[o], s.virtual)
	}
	s.present[o]++
}

// Ended implements scheduler.UsageObserver.
func (s *Accounts) Ended(j int32) { s.present[s.Owner[j]]-- }

// Served implements scheduler.UsageObserver.
func (s *Accounts) Served(j int32) { s.virtual = max(s.virtual, s.Attained[s.Owner[j]]) }

// Add adds service to the owner of a job.
func (s *Accounts) Add(j int32, d time.Duration) {
	o := s.Owner[j]
	s.Attained[o] = int64(scheduler.Plus(time.Duration(s.Attained[o]), d))
}

// Of returns the attained service of the owner of a job, in nanoseconds.
func (s *Accounts) Of(j int32) int64 { return s.Attained[s.Owner[j]] }
