package planned

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Conservative is the backfill that lets a job start early only if, by the predictions, no earlier job is delayed.
const Conservative policy.Backfill = "conservative"

var _ = policy.RegisterBackfill(policy.BackfillChoice{
	Choice: policy.Choice{
		Name: Conservative, Title: "Conservative backfill", Doc: "jobs that delay no job before them",
		Place: 4, Version: 5, Estimates: true,
	},
	Passes: true, Reserves: true, Promises: true,
	HeldBack: func(scheduler.View, *policy.Reservation) string { return "would delay a job before it" },
	New: func(s policy.Setup) scheduler.Admitter {
		if keepsPromises(s) {
			return &reservationDispatch{Dispatch: policy.Dispatch{Setup: s}, book: NewReservations(len(s.Run.Jobs))}
		}
		return &planDispatch{policy.Dispatch{Setup: s}}
	},
})

// keepsPromises reports whether reservations can be permanent in a run. Jobs must have one alternative and get their
// requests, no job may be paused or take turns, and the cluster must not change.
func keepsPromises(s policy.Setup) bool {
	return !s.Pauses && !s.Policy.TakesTurns() && !s.Allocation.Partial && !s.Placement.Settled &&
		!s.Run.Cluster.Changes() &&
		!slices.ContainsFunc(s.Run.Jobs, func(j scheduler.Job) bool { return len(j.Alternatives())+len(j.Roles()) > 0 })
}

// reservationDispatch admits jobs by permanent reservations. A job that begins to wait reserves the earliest time span
// with room next to all other reservations.
type reservationDispatch struct {
	policy.Dispatch
	book *Reservations
}

// Waits implements scheduler.QueueObserver.
func (p *reservationDispatch) Waits(job int32) { p.book.AddWaiting(job) }

// HeldBack implements scheduler.Admitter.
func (p *reservationDispatch) HeldBack(_ scheduler.View, job int32) string {
	return fmt.Sprintf("is to start at %s, and would delay others before that", p.book.StartOf(job))
}

// Admit implements scheduler.Admitter.
func (p *reservationDispatch) Admit(v scheduler.View, h scheduler.Actions) error {
	return p.book.Dispatch(v, func(job, cores int32, nodes []int32) error {
		return h.Start(job, cores, nodes, "its reservation begins")
	})
}

// planDispatch admits jobs by a plan. In the policy's order, each job gets the earliest time span with room next to the
// running jobs and earlier jobs, by predicted run times. The plan is made again at each dispatch, up to the last job
// that could start now.
type planDispatch struct{ policy.Dispatch }

// HeldBack implements scheduler.Admitter.
func (d *planDispatch) HeldBack(v scheduler.View, _ int32) string { return d.Backfill.HeldBack(v, nil) }

// Admit implements scheduler.Admitter.
func (d *planDispatch) Admit(v scheduler.View, h scheduler.Actions) error {
	d.Begin(v, h)
	waiting, pausing := v.Waiting(), d.Pauses
	within := queue.Limit{Free: v.Machine().MostFree(), Window: scheduler.Never}
	if !pausing && waiting.Peek(queue.Front, within) == queue.Nobody {
		return nil
	}
	p := NewPlan(v)
	after, blocked := queue.Front, false
	ahead := Startable{Key: queue.Front} // the first later job that could start now
	for {
		if !pausing && !p.FindStartable(waiting, after, &ahead) {
			return nil
		}
		number := waiting.Next(after, queue.Anyone)
		if number == queue.Nobody {
			return nil
		}
		after = waiting.KeyOf(number)
		j := v.Job(number)
		cores, nodes, i := d.place(p, j)
		ok := i == 0
		if !ok { // the job starts now with fewer cores than it would get later
			if least, on, fits := d.Allot(j); fits && p.HasRoom(j, least, on, 0) {
				cores, nodes, ok = least, slices.Clone(on), true
			}
		}
		if !ok && pausing {
			made, err := d.makeRoomNow(j)
			if err != nil {
				return err
			}
			if made {
				cores, nodes, _ = d.Allot(j)
				if err := h.Start(number, cores, nodes, "first in the order"); err != nil {
					return err
				}
				p = NewPlan(v)
				continue
			}
		}
		if ok {
			p.Reserve(j, cores, nodes, v.Now())
			why := "first in the order"
			if blocked {
				why = "delays nobody before it"
			}
			if err := h.Start(number, cores, nodes, why); err != nil {
				return err
			}
			continue
		}
		blocked, pausing = true, false // jobs behind a reservation pause no other jobs
		if i > 0 {
			p.Reserve(j, cores, nodes, p.Steps[i].At)
		}
	}
}

// makeRoomNow works as makeRoom, for a job that is planned with one of its alternatives. If no room can be made, the
// job keeps its alternative. A settled placement does not pause jobs to make room.
func (d *planDispatch) makeRoomNow(j scheduler.JobView) (made bool, err error) {
	if d.Placement.Settled {
		_, made, err = d.MakeRoom(j.Number())
		return made, err
	}
	before := j.Alternative()
	if _, made, err = d.MakeRoomFor(j); !made {
		d.Choose(j.Number(), before)
	}
	return made, err
}

// place returns the place of a waiting job in a plan, and chooses its alternative: the one that the placement rates
// best, or the first of equal ones. The step is negative if no alternative has a known start.
func (d *planDispatch) place(p *Plan, j scheduler.JobView) (cores int32, nodes []int32, step int) {
	choices := j.Choices()
	step = -1
	chosen, best := choices[0], scheduler.Never
	for _, k := range choices {
		d.Choose(j.Number(), k)
		need := d.later(j)
		on, i := p.Earliest(j, need)
		if i < 0 {
			continue
		}
		at := p.Steps[i].At
		at = d.Placement.Measure(at, EndOf(at, j.Length(need)))
		if step < 0 || at < best {
			chosen, best, cores, nodes, step = k, at, need, on, i
		}
	}
	d.Choose(j.Number(), chosen)
	return cores, nodes, step
}

// later returns the cores that a blocked job will get when it starts.
func (d *planDispatch) later(j scheduler.JobView) int32 {
	if !d.Allocation.Partial || j.Sized() {
		return j.Request()
	}
	widest := int32(0)
	for _, r := range d.Machine().Whole() {
		widest = max(widest, r.Cores)
	}
	return max(min(j.Request(), widest), j.Least())
}
