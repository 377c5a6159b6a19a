package policy

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// nobody is the number that means no job, or no node.
const nobody = queue.Nobody

// Dispatch is the common state of admissions: the policy's choices, and the view and the actions of the present
// dispatch.
type Dispatch struct {
	scheduler.View
	scheduler.Actions
	Setup
}

// Begin sets the view and the actions of a dispatch.
func (d *Dispatch) Begin(v scheduler.View, h scheduler.Actions) { d.View, d.Actions = v, h }

// Allot returns the number of cores that the allocation gives a waiting job, and the nodes for them. ok is false if
// the job cannot start. The slice is valid until the next call.
func (d *Dispatch) Allot(j scheduler.JobView) (cores int32, nodes []int32, ok bool) {
	if d.Allocation.Allot == nil || j.Sized() {
		cores = j.Request()
		nodes, ok = j.Fits(cores)
		return cores, nodes, ok
	}
	return d.Allocation.Allot(d.View, j)
}

// MakeRoomFor pauses running jobs that rank worse than a waiting one, for the first alternative with which the job
// can then start. worse says whether any running job ranks worse; made says whether there is room now.
func (d *Dispatch) MakeRoomFor(j scheduler.JobView) (worse, made bool, err error) {
	for _, k := range j.Choices() {
		d.Choose(j.Number(), k)
		some, done, err := d.MakeRoom(j.Number())
		worse = worse || some
		if done || err != nil {
			return worse, done, err
		}
	}
	return worse, false, nil
}

// OneByOne reports whether the policy needs no list of all jobs, because it sees each job only when the job arrives,
// waits or ends.
func (p Policy) OneByOne() bool {
	p = p.Complete()
	order, backfill := orders.find(p.Order), backfills.find(p.Backfill)
	allocation, placement := allocations.find(p.Allocation), placements.find(p.Placement)
	return order != nil && order.OneByOne && backfill != nil && backfill.OneByOne && !p.Pauses() && !p.replans() &&
		allocation != nil && !allocation.Partial && allocation.Admission == nil &&
		placement != nil && placement.Admission == nil && !p.extends() && len(p.modifiers()) == 0 &&
		p.Settings.Duration(Quantum.Name) == 0 && p.Settings.Duration(feedback.Name) == 0
}

// extends reports whether any choice changes the rules of a run.
func (p Policy) extends() bool {
	return slices.ContainsFunc(p.Choices(), func(c *Choice) bool { return c.Extend != nil })
}

// pass starts waiting jobs one by one, in the policy's order. When a job cannot start, the backfill decides whether
// jobs behind it may. If the backfill reserves, they must not delay the first blocked job.
type pass struct {
	Dispatch
	held Reservation
}

func newPass(s Setup) scheduler.Admitter { return &pass{Dispatch: Dispatch{Setup: s}} }

// Admit implements scheduler.Admitter.
func (p *pass) Admit(v scheduler.View, h scheduler.Actions) error {
	p.Begin(v, h)
	waiting, machine := v.Waiting(), v.Machine()
	after, blocked, pausing := queue.Front, false, p.Pauses
	for waiting.Len() > 0 && (pausing || machine.Idle() > 0) { // every job needs a core
		within := queue.Anyone
		if blocked && !pausing {
			within = p.passable()
		}
		number := waiting.Next(after, within)
		if number == nobody {
			return nil
		}
		after = waiting.KeyOf(number)
		j := v.Job(number)
		cores, nodes, ok := p.offer(j, blocked)
		if !ok && pausing {
			var err error
			if pausing, ok, err = p.MakeRoomFor(j); err != nil {
				return err
			}
			if ok {
				cores, nodes, ok = p.Allot(j)
			}
		}
		switch {
		case ok:
			why := "first in the order"
			if blocked {
				why = "fits while jobs before it wait"
			}
			if err := h.Start(number, cores, nodes, why); err != nil {
				return err
			}
		case j.HeldUp():
			// Paused jobs must resume first, because they hold the memory that the job needs. So it must not block
			// them.
		case !p.Backfill.Passes:
			return nil
		case !blocked:
			blocked = true
			if p.Backfill.Reserves {
				p.held.Reserve(p.View, p.Actions, j)
				pausing = false // a job behind a reservation does not pause others
			}
		}
	}
	return nil
}

// offer finds the first alternative with which a waiting job can start now. If a job before it has a reservation,
// the start must not delay that.
func (p *pass) offer(j scheduler.JobView, blocked bool) (cores int32, nodes []int32, ok bool) {
	for _, k := range j.Choices() {
		p.Choose(j.Number(), k)
		cores, nodes, ok = p.Allot(j)
		if ok && blocked && p.Backfill.Reserves {
			ok = p.held.MayPass(p.View, j, cores, nodes)
		}
		if ok {
			break
		}
	}
	return cores, nodes, ok
}

// passable returns a limit that excludes waiting jobs which cannot pass the blocked job.
func (p *pass) passable() queue.Limit {
	within := queue.Limit{Free: p.Machine().MostFree(), Window: scheduler.Never}
	if p.Backfill.Reserves && p.held.At != scheduler.Never {
		within.Window = p.held.At - p.Now()
		within.Spare = p.held.Spare()
	}
	return within
}

// HeldBack implements scheduler.Admitter.
func (p *pass) HeldBack(v scheduler.View, _ int32) string {
	if p.Backfill.HeldBack != nil {
		return p.Backfill.HeldBack(v, &p.held)
	}
	return "waits behind a job that cannot start"
}
