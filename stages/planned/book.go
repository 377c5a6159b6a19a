package planned

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
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
	view     scheduler.View
	nodes    []profile
	bookings []*booking // by job; nil without one
	running  []*booking
	fresh    []int32 // waiting jobs without a reservation
	compression
	rooms   []cluster.Room // scratch, by node
	cursors []*step        // scratch, by node: a step at or before an instant
	due     []*booking     // scratch
}

// booking is the nodes and the time span of a job that runs or will run.
type booking struct {
	job, cores      int32
	at, end, length time.Duration
	need            amounts      // on each of its nodes
	kind            cluster.Room // the GPUs that it needs, without amounts
	runs, wide      bool         // a wide booking may have several nodes
	asked           bool         // it may be able to move
	holes           []hole       // into which it may move
	key             queue.Key
	seen            int // the dispatch in which waits and key were found
	waits           bool
	spans           []span
	shape           *shape   // of a narrow reservation
	place           int      // in its shape
	before, after   *booking // reservations that begin at the same step
}

// span is the time span of a booking on a node. Without a last step it has no end.
type span struct {
	node     int32
	from, to *step // pinned
}

// NewBook returns an empty book for the given number of jobs.
func NewBook(jobs int) *Book {
	return &Book{
		bookings:    make([]*booking, jobs),
		compression: compression{shapes: map[shapeKey]*shape{}, freed: scheduler.Never},
	}
}

// Wait records that a job has begun to wait.
func (b *Book) Wait(job int32) { b.fresh = append(b.fresh, job) }

// At returns the planned start of a waiting job; Never without a reservation.
func (b *Book) At(job int32) time.Duration {
	if k := b.bookings[job]; k != nil && !k.runs {
		return k.at
	}
	return scheduler.Never
}

// Dispatch brings the book up to the present instant, and starts the jobs whose time has
// come.
func (b *Book) Dispatch(v scheduler.View, start func(job, cores int32, nodes []int32) error) error {
	b.view = v
	b.dispatches++
	b.advance()
	b.compress() // ended jobs come before new ones
	b.enter()
	for idle := false; ; {
		b.compress()
		some, err := b.startDue(start)
		if err != nil || !some && (v.Running().Len() > 0 || idle) {
			return err
		}
		if !some {
			// There may be no event before a reservation behind jobs that ran longer than
			// predicted, so jobs that can start now must.
			b.all, b.freed, idle = true, v.Now(), true
		}
	}
}

// advance drops the past, and finds the changes of running jobs.
func (b *Book) advance() {
	v := b.view
	now, free := v.Now(), v.Machine().Free()
	if len(b.nodes) == 0 {
		b.rooms, b.cursors = slices.Clone(free), make([]*step, len(free))
		for _, r := range free {
			b.nodes = append(b.nodes, newProfile(now, r))
		}
	}
	for i := range b.nodes {
		b.nodes[i].advance(now)
	}
	changed := false
	b.running = slices.DeleteFunc(b.running, func(k *booking) bool {
		j := v.Job(k.job)
		if j.State() == scheduler.Running {
			changed = changed || int(k.cores) != j.Held().Cores.Count()
			return false
		}
		need, _ := j.Needs(k.cores)
		k.need = amountsOf(need)
		b.drop(k)
		return true
	})
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		k := b.bookings[job]
		changed = changed || k == nil || !k.runs || k.end != end
	}
	if changed {
		b.renew()
	}
	copy(b.rooms, free) // less the room of reservations that begin now
	for i := range b.nodes {
		for k := b.nodes[i].head.first; k != nil; k = k.after {
			v.Job(k.job).TakeFrom(b.rooms, k.cores, k.nodes())
		}
	}
	for i := range b.nodes {
		p, more := &b.nodes[i], amountsOf(b.rooms[i])
		if more.add(p.head.free.negative()); more != (amounts{}) {
			// Some jobs run longer than predicted: they are taken to end at any moment.
			next := p.step(now+1, p.head)
			next.pins++
			add(p.head, next, more)
			b.free(int32(i), p.head, next, more) // one of them may have ended
		}
	}
}

// renew rebuilds the plan after the predictions or the holdings of running jobs have
// changed. Reservations that no longer have room are moved later.
func (b *Book) renew() {
	v, now, waiting := b.view, b.view.Now(), []*booking{}
	for job, k := range b.bookings {
		if k != nil && !k.runs {
			b.unreserve(k)
			waiting = append(waiting, k)
		}
		b.bookings[job] = nil
	}
	slices.SortStableFunc(waiting, func(x, y *booking) int { return cmp.Compare(x.at, y.at) })
	for i := range b.nodes {
		shapes := b.nodes[i].shapes
		b.nodes[i] = newProfile(now, v.Machine().Free()[i])
		b.nodes[i].shapes = shapes
		b.cursors[i] = b.nodes[i].head
	}
	for _, s := range Running(v).Steps[1:] {
		for i, r := range s.free {
			b.cursors[i] = b.nodes[i].step(s.At, b.cursors[i])
			b.cursors[i].free = amountsOf(r)
			b.cursors[i].pins++
		}
	}
	b.running = b.running[:0]
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		j := v.Job(job)
		k := &booking{job: job, cores: int32(j.Held().Cores.Count()), at: now, end: end, runs: true}
		for _, on := range j.Home() {
			p := &b.nodes[on]
			k.span(on, p.head, p.step(max(end, now), p.head))
		}
		b.bookings[job] = k
		b.running = append(b.running, k)
	}
	for i := range b.nodes {
		b.cursors[i] = b.nodes[i].head
	}
	b.all, b.freed, b.over = true, now, 0 // some may have become shorter
	for _, k := range waiting {
		if nodes := k.nodes(); k.at >= now && b.roomFor(k, nodes) {
			b.put(k, k.at, nodes)
		} else {
			b.reserve(k.job)
		}
	}
}

// roomFor reports whether there is room for a booking on some nodes, and moves their cursors to its start.
func (b *Book) roomFor(k *booking, nodes []int32) bool {
	for _, on := range nodes {
		b.cursors[on] = b.cursors[on].seek(k.at)
		b.rooms[on] = b.nodes[on].lowest(b.cursors[on], k.end)
	}
	return b.view.Job(k.job).HeldBy(b.rooms, k.cores, nodes)
}

// enter reserves for the jobs that have begun to wait, in the policy's order.
func (b *Book) enter() {
	if len(b.fresh) == 0 {
		return
	}
	fresh := slices.DeleteFunc(b.fresh, func(job int32) bool { return !waits(b.view.Job(job)) })
	waiting := b.view.Waiting()
	slices.SortFunc(fresh, func(x, y int32) int { return waiting.KeyOf(x).Compare(waiting.KeyOf(y)) })
	b.fresh = nil
	for _, job := range fresh {
		b.reserve(job)
	}
}

func waits(j scheduler.JobView) bool {
	return j.State() == scheduler.Queued || j.State() == scheduler.Paused
}

// reserve gives a job the earliest room next to all bookings. If no known end makes
// room for a job, it is tried again after a change.
func (b *Book) reserve(job int32) {
	j := b.view.Job(job)
	k := &booking{job: job, cores: j.Request(), length: j.Length(j.Request()), end: scheduler.Never}
	need, count := j.Needs(k.cores)
	k.need, k.kind = amountsOf(need), cluster.Room{Kind: need.Kind, Market: need.Market}
	k.wide = count > 1 || need.Parts != nil || j.Job().Divided
	if nodes, at := b.first(k, scheduler.Never); at == scheduler.Never {
		b.fresh = append(b.fresh, job)
	} else {
		b.put(k, at, nodes)
	}
}

// put books a reservation. The cursors of its nodes must be near its start.
func (b *Book) put(k *booking, at time.Duration, nodes []int32) {
	k.at, k.end, k.spans = at, Until(at, k.length), nil
	for _, on := range nodes {
		p := &b.nodes[on]
		from := p.step(at, b.cursors[on])
		k.span(on, from, p.step(k.end, from))
	}
	b.change(k, k.need.negative())
	k.link()
	b.bookings[k.job] = k
	b.count(k)
}

// first finds the earliest time, before a given one, from which there is room for a job, and the nodes; Never if
// there is no such time. The cursors of the nodes are near it then.
func (b *Book) first(k *booking, before time.Duration) (nodes []int32, at time.Duration) {
	if !k.wide {
		on, s := b.firstOnOne(k, before)
		if s == nil {
			return nil, scheduler.Never
		}
		b.cursors[on] = s
		return []int32{on}, s.at
	}
	for i := range b.nodes {
		b.cursors[i] = b.nodes[i].head
	}
	for at := b.view.Now(); at < before; {
		end, next := Until(at, k.length), scheduler.Never
		for i := range b.nodes {
			s := b.cursors[i].seek(at)
			if b.cursors[i], b.rooms[i] = s, b.nodes[i].lowest(s, end); s.next != nil {
				next = min(next, s.next.at)
			}
		}
		if nodes, ok := b.view.Job(k.job).FitsIn(b.rooms, k.cores, nil); ok {
			return nodes, at
		}
		at = next
	}
	return nil, scheduler.Never
}

// firstOnOne is first for a job that runs on one node, whatever is free.
func (b *Book) firstOnOne(k *booking, before time.Duration) (on int32, at *step) {
	for i := range b.nodes {
		if s := b.nodes[i].first(k, int32(i), b.nodes[i].head, before); s != nil {
			on, at, before = int32(i), s, s.at
		}
	}
	return on, at
}

// startDue starts the jobs whose time has come, and reports whether there were some. A
// job for which there is no room, since others run longer than predicted, gets another
// reservation.
func (b *Book) startDue(start func(job, cores int32, nodes []int32) error) (some bool, err error) {
	v := b.view
	b.due = b.due[:0]
	for i := range b.nodes {
		for k := b.nodes[i].head.first; k != nil; k = k.after {
			b.due = append(b.due, k)
		}
	}
	slices.SortFunc(b.due, func(x, y *booking) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.job, y.job)) })
	var late []*booking
	for _, k := range b.due {
		j, nodes := v.Job(k.job), k.nodes()
		switch {
		case !waits(j) || j.Request() != k.cores:
			b.drop(k)
			if waits(j) {
				b.fresh = append(b.fresh, k.job)
			}
		case !j.HeldBy(v.Machine().Free(), k.cores, nodes):
			b.unreserve(k)
			b.change(k, k.need)
			late = append(late, k)
			continue
		default:
			b.begin(k, Until(v.Now(), j.Length(k.cores)))
			if err := start(k.job, k.cores, nodes); err != nil {
				return true, err
			}
		}
		some = true
	}
	for _, k := range late {
		b.bookings[k.job] = nil
		b.reserve(k.job)
		b.vacate(k.spans, k.need)
	}
	b.enter()
	return some || b.freed != scheduler.Never, nil
}

// begin turns a reservation into the booking of a running job.
func (b *Book) begin(k *booking, end time.Duration) {
	if b.unreserve(k); end != k.end { // it begins later than planned
		was := k.spans
		b.change(k, k.need)
		k.at, k.end, k.spans = b.view.Now(), end, nil
		for _, s := range was {
			p := &b.nodes[s.node]
			k.span(s.node, p.head, p.step(end, p.head))
		}
		b.change(k, k.need.negative())
		for _, s := range k.spans {
			if low := amountsOf(b.nodes[s.node].lowest(s.from, end)); !(amounts{}).in(&low) {
				b.over = max(b.over, end)
			}
		}
		b.vacate(was, k.need)
	}
	k.runs = true
	b.running = append(b.running, k)
}

// change adds to the free resources of the nodes of a booking for its time span.
func (b *Book) change(k *booking, by amounts) {
	for _, s := range k.spans {
		p := &b.nodes[s.node]
		add(p.live(s.from), p.live(s.to), by)
	}
}

// drop takes a booking out, and frees its room from now on.
func (b *Book) drop(k *booking) {
	b.unreserve(k)
	b.change(k, k.need)
	b.vacate(k.spans, k.need)
	b.bookings[k.job] = nil
}

// vacate lets others move into spans that a booking has left.
func (b *Book) vacate(spans []span, need amounts) {
	for _, s := range spans {
		p := &b.nodes[s.node]
		b.free(s.node, p.live(s.from), p.live(s.to), need)
	}
	for _, s := range spans {
		b.nodes[s.node].unpin(s.from)
		b.nodes[s.node].unpin(s.to)
	}
}
