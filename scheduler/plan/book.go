package plan

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Book keeps the reservations that waiting jobs have been given: a job's start is only ever
// moved earlier, unless running jobs outlive their predictions. When a job ends early, the
// waiting ones are moved earlier in the policy's order, each beside the reservations of all
// others, until none can be ("compression": D. G. Feitelson, A. M. Weil, IPPS 1998).
//
// A dispatch looks at so many steps of the plan for that and no more (mostLooked): behind
// that, only those jobs are moved that can start at once, and the others keep their
// reservations.
//
// It is for runs in which jobs get their requests, nobody is paused, and the cluster stays
// as it is.
type Book struct {
	Plan
	bookings []booking    // by job
	running  []int32      // jobs that run, with a booking
	starts   queue.Timers // of reservations; those that were moved are out of date
	fresh    []int32      // waiting jobs without a reservation
	// freed is the end of what has become free before its time; 0 for nothing.
	freed time.Duration
	// behind says that reservations were left which could be earlier.
	behind   bool
	looked   int // steps that were looked at since the dispatch began
	lowest   []scheduler.Room
	frontier frontier    // scratch
	soon     []queue.Key // scratch
}

// booking is where and when a job is to run, or runs.
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

// mostLooked bounds the steps that a dispatch looks at to move reservations earlier: some
// hundred microseconds. Tests have fewer.
var mostLooked = 20_000

// NewBook returns an empty book for so many jobs.
func NewBook(jobs int) *Book { return &Book{bookings: make([]booking, jobs)} }

// Wait notes that a job has begun to wait.
func (b *Book) Wait(job int32) { b.fresh = append(b.fresh, job) }

// At returns when a waiting job is to start; Never without a reservation.
func (b *Book) At(job int32) time.Duration {
	if b.bookings[job].state != reserved {
		return scheduler.Never
	}
	return b.bookings[job].at
}

// Dispatch brings the book up to the present instant, and starts the jobs whose time has
// come.
func (b *Book) Dispatch(v scheduler.View, start func(job, cores int32, nodes []int32) error) error {
	b.advance(v)
	b.looked = 0
	switch { // what has ended is before what has come
	case b.freed > v.Now():
		b.compress(v)
	case b.behind: // no event need come when a reservation begins that could be earlier
		b.startable(v)
	}
	b.enter(v)
	for idle := false; ; {
		if b.freed > v.Now() {
			b.compress(v)
		}
		b.freed = 0
		some, err := b.startDue(v, start)
		if err != nil || !some && (v.Running().Len() > 0 || idle) {
			return err
		}
		if !some {
			// No event may come before a reservation that was made behind jobs which ran longer
			// than predicted: who can start now must.
			b.freed, idle = scheduler.Never, true
		}
	}
}

// advance forgets what is past, and finds out what has changed about running jobs.
func (b *Book) advance(v scheduler.View) {
	now, free := v.Now(), v.Machine().Free()
	if len(b.Steps) == 0 {
		b.Steps = append(b.Steps, Step{now, slices.Clone(free)})
	}
	past := 0
	for past+1 < len(b.Steps) && b.Steps[past+1].At <= now {
		past++
	}
	b.Steps = b.Steps[past:]
	b.Steps[0].At = now
	b.tidy()
	changed := false
	b.running = slices.DeleteFunc(b.running, func(job int32) bool {
		k, j := &b.bookings[job], v.Job(job)
		if j.State() == scheduler.Running {
			changed = changed || int(k.cores) != j.Held().Cores.Count()
			return false
		}
		if k.end > now {
			b.change(j, k, now, k.end, false)
			b.freed = max(b.freed, k.end)
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
	if !slices.Equal(b.Steps[0].free, free) {
		// Some jobs run longer than predicted: they are taken to end at any moment.
		b.split(now + 1)
		copy(b.Steps[0].free, free)
	}
}

// renew makes the plan anew, after the predictions of running jobs, or what they hold, have
// changed. Reservations that there is no room for any more are made anew, later.
func (b *Book) renew(v scheduler.View) {
	waiting := []int32{}
	for job := range b.bookings {
		if b.bookings[job].state == reserved {
			waiting = append(waiting, int32(job))
		}
	}
	slices.SortStableFunc(waiting, func(x, y int32) int { return compare(b.bookings[x].at, b.bookings[y].at) })
	b.Plan = *Running(v)
	b.running = b.running[:0]
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		held := v.Job(job)
		b.bookings[job] = booking{
			at: v.Now(), end: end, cores: int32(held.Held().Cores.Count()), state: runs, nodes: slices.Clone(held.Home()),
		}
		b.running = append(b.running, job)
	}
	b.freed = scheduler.Never // some may have become shorter
	for _, job := range waiting {
		k, j := &b.bookings[job], v.Job(job)
		i, found := slices.BinarySearchFunc(b.Steps, k.at, func(s Step, at time.Duration) int { return compare(s.At, at) })
		if !found {
			i--
		}
		if i >= 0 && b.roomFrom(j, k, i) {
			b.change(j, k, k.at, k.end, true)
			continue
		}
		k.state = none
		b.reserve(v, j)
	}
}

// roomFrom reports whether there is room for a booking, which begins in step i.
func (b *Book) roomFrom(j scheduler.JobView, k *booking, i int) bool {
	for ; i < len(b.Steps) && b.Steps[i].At < k.end; i++ {
		if !j.HeldBy(b.Steps[i].free, k.cores, k.nodes) {
			return false
		}
	}
	return true
}

func compare(a, b time.Duration) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// enter reserves for the jobs that have begun to wait, in the policy's order.
func (b *Book) enter(v scheduler.View) {
	if len(b.fresh) == 0 {
		return
	}
	fresh := slices.DeleteFunc(b.fresh, func(job int32) bool { return !waits(v.Job(job)) })
	waiting := v.Waiting()
	slices.SortFunc(fresh, func(x, y int32) int {
		if waiting.KeyOf(x).Less(waiting.KeyOf(y)) {
			return -1
		}
		return 1
	})
	b.fresh = nil
	for _, job := range fresh {
		b.reserve(v, v.Job(job))
	}
}

func waits(j scheduler.JobView) bool {
	return j.State() == scheduler.Queued || j.State() == scheduler.Paused
}

// reserve gives a job the earliest room beside all that is booked. One for which no end
// that is known makes room is tried again when something has changed.
func (b *Book) reserve(v scheduler.View, j scheduler.JobView) {
	cores, length := j.Request(), j.Length(j.Request())
	nodes, step := b.first(j, cores, length, scheduler.Never)
	if step < 0 {
		b.fresh = append(b.fresh, j.Number())
		return
	}
	at := b.Steps[step].At
	b.put(j, booking{at: at, end: Until(at, length), cores: cores, state: reserved, nodes: nodes})
}

// put books a reservation.
func (b *Book) put(j scheduler.JobView, k booking) {
	b.bookings[j.Number()] = k
	b.change(j, &k, k.at, k.end, true)
	b.starts.Push(queue.Timer{At: k.at, Of: j.Number()})
}

// change takes what a booking needs out of a stretch of the plan, or puts it back.
func (b *Book) change(j scheduler.JobView, k *booking, from, to time.Duration, take bool) {
	need, _ := j.Needs(k.cores) // of each of its nodes alike: there are no jobs with roles
	for i := b.split(max(from, b.Steps[0].At)); i < len(b.Steps) && b.Steps[i].At < to; i++ {
		b.looked++
		if i+1 == len(b.Steps) || b.Steps[i+1].At > to {
			b.split(to)
		}
		for _, v := range k.nodes {
			if take {
				b.Steps[i].free[v].Sub(need)
			} else {
				b.Steps[i].free[v].Add(need)
			}
		}
	}
}

// first finds the earliest step, before an instant, from which on there is room for a job;
// negative when there is none.
func (b *Book) first(j scheduler.JobView, cores int32, length, before time.Duration) (nodes []int32, step int) {
	need, count := j.Needs(cores)
	if count > 1 || need.Parts != nil || j.Job().Divided {
		return b.firstOfMany(j, cores, length, before)
	}
	best, on := -1, int32(0)
	for v := range b.Steps[0].free {
		i, k := 0, 0
		for ; i < len(b.Steps) && b.Steps[i].At < before && (best < 0 || i < best); k++ {
			if k == len(b.Steps) || k > i && b.Steps[k].At >= Until(b.Steps[i].At, length) {
				best, on = i, int32(v)
				break
			}
			b.looked++
			if !b.Steps[k].free[v].Holds(need) {
				i = k + 1
			}
		}
	}
	if best < 0 {
		return nil, -1
	}
	return []int32{on}, best
}

// firstOfMany is first for a job of several nodes.
func (b *Book) firstOfMany(j scheduler.JobView, cores int32, length, before time.Duration) (nodes []int32, step int) {
	for i := range b.Steps {
		if b.Steps[i].At >= before {
			break
		}
		b.lowest = append(b.lowest[:0], b.Steps[i].free...)
		end := Until(b.Steps[i].At, length)
		for k := i + 1; k < len(b.Steps) && b.Steps[k].At < end; k++ {
			b.looked++
			for v, r := range b.Steps[k].free {
				b.lowest[v] = leastOf(b.lowest[v], r)
			}
		}
		if nodes, ok := j.FitsIn(b.lowest, cores, nil); ok {
			return nodes, i
		}
	}
	return nil, -1
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
			b.change(j, k, now, k.end, false)
			b.freed, k.state = max(b.freed, k.end), none
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
		b.split(now + 1)
		b.reserve(v, v.Job(job))
	}
	b.enter(v)
	return some || b.freed > now, nil
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

// compress moves reservations earlier, in the policy's order, until none can be.
func (b *Book) compress(v scheduler.View) {
	waiting := v.Waiting()
	if b.behind {
		b.freed = scheduler.Never
	}
	b.behind = false
	for b.freed > 0 {
		within := queue.Limit{Free: b.mostFree(v.Now(), b.freed), Window: scheduler.Never}
		b.freed = 0
		for job := waiting.Peek(queue.Front, within); job != queue.Nobody; job = waiting.Peek(waiting.KeyOf(job), within) {
			if b.looked > mostLooked {
				b.freed, b.behind = 0, true
				b.startable(v)
				return
			}
			if end := b.earlier(v.Job(job), v.Now(), scheduler.Never); end > 0 {
				b.freed = max(b.freed, end)
				within.Free = max(within.Free, b.mostFree(v.Now(), end))
			}
		}
	}
}

// startable moves the reservations of jobs that can start at once, in the policy's order, until none can.
func (b *Book) startable(v scheduler.View) {
	for again := true; again; {
		again = false
		next := b.candidates(v)
		for job := next(queue.Front); job != queue.Nobody; job = next(v.Waiting().KeyOf(job)) {
			if j := v.Job(job); b.mayStart(j) && b.earlier(j, v.Now(), v.Now()+1) > 0 {
				next, again = b.candidates(v), true
			}
		}
	}
}

// candidates finds the frontier, and lists the waiting jobs that may start within it, after a place
// in the policy's order: those that would end before no core is free any more, and those whose
// reservations begin before that, and leave room for themselves from there on.
func (b *Book) candidates(v scheduler.View) (next func(after queue.Key) int32) {
	b.frontier = frontierOf(&b.Plan, b.frontier)
	waiting, now := v.Waiting(), v.Now()
	within, last := b.frontier.limit(now)
	soon := b.dueBy(waiting, last)
	return func(after queue.Key) int32 {
		for len(soon) > 0 && !after.Less(soon[0]) {
			soon = soon[1:]
		}
		job := waiting.Peek(after, within)
		if len(soon) > 0 && (job == queue.Nobody || soon[0].Less(waiting.KeyOf(job))) {
			return soon[0].Job
		}
		return job
	}
}

// dueBy returns the places of the waiting jobs whose reservations begin until an instant, in the
// policy's order.
func (b *Book) dueBy(waiting scheduler.WaitingJobs, last time.Duration) []queue.Key {
	b.soon = b.soon[:0]
	b.starts.Until(last, func(t queue.Timer) {
		if k := &b.bookings[t.Of]; k.state == reserved && k.at == t.At {
			b.soon = append(b.soon, waiting.KeyOf(t.Of))
		}
	})
	slices.SortFunc(b.soon, queue.Key.Compare)
	b.soon = slices.Compact(b.soon)
	return b.soon
}

// mayStart reports whether there could be room for a job of one node from now on, if its
// own reservation did not count; of other jobs it is not known.
func (b *Book) mayStart(j scheduler.JobView) bool {
	k := &b.bookings[j.Number()]
	need, count := j.Needs(k.cores)
	if count > 1 || k.state != reserved {
		return k.state == reserved
	}
	end := Until(b.Steps[0].At, j.Length(k.cores))
	for v := range b.frontier {
		until := end
		if k.nodes[0] == int32(v) {
			until = min(until, k.at) // from there on it has room, its own
		}
		if b.frontier[v].until(need) >= until {
			return true
		}
	}
	return false
}

// earlier moves a reservation to an earlier start, before an instant, if there is room for
// it. It returns the end of what that makes free; 0 when it stays.
func (b *Book) earlier(j scheduler.JobView, now, before time.Duration) (freed time.Duration) {
	k := b.bookings[j.Number()]
	if k.state != reserved || k.at <= now {
		return 0
	}
	b.change(j, &k, k.at, k.end, false)
	length := j.Length(k.cores)
	nodes, step := b.first(j, k.cores, length, min(k.at, before))
	if step < 0 {
		b.change(j, &k, k.at, k.end, true)
		return 0
	}
	at := b.Steps[step].At
	b.put(j, booking{at: at, end: Until(at, length), cores: k.cores, state: reserved, nodes: nodes})
	return k.end
}

// mostFree returns the most cores that are free on a node at some instant of a stretch.
func (b *Book) mostFree(from, to time.Duration) (most int32) {
	for _, s := range b.Steps {
		b.looked++
		if s.At >= to {
			break
		}
		for _, r := range s.free {
			most = max(most, r.Cores)
		}
	}
	return most
}

// tidy joins steps between which nothing changes, when there are many.
func (b *Book) tidy() {
	if len(b.Steps) < 64 || len(b.Steps) < 4*(len(b.running)+len(b.starts)) {
		return
	}
	b.Steps = slices.CompactFunc(b.Steps, func(x, y Step) bool { return slices.Equal(x.free, y.free) })
}
