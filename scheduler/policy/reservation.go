package policy

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Reservation is the earliest instant at which the first blocked job can start, by the predicted run times.
type Reservation struct {
	Job   int32
	At    time.Duration // Never if it cannot start even after the predicted ends
	rooms []cluster.Room
	job   scheduler.JobView
	cores int32
	nodes []int32 // working storage
}

// Reserve computes the reservation of a job that cannot start, for the alternative with the earliest start.
func (r *Reservation) Reserve(v scheduler.View, h scheduler.Actions, j scheduler.JobView) {
	choices := j.Choices()
	if len(choices) < 2 {
		r.reserveAs(v, j)
		return
	}
	best, earliest := choices[0], scheduler.Never
	for _, k := range choices {
		h.Choose(j.Number(), k)
		if r.reserveAs(v, j); r.At < earliest {
			best, earliest = k, r.At
		}
	}
	h.Choose(j.Number(), best)
	r.reserveAs(v, j)
}

// reserveAs computes the reservation of a job for its present alternative. A job that runs longer than predicted is
// expected to end at any moment.
func (r *Reservation) reserveAs(v scheduler.View, j scheduler.JobView) {
	r.Job, r.At = j.Number(), scheduler.Never
	r.job, r.cores = j, j.Least()
	r.rooms = append(r.rooms[:0], v.Machine().Free()...)
	running, now := v.Running(), v.Now()
	for i, n := 0, running.Len(); i < n; i++ {
		end, job := running.End(i)
		at := max(end, now)
		if r.At != scheduler.Never && at > r.At || at == scheduler.Never {
			return
		}
		if k := v.Job(job); !k.Yields() {
			k.GiveBack(r.rooms, false)
		}
		more := false
		if i+1 < n {
			next, _ := running.End(i + 1)
			more = max(next, now) == at
		}
		if r.At == scheduler.Never && !more && r.fits() {
			r.At = at
		}
	}
}

// fits reports whether the blocked job fits into rooms, the resources that are free at r.At.
func (r *Reservation) fits() bool {
	nodes, ok := r.job.FitsIn(r.rooms, r.cores, r.nodes[:0])
	r.nodes = nodes[:0]
	return ok
}

// MayPass reports whether a waiting job can start on the nodes without a delay of the reservation: it ends before,
// or leaves enough room. In the second case MayPass subtracts its need from the room at r.At.
func (r *Reservation) MayPass(v scheduler.View, j scheduler.JobView, cores int32, nodes []int32) bool {
	if r.At == scheduler.Never || j.Length(cores) <= r.At-v.Now() {
		return true
	}
	j.TakeFrom(r.rooms, cores, nodes)
	if r.fits() {
		return true
	}
	j.PutBack(r.rooms, cores, nodes)
	return false
}

// Spare returns the greatest number of cores on one node that a job may hold beyond r.At.
func (r *Reservation) Spare() int32 {
	most := int32(0)
	for _, room := range r.rooms {
		most = max(most, room.Cores)
	}
	if len(r.rooms) == 1 {
		most -= r.cores
	}
	return most
}
