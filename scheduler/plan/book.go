package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Book keeps the reservations of waiting jobs: a job's start only moves earlier, unless
// running jobs outlive their predictions. When a job ends early, the waiting jobs move
// earlier in the policy's order and around all other reservations, until none can move
// ("compression": D. G. Feitelson, A. M. Weil, IPPS 1998).
//
// It is for runs in which jobs get their requests, no job is paused, and the cluster does
// not change.
type Book struct {
	nodes    []profile
	bookings []booking        // by job
	running  []int32          // jobs that run, with a booking
	starts   queue.Timers     // of reservations; those that were moved are out of date
	fresh    []int32          // waiting jobs without a reservation
	freed    gap              // the room that became free early
	rooms    []scheduler.Room // scratch, by node
	order    []int32          // scratch
}

// booking is the nodes and the time span of a job that runs or will run.
type booking struct {
	at, end time.Duration
	cores   int32
	state   bookState
	nodes   []int32
}

type bookState uint8

const (
	none bookState = iota
	reserved
	runs
)

// NewBook returns an empty book for the given number of jobs.
func NewBook(jobs int) *Book { return &Book{bookings: make([]booking, jobs)} }

// Wait records that a job has begun to wait.
func (b *Book) Wait(job int32) { b.fresh = append(b.fresh, job) }

// At returns the planned start of a waiting job; Never without a reservation.
func (b *Book) At(job int32) time.Duration {
	if b.bookings[job].state != reserved {
		return scheduler.Never
	}
	return b.bookings[job].at
}

// Dispatch brings the book up to the present instant, and starts the jobs whose time has
// come.
func (b *Book) Dispatch(v scheduler.View, start func(job, cores int32, nodes []int32) error) error {
	now := v.Now()
	b.advance(v)
	b.compress(v) // ended jobs come before new ones
	b.enter(v)
	for idle := false; ; {
		b.compress(v)
		some, err := b.startDue(v, start)
		if err != nil || !some && (v.Running().Len() > 0 || idle) {
			return err
		}
		if !some {
			// There may be no event before a reservation behind jobs that ran longer than
			// predicted, so jobs that can start now must.
			b.freed, idle = b.anywhere(now), true
		}
	}
}

// advance drops the past, and finds the changes of running jobs.
func (b *Book) advance(v scheduler.View) {
	now, free := v.Now(), v.Machine().Free()
	if len(b.nodes) == 0 {
		b.rooms, b.freed.on = slices.Clone(free), make([]bool, len(free))
		for _, r := range free {
			b.nodes = append(b.nodes, newProfile(now, r))
		}
	}
	for i := range b.nodes {
		b.nodes[i].advance(now)
	}
	changed := false
	b.running = slices.DeleteFunc(b.running, func(job int32) bool {
		k, j := &b.bookings[job], v.Job(job)
		if j.State() == scheduler.Running {
			changed = changed || int(k.cores) != j.Held().Cores.Count()
			return false
		}
		if k.end > now {
			b.release(j, k, now)
		}
		k.state = none
		return true
	})
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		k := &b.bookings[job]
		changed = changed || k.state != runs || k.end != end
	}
	if changed {
		b.renew(v)
	}
	for i, r := range free {
		if have := b.nodes[i].now(); have != r {
			// Some jobs run longer than predicted: they are taken to end at any moment.
			r.Sub(have)
			b.nodes[i].change(now, now+1, r)
			b.freed.add(&b.nodes[i], int32(i), stretch{now, now + 1}) // one of them may have ended
		}
	}
}

// renew rebuilds the plan after the predictions or the holdings of running jobs have
// changed. Reservations that no longer have room are moved later.
func (b *Book) renew(v scheduler.View) {
	waiting := []int32{}
	for job := range b.bookings {
		if b.bookings[job].state == reserved {
			waiting = append(waiting, int32(job))
		}
	}
	slices.SortStableFunc(waiting, func(x, y int32) int { return cmp.Compare(b.bookings[x].at, b.bookings[y].at) })
	for i := range b.nodes {
		b.nodes[i] = newProfile(v.Now(), v.Machine().Free()[i])
	}
	for _, s := range Running(v).Steps[1:] {
		for i, r := range s.free {
			p := &b.nodes[i]
			r.Sub(p.lowest(s.At, s.At+1))
			if r.Cores != 0 || r.GPUs != 0 || r.Memory != 0 {
				p.change(s.At, scheduler.Never, r)
			}
		}
	}
	b.running = b.running[:0]
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		held := v.Job(job)
		b.bookings[job] = booking{
			at: v.Now(), end: end, cores: int32(held.Held().Cores.Count()), state: runs, nodes: slices.Clone(held.Home()),
		}
		b.running = append(b.running, job)
	}
	b.freed = b.anywhere(v.Now()) // some may have become shorter
	for _, job := range waiting {
		k, j := &b.bookings[job], v.Job(job)
		if k.at >= v.Now() && b.roomFor(j, k) {
			b.change(j, k, k.at, k.end, true)
			continue
		}
		k.state = none
		b.reserve(v, j)
	}
}

// roomFor reports whether there is room for a booking.
func (b *Book) roomFor(j scheduler.JobView, k *booking) bool {
	for _, v := range k.nodes {
		b.rooms[v] = b.nodes[v].lowest(k.at, k.end)
	}
	return j.HeldBy(b.rooms, k.cores, k.nodes)
}

// enter reserves for the jobs that have begun to wait, in the policy's order.
func (b *Book) enter(v scheduler.View) {
	if len(b.fresh) == 0 {
		return
	}
	fresh := slices.DeleteFunc(b.fresh, func(job int32) bool { return !waits(v.Job(job)) })
	waiting := v.Waiting()
	slices.SortFunc(fresh, func(x, y int32) int { return waiting.KeyOf(x).Compare(waiting.KeyOf(y)) })
	b.fresh = nil
	for _, job := range fresh {
		b.reserve(v, v.Job(job))
	}
}

func waits(j scheduler.JobView) bool {
	return j.State() == scheduler.Queued || j.State() == scheduler.Paused
}

// reserve gives a job the earliest room next to all bookings. If no known end makes
// room for a job, it is tried again after a change.
func (b *Book) reserve(v scheduler.View, j scheduler.JobView) {
	cores, length := j.Request(), j.Length(j.Request())
	nodes, at := b.first(v, j, cores, length, scheduler.Never)
	if at == scheduler.Never {
		b.fresh = append(b.fresh, j.Number())
		return
	}
	b.put(j, booking{at: at, end: Until(at, length), cores: cores, state: reserved, nodes: nodes})
}

// put books a reservation.
func (b *Book) put(j scheduler.JobView, k booking) {
	b.bookings[j.Number()] = k
	b.change(j, &k, k.at, k.end, true)
	b.starts.Push(queue.Timer{At: k.at, Of: j.Number()})
}

// change takes a booking's need out of a stretch of the plan, or puts it back.
func (b *Book) change(j scheduler.JobView, k *booking, from, to time.Duration, take bool) {
	by, _ := j.Needs(k.cores) // of each of its nodes alike: there are no jobs with roles
	if take {
		by = scheduler.Room{Cores: -by.Cores, GPUs: -by.GPUs, Memory: -by.Memory}
	}
	for _, v := range k.nodes {
		b.nodes[v].change(from, to, by)
	}
}

// first finds the earliest time, before a given one, from which there is room for a job, and the nodes; Never if
// there is no such time.
func (b *Book) first(
	v scheduler.View, j scheduler.JobView, cores int32, length, before time.Duration,
) (nodes []int32, at time.Duration) {
	need, count := j.Needs(cores)
	if oneNode(j, need, count) {
		on, at := int32(0), scheduler.Never
		for i := range b.nodes {
			if t := b.nodes[i].first(need, length, stretch{v.Now(), before}, stretch{}); t < before {
				on, at, before = int32(i), t, t
			}
		}
		return []int32{on}, at
	}
	for at := v.Now(); at < before; {
		end, next := Until(at, length), scheduler.Never
		for i := range b.nodes {
			b.rooms[i] = b.nodes[i].lowest(at, end)
			next = min(next, b.nodes[i].next(at))
		}
		if nodes, ok := j.FitsIn(b.rooms, cores, nil); ok {
			return nodes, at
		}
		at = next
	}
	return nil, scheduler.Never
}

// oneNode reports whether a job runs on one node, whatever is free.
func oneNode(j scheduler.JobView, need scheduler.Room, count int) bool {
	return count == 1 && need.Parts == nil && !j.Job().Divided
}

// startDue starts the jobs whose time has come, and reports whether there were some. A
// job for which there is no room, since others run longer than predicted, gets another
// reservation.
func (b *Book) startDue(v scheduler.View, start func(job, cores int32, nodes []int32) error) (some bool, err error) {
	now := v.Now()
	var late []int32
	for len(b.starts) > 0 && b.starts[0].At <= now {
		t := b.starts[0]
		b.starts.Pop()
		k, j := &b.bookings[t.Of], v.Job(t.Of)
		switch {
		case k.state != reserved || k.at != t.At:
			continue
		case !waits(j) || j.Request() != k.cores:
			b.release(j, k, now)
			k.state = none
			if waits(j) {
				b.fresh = append(b.fresh, t.Of)
			}
		case !j.HeldBy(v.Machine().Free(), k.cores, k.nodes):
			b.change(j, k, now, k.end, false)
			k.state = none
			late = append(late, t.Of)
			continue
		default:
			b.begin(j, k, now)
			if err := start(t.Of, k.cores, k.nodes); err != nil {
				return true, err
			}
		}
		some = true
	}
	for _, job := range late {
		b.reserve(v, v.Job(job))
	}
	b.enter(v)
	return some || b.freed.some, nil
}

// begin turns a reservation into the booking of a running job.
func (b *Book) begin(j scheduler.JobView, k *booking, now time.Duration) {
	if end := Until(now, j.Length(k.cores)); end != k.end {
		b.change(j, k, now, k.end, false)
		k.end = end
		b.change(j, k, now, k.end, true)
	}
	k.at, k.state = now, runs
	b.running = append(b.running, j.Number())
}

// release frees a booking's room from an instant on, and records it as freed.
func (b *Book) release(j scheduler.JobView, k *booking, from time.Duration) {
	b.change(j, k, from, k.end, false)
	for _, on := range k.nodes {
		b.freed.add(&b.nodes[on], on, stretch{from, k.end})
		b.freed.some = true
	}
}

// anywhere is a gap that any job may use.
func (b *Book) anywhere(now time.Duration) gap {
	g := gap{some: true, on: make([]bool, len(b.nodes))}
	for i := range g.of {
		g.of[i] = hole{stretch{now, scheduler.Never}, scheduler.Never}
	}
	for i := range g.on {
		g.on[i] = true
	}
	return g
}

// compress moves reservations earlier, in the policy's order, until none can be. A job that could not move at the
// last look can move only into room freed since then.
func (b *Book) compress(v scheduler.View) {
	if !b.freed.some {
		return
	}
	b.order = v.Waiting().First(b.order[:0])
	for before := b.freed; before.some; before = b.freed {
		b.freed = gap{on: make([]bool, len(b.nodes))}
		for _, job := range b.order {
			if k := &b.bookings[job]; k.state == reserved {
				b.earlier(v, v.Job(job), k, &before)
			}
		}
	}
}

// earlier moves a reservation to an earlier start, if there is room for it that has become free before, or since.
func (b *Book) earlier(v scheduler.View, j scheduler.JobView, k *booking, before *gap) {
	need, count := j.Needs(k.cores)
	length := j.Length(k.cores)
	within, ok := before.mayTake(&b.freed, k, need.Cores, length)
	if !ok || k.at <= v.Now() {
		return
	}
	within.from = max(within.from, v.Now())
	was, nodes, at := *k, []int32(nil), scheduler.Never
	if oneNode(j, need, count) {
		for i := range b.nodes {
			if !before.on[i] && !b.freed.on[i] {
				continue
			}
			own := stretch{}
			if int32(i) == was.nodes[0] {
				own = stretch{was.at, was.end}
				b.nodes[i].split(was.at)
				b.nodes[i].split(was.end)
			}
			if t := b.nodes[i].first(need, length, within, own); t < within.to {
				nodes, at, within.to = []int32{int32(i)}, t, t
			}
		}
		if at == scheduler.Never {
			return
		}
		b.change(j, &was, was.at, was.end, false)
	} else {
		b.change(j, &was, was.at, was.end, false)
		if nodes, at = b.first(v, j, was.cores, length, within.to); at == scheduler.Never {
			b.change(j, &was, was.at, was.end, true)
			return
		}
	}
	b.put(j, booking{at: at, end: Until(at, length), cores: was.cores, state: reserved, nodes: nodes})
	for _, on := range was.nodes {
		b.freed.add(&b.nodes[on], on, stretch{was.at, was.end})
		b.freed.some = true
	}
}
