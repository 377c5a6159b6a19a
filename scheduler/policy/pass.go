package policy

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// nobody is the number of no job, and of no node.
const nobody = queue.Nobody

// Dispatch is the common part of the admissions: the view and the actions of the present dispatch, and the choices that
// they ask.
type Dispatch struct {
	scheduler.View
	scheduler.Actions
	Setup
}

// Begin takes the view and the actions of a dispatch.
func (d *Dispatch) Begin(v scheduler.View, h scheduler.Actions) { d.View, d.Actions = v, h }

// Allot returns how many cores the allocation gives a waiting job, and on which
// nodes; ok is false when it cannot start. The nodes are valid until the next
// call.
func (d *Dispatch) Allot(j scheduler.JobView) (cores int32, nodes []int32, ok bool) {
	if d.Allocation.Allot == nil || j.Sized() {
		cores = j.Request()
		nodes, ok = j.Fits(cores)
		return cores, nodes, ok
	}
	return d.Allocation.Allot(d.View, j)
}

// MakeRoomFor has running jobs give way to a waiting one, in the first of its
// alternatives for which that makes room.
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

// OneByOne reports whether the policy needs no list of all jobs: it looks at them when they arrive, wait or end.
func (p Policy) OneByOne() bool {
	p = p.Complete()
	order, backfill := orders.find(p.Order), backfills.find(p.Backfill)
	allocation, placement := allocations.find(p.Allocation), placements.find(p.Placement)
	return order != nil && order.OneByOne && backfill != nil && backfill.OneByOne && !p.Pauses() && !p.replans() &&
		allocation != nil && !allocation.Partial && allocation.Admission == nil &&
		placement != nil && placement.Admission == nil && !p.extends() && len(p.modifiers()) == 0 &&
		p.Settings.Duration(Quantum.Name) == 0 && p.Settings.Duration(feedback.Name) == 0
}

// extends reports whether a choice changes the rules of runs.
func (p Policy) extends() bool {
	return slices.ContainsFunc(p.Choices(), func(c *Choice) bool { return c.Extend != nil })
}

// pass admits jobs one by one in the policy's order. When a job cannot start, the
// backfill decides whether the pass ends or looks at later jobs. If the backfill
// reserves, later jobs must not delay the first blocked job.
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
	for waiting.Len() > 0 && (pausing || machine.Idle() > 0) { // no job starts without a core
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
				why = "fits beside those before it"
			}
			if err := h.Start(number, cores, nodes, why); err != nil {
				return err
			}
		case j.HeldUp():
			// Only paused jobs can make room for it, by resuming: it must not
			// prevent that.
		case !p.Backfill.Passes:
			return nil
		case !blocked:
			blocked = true
			if p.Backfill.Reserves {
				p.held.Reserve(p.View, p.Actions, j)
				pausing = false // no job behind a reservation pauses another
			}
		}
	}
	return nil
}

// offer finds an alternative in which a waiting job can start now: the first that
// has room, and does not delay a reservation before it.
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

// passable returns a limit that leaves out waiting jobs which surely cannot pass a blocked job.
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
	return "comes after one that cannot start"
}
