package planned

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Reservations has the reservations of waiting jobs. A reserved start can only become earlier, unless running jobs take
// longer than predicted. When a job ends early, reservations move to earlier starts, in the policy's order and next to
// all other reservations, until none can move ("compression": D. G. Feitelson, A. M. Weil, IPPS 1998).
//
// It can be used only if jobs get their requests, no job is paused, and the cluster does not change.
type Reservations struct {
	view     scheduler.View
	nodes    []nodeProfile
	bookings []*booking // by job; nil if the job has none
	running  []*booking
	fresh    []int32 // waiting jobs without a reservation
	compression
	rooms   []cluster.Room // reused memory, by node
	cursors []*step        // reused memory, by node: a step at or before an instant
	due     []*booking     // reused memory
}

// booking is the nodes and the time span of a running or waiting job.
type booking struct {
	job, cores      int32
	at, end, length time.Duration
	need            amounts      // on each of its nodes
	kind            cluster.Room // the GPUs that it needs, without amounts
	runs, wide      bool         // whether the job runs, and whether it may have several nodes
	asked           bool         // whether it is among the reservations that may move
	holes           []hole       // into which it may move
	key             queue.Key
	seen            int // the dispatch in which waits and key were set
	waits           bool
	spans           []span
	shape           *reservationGroup // of a reservation with one node
	place           int               // index in its group
	before, after   *booking          // neighbors in the list of reservations that begin at the same step
}

// span is the time span of a booking on a node. If to is nil, it has no end.
type span struct {
	node     int32
	from, to *step // pinned by the span
}

// NewReservations returns an empty plan of reservations for the given number of jobs.
func NewReservations(jobs int) *Reservations {
	return &Reservations{
		bookings:    make([]*booking, jobs),
		compression: compression{shapes: map[groupKey]*reservationGroup{}, freed: scheduler.Never},
	}
}

// AddWaiting records that a job has begun to wait.
func (rs *Reservations) AddWaiting(job int32) { rs.fresh = append(rs.fresh, job) }

// StartOf returns the planned start of a waiting job; Never if it has no reservation.
func (rs *Reservations) StartOf(job int32) time.Duration {
	if k := rs.bookings[job]; k != nil && !k.runs {
		return k.at
	}
	return scheduler.Never
}

// Dispatch updates the reservations to the current time, and starts the jobs whose start is due.
func (rs *Reservations) Dispatch(v scheduler.View, start func(job, cores int32, nodes []int32) error) error {
	rs.view = v
	rs.dispatches++
	rs.advance()
	rs.compress() // move reservations before new ones are made
	rs.reserveWaiting()
	for idle := false; ; {
		rs.compress()
		some, err := rs.startDue(start)
		if err != nil || !some && (v.Running().Len() > 0 || idle) {
			return err
		}
		if !some {
			// If running jobs take longer than predicted, no event may precede a reservation. So jobs that can start
			// now must start.
			rs.all, rs.freed, idle = true, v.Now(), true
		}
	}
}

// advance removes the past and applies the changes of running jobs.
func (rs *Reservations) advance() {
	v := rs.view
	now, free := v.Now(), v.Machine().Free()
	if len(rs.nodes) == 0 {
		rs.rooms, rs.cursors = slices.Clone(free), make([]*step, len(free))
		for _, r := range free {
			rs.nodes = append(rs.nodes, newNodeProfile(now, r))
		}
	}
	for i := range rs.nodes {
		rs.nodes[i].advance(now)
	}
	changed := false
	rs.running = slices.DeleteFunc(rs.running, func(k *booking) bool {
		j := v.Job(k.job)
		if j.State() == scheduler.Running {
			changed = changed || int(k.cores) != j.Held().Cores.Count()
			return false
		}
		need, _ := j.Needs(k.cores)
		k.need = amountsOf(need)
		rs.drop(k)
		return true
	})
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		k := rs.bookings[job]
		changed = changed || k == nil || !k.runs || k.end != end
	}
	if changed {
		rs.renew()
	}
	copy(rs.rooms, free) // without the room of reservations that begin now
	for i := range rs.nodes {
		for k := rs.nodes[i].head.first; k != nil; k = k.after {
			v.Job(k.job).TakeFrom(rs.rooms, k.cores, k.nodes())
		}
	}
	for i := range rs.nodes {
		p, more := &rs.nodes[i], amountsOf(rs.rooms[i])
		if more.add(p.head.free.negative()); more != (amounts{}) {
			// Jobs that run longer than predicted are assumed to end at the next moment.
			next := p.step(now+1, p.head)
			next.pins++
			add(p.head, next, more)
			rs.free(int32(i), p.head, next, more) // one of these jobs may have ended
		}
	}
}

// renew builds the plan again after predictions or holdings of running jobs have changed. Reservations without room
// move to later starts.
func (rs *Reservations) renew() {
	v, now, waiting := rs.view, rs.view.Now(), []*booking{}
	for job, k := range rs.bookings {
		if k != nil && !k.runs {
			rs.unreserve(k)
			waiting = append(waiting, k)
		}
		rs.bookings[job] = nil
	}
	slices.SortStableFunc(waiting, func(x, y *booking) int { return cmp.Compare(x.at, y.at) })
	for i := range rs.nodes {
		shapes := rs.nodes[i].shapes
		rs.nodes[i] = newNodeProfile(now, v.Machine().Free()[i])
		rs.nodes[i].shapes = shapes
		rs.cursors[i] = rs.nodes[i].head
	}
	for _, s := range NewPlan(v).Steps[1:] {
		for i, r := range s.free {
			rs.cursors[i] = rs.nodes[i].step(s.At, rs.cursors[i])
			rs.cursors[i].free = amountsOf(r)
			rs.cursors[i].pins++
		}
	}
	rs.running = rs.running[:0]
	for i := range v.Running().Len() {
		end, job := v.Running().End(i)
		j := v.Job(job)
		k := &booking{job: job, cores: int32(j.Held().Cores.Count()), at: now, end: end, runs: true}
		for _, on := range j.Home() {
			p := &rs.nodes[on]
			k.span(on, p.head, p.step(max(end, now), p.head))
		}
		rs.bookings[job] = k
		rs.running = append(rs.running, k)
	}
	for i := range rs.nodes {
		rs.cursors[i] = rs.nodes[i].head
	}
	rs.all, rs.freed, rs.over = true, now, 0 // some predictions may have become shorter
	for _, k := range waiting {
		if nodes := k.nodes(); k.at >= now && rs.roomFor(k, nodes) {
			rs.reserveAt(k, k.at, nodes)
		} else {
			rs.reserve(k.job)
		}
	}
}

// roomFor reports whether a booking has room on some nodes. It moves the nodes' cursors to its start.
func (rs *Reservations) roomFor(k *booking, nodes []int32) bool {
	for _, on := range nodes {
		rs.cursors[on] = rs.cursors[on].seek(k.at)
		rs.rooms[on] = rs.nodes[on].lowest(rs.cursors[on], k.end)
	}
	return rs.view.Job(k.job).HeldBy(rs.rooms, k.cores, nodes)
}

// reserveWaiting makes reservations for jobs that have begun to wait, in the policy's order.
func (rs *Reservations) reserveWaiting() {
	if len(rs.fresh) == 0 {
		return
	}
	fresh := slices.DeleteFunc(rs.fresh, func(job int32) bool { return !waits(rs.view.Job(job)) })
	waiting := rs.view.Waiting()
	slices.SortFunc(fresh, func(x, y int32) int { return waiting.KeyOf(x).Compare(waiting.KeyOf(y)) })
	rs.fresh = nil
	for _, job := range fresh {
		rs.reserve(job)
	}
}

func waits(j scheduler.JobView) bool {
	return j.State() == scheduler.Queued || j.State() == scheduler.Paused
}

// reserve gives a job the earliest room next to all bookings. If no known end of a job makes room, it tries again after
// a change.
func (rs *Reservations) reserve(job int32) {
	j := rs.view.Job(job)
	k := &booking{job: job, cores: j.Request(), length: j.Length(j.Request()), end: scheduler.Never}
	need, count := j.Needs(k.cores)
	k.need, k.kind = amountsOf(need), cluster.Room{Kind: need.Kind, Market: need.Market}
	k.wide = count > 1 || need.Parts != nil || j.Job().Divided
	if nodes, at := rs.first(k, scheduler.Never); at == scheduler.Never {
		rs.fresh = append(rs.fresh, job)
	} else {
		rs.reserveAt(k, at, nodes)
	}
}

// reserveAt adds a reservation at a time on some nodes. The nodes' cursors must be near that time.
func (rs *Reservations) reserveAt(k *booking, at time.Duration, nodes []int32) {
	k.at, k.end, k.spans = at, EndOf(at, k.length), nil
	for _, on := range nodes {
		p := &rs.nodes[on]
		from := p.step(at, rs.cursors[on])
		k.span(on, from, p.step(k.end, from))
	}
	rs.change(k, k.need.negative())
	k.link()
	rs.bookings[k.job] = k
	rs.count(k)
}

// first returns the earliest time before a limit at which a job has room, and the nodes; Never if no time has room. It
// leaves the cursors of the nodes near that time.
func (rs *Reservations) first(k *booking, before time.Duration) (nodes []int32, at time.Duration) {
	if !k.wide {
		on, s := rs.firstOnOne(k, before)
		if s == nil {
			return nil, scheduler.Never
		}
		rs.cursors[on] = s
		return []int32{on}, s.at
	}
	for i := range rs.nodes {
		rs.cursors[i] = rs.nodes[i].head
	}
	for at := rs.view.Now(); at < before; {
		end, next := EndOf(at, k.length), scheduler.Never
		for i := range rs.nodes {
			s := rs.cursors[i].seek(at)
			if rs.cursors[i], rs.rooms[i] = s, rs.nodes[i].lowest(s, end); s.next != nil {
				next = min(next, s.next.at)
			}
		}
		if nodes, ok := rs.view.Job(k.job).FitsIn(rs.rooms, k.cores, nil); ok {
			return nodes, at
		}
		at = next
	}
	return nil, scheduler.Never
}

// firstOnOne works as first, for a job on one node.
func (rs *Reservations) firstOnOne(k *booking, before time.Duration) (on int32, at *step) {
	for i := range rs.nodes {
		if s := rs.nodes[i].first(k, int32(i), rs.nodes[i].head, before); s != nil {
			on, at, before = int32(i), s, s.at
		}
	}
	return on, at
}

// startDue starts the jobs whose start is due, and reports whether any started. A job without room, because others run
// longer than predicted, gets a new reservation.
func (rs *Reservations) startDue(start func(job, cores int32, nodes []int32) error) (some bool, err error) {
	v := rs.view
	rs.due = rs.due[:0]
	for i := range rs.nodes {
		for k := rs.nodes[i].head.first; k != nil; k = k.after {
			rs.due = append(rs.due, k)
		}
	}
	slices.SortFunc(rs.due, func(x, y *booking) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.job, y.job)) })
	var late []*booking
	for _, k := range rs.due {
		j, nodes := v.Job(k.job), k.nodes()
		switch {
		case !waits(j) || j.Request() != k.cores:
			rs.drop(k)
			if waits(j) {
				rs.fresh = append(rs.fresh, k.job)
			}
		case !j.HeldBy(v.Machine().Free(), k.cores, nodes):
			rs.unreserve(k)
			rs.change(k, k.need)
			late = append(late, k)
			continue
		default:
			rs.begin(k, EndOf(v.Now(), j.Length(k.cores)))
			if err := start(k.job, k.cores, nodes); err != nil {
				return true, err
			}
		}
		some = true
	}
	for _, k := range late {
		rs.bookings[k.job] = nil
		rs.reserve(k.job)
		rs.vacate(k.spans, k.need)
	}
	rs.reserveWaiting()
	return some || rs.freed != scheduler.Never, nil
}

// begin turns a reservation into the booking of a running job, which ends at end.
func (rs *Reservations) begin(k *booking, end time.Duration) {
	if rs.unreserve(k); end != k.end { // the job begins later than planned
		was := k.spans
		rs.change(k, k.need)
		k.at, k.end, k.spans = rs.view.Now(), end, nil
		for _, s := range was {
			p := &rs.nodes[s.node]
			k.span(s.node, p.head, p.step(end, p.head))
		}
		rs.change(k, k.need.negative())
		for _, s := range k.spans {
			if low := amountsOf(rs.nodes[s.node].lowest(s.from, end)); !(amounts{}).in(&low) {
				rs.over = max(rs.over, end)
			}
		}
		rs.vacate(was, k.need)
	}
	k.runs = true
	rs.running = append(rs.running, k)
}

// change adds to the free resources of a booking's nodes for its time span.
func (rs *Reservations) change(k *booking, by amounts) {
	for _, s := range k.spans {
		p := &rs.nodes[s.node]
		add(p.live(s.from), p.live(s.to), by)
	}
}

// drop removes a booking and frees its room from now on.
func (rs *Reservations) drop(k *booking) {
	rs.unreserve(k)
	rs.change(k, k.need)
	rs.vacate(k.spans, k.need)
	rs.bookings[k.job] = nil
}

// vacate lets other reservations move into spans that a booking has left.
func (rs *Reservations) vacate(spans []span, need amounts) {
	for _, s := range spans {
		p := &rs.nodes[s.node]
		rs.free(s.node, p.live(s.from), p.live(s.to), need)
	}
	for _, s := range spans {
		rs.nodes[s.node].unpin(s.from)
		rs.nodes[s.node].unpin(s.to)
	}
}
