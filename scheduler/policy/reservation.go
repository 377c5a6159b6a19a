package policy

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Reservation is the earliest start of the first blocked job, by the predicted
// run times: the instant, and the resources free then.
type Reservation struct {
	Job   int32
	At    time.Duration // Never when no end of a running job makes room
	rooms []cluster.Room
	job   scheduler.JobView
	cores int32
	nodes []int32 // scratch
}

// Reserve makes the reservation of the first job that cannot start: in the
// alternative with which it starts earliest, by the predictions.
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

// reserveAs makes the reservation for a job with its present alternative. A job
// that runs longer than predicted is taken to end at any moment.
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

// fits reports whether the reservation's job fits into its rooms.
func (r *Reservation) fits() bool {
	nodes, ok := r.job.FitsIn(r.rooms, r.cores, r.nodes[:0])
	r.nodes = nodes[:0]
	return ok
}

// MayPass reports whether a waiting job can start on these nodes without delaying
// the reservation: it ends before, or leaves enough room for it. In the second
// case its need is subtracted from the resources free at that instant.
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

// Spare returns the most cores that the reservation leaves a job on some node.
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
