// Package accounts keeps the service that each user has attained, for orders that share a cluster fairly among
// users.
package accounts

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Accounts is the attained service of each owner of jobs. Jobs of one user have the same owner; a job without a user
// is its own owner.
//
// An owner who is new, or had no jobs for some time, must not get all resources until it has caught up with the
// others. Its service is therefore raised to the virtual time: the attained service of the owner who was served last
// (start-time fair queueing: P. Goyal, H. M. Vin, H. Cheng, 1996).
type Accounts struct {
	Owner    []int32 // owner by job
	Attained []int64 // nanoseconds, by owner
	present  []int32 // by owner, the number of jobs that have arrived and are not over
	virtual  int64
}

// New returns the accounts for jobs, with no service yet.
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

// Add adds service of a job to its owner.
func (s *Accounts) Add(j int32, d time.Duration) {
	o := s.Owner[j]
	s.Attained[o] = int64(scheduler.Plus(time.Duration(s.Attained[o]), d))
}

// Of returns the attained service of a job's owner, in nanoseconds.
func (s *Accounts) Of(j int32) int64 { return s.Attained[s.Owner[j]] }
