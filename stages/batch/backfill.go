package batch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// window is a period of time with a fixed set of unreserved nodes.
type window struct {
	from, to time.Duration
	free     bitmap
}

// backfillRound is the state of a round of backfill.
type backfillRound struct {
	// start is the time of the round, rounded down to whole seconds of the clock.
	start        time.Duration
	windows      []window // consecutive; they end where the round stops planning
	slide        slide
	reservedFrom []time.Duration // by node: the start of its earliest reservation; never if none
	idle         []int32         // nodes with free cores
	idleCores    int32           // at the start of the round
	startable    []int32         // jobs that may start on idle nodes
	searched     bitmap          // the nodes of a job's last search for a start

	ends               timeline // of all running jobs
	endsWithoutVictims timeline // of the running jobs that do not give way to the job
}

// backfill runs one round of backfill. Each job gets the earliest time at which it fits beside the running jobs, which
// are expected to end at their time limits, and beside earlier reservations. Jobs that can start now do so.
// Reservations take whole nodes, as in Slurm's plugin sched/backfill. A job that a limit of resources holds back still
// counts as tried, because the limit is checked after its nodes are found. The round ends when no remaining job could
// start now. Its reservations are then dropped.
func (p *periodic) backfill() error {
	p.round.start = p.floor(p.Now(), time.Second)
	all := newBitmap(len(p.cores.perNode))
	all.fill(len(p.cores.perNode))
	from, to := p.floor(p.round.start, p.Resolution), p.floor(p.round.start+p.Window, p.Resolution)
	p.round.windows = append(p.round.windows[:0], window{from, to, all})
	p.round.ends.running = nil
	waiting := p.queue()
	maybe := p.startable(waiting)
	users, partitions := map[string]int{}, map[*Partition]int{}
	starts := 0
	after := queue.Front
	for n := 0; n < p.Jobs; {
		job := waiting.Next(after, queue.Anyone)
		if job == queue.Nobody {
			return nil
		}
		after = waiting.KeyOf(job)
		itself := len(maybe) > 0 && maybe[0] == job
		if itself {
			maybe = maybe[1:]
		}
		for !itself && p.PreemptionBy == "none" && (len(maybe) == 0 || !p.startsOn(maybe[len(maybe)-1])) {
			if len(maybe) == 0 {
				return nil
			}
			maybe = maybe[:len(maybe)-1]
		}
		j := &p.run.Jobs[job]
		m := p.recordOf(j)
		if m.eligible > p.Now() || m.reason != "" || p.limits.jobs(m, j) != "" {
			continue
		}
		if p.PerPartition > 0 && partitions[m.partition] >= p.PerPartition || p.PerUser > 0 && users[j.User] >= p.PerUser {
			continue
		}
		users[j.User]++
		partitions[m.partition]++
		if p.limits.resources(m, j) != "" {
			n++
			continue
		}
		started, tried, err := p.plan(job, m)
		if err != nil {
			return err
		}
		if tried {
			n++
		}
		if started {
			if starts++; p.Starts > 0 && starts >= p.Starts {
				return nil
			}
		}
	}
	return nil
}

// startable returns the waiting jobs for which enough resources are free now, in the order of the queue.
func (p *periodic) startable(waiting scheduler.WaitingJobs) []int32 {
	p.round.idle, p.round.idleCores = p.round.idle[:0], 0
	for v, room := range p.Machine().Free() {
		if p.round.reservedFrom[v] = never; room.Cores > 0 {
			p.round.idle = append(p.round.idle, int32(v))
			p.round.idleCores += room.Cores
		}
	}
	p.round.startable = p.round.startable[:0]
	p.buffers.queue = waiting.First(p.buffers.queue[:0])
	for _, job := range p.buffers.queue {
		if m := p.member(job); m.eligible <= p.Now() && m.reason == "" && p.startsOn(job) {
			p.round.startable = append(p.round.startable, job)
		}
	}
	return p.round.startable
}

// startsOn reports whether a job may fit now on idle nodes that nobody has reserved until after the job's time limit.
func (p *periodic) startsOn(job int32) bool {
	if p.View.Job(job).Request() > p.round.idleCores { // this quick check excludes most jobs
		return false
	}
	d, free := p.demand(job), p.Machine().Free()
	end, units := p.round.start+d.limit, int32(0)
	for _, v := range p.round.idle {
		if p.round.reservedFrom[v] > end && d.partition.nodes.has(int(v)) {
			if units += p.units(int(v), free, &d); int(units) >= d.count {
				return true
			}
		}
	}
	return false
}

// plan starts a job now, or reserves nodes for its earliest start. tried is false if the job was never allowed on
// enough nodes.
func (p *periodic) plan(job int32, m *jobRecord) (started, tried bool, err error) {
	now, end := p.round.start, p.round.windows[len(p.round.windows)-1].to
	from := now
	var (
		first     time.Duration
		shares    []share
		ok, gives bool
	)
	p.round.slide.begin(len(p.buffers.allowed))
	p.round.searched = p.round.searched[:0] // no nodes searched yet; equal nodes give an equal result
	for {
		p.buffers.allowed.copy(m.partition.nodes)
		opens := p.removeReserved(m, from, from+m.limit, p.buffers.allowed)
		later := p.round.slide.move(p.round.windows, from, from+m.limit, p.buffers.allowed)
		if opens > from && opens < end && (later == 0 || opens < later) {
			later = opens
		}
		tried = tried || p.buffers.allowed.count() >= m.sub.MinNodes
		if !slices.Equal(p.round.searched, p.buffers.allowed) || ok && shares == nil && (later == 0 || first <= later) {
			first, shares, ok, gives = p.earliest(job, p.buffers.allowed, later)
			p.round.searched = append(p.round.searched[:0], p.buffers.allowed...)
		}
		at := max(first, from)
		if ok && at <= now {
			switch on := p.nodesIn(shares); {
			case on.overlaps(p.cleaning.nodes): // nodes still clean up after ended jobs
				at, later = now+time.Second, 0
			case !gives: // the job starts now, on nodes that are not in cleanup
				p.buffers.allowed.minus(p.cleaning.nodes)
				shares, _ = p.fit(job, p.Machine().Free(), p.buffers.allowed)
				if m.exclusive() { // Slurm then also reserves its nodes, until the round ends
					p.reserve(p.nodesIn(shares), now, now+m.limit)
				}
				return true, true, p.begin(job, shares, "delays no reservation")
			default:
				p.buffers.allowed.minus(p.cleaning.nodes)
				p.reserve(on, now, now+m.limit)
				return false, true, p.preempt(job, p.buffers.allowed)
			}
		}
		if !ok || later > 0 && at > later {
			if later == 0 {
				return false, tried, nil
			}
			from = later
			continue
		}
		if at > end {
			return false, tried, nil
		}
		on := p.nodesIn(shares)
		if !p.round.reserved(on, p.floor(at, p.Resolution), p.floor(at+m.limit, p.Resolution)) {
			p.reserve(on, at, at+m.limit)
			return false, tried, nil
		}
		if at <= from { // continue at the next end of a reservation
			if at = p.round.nextEnd(from); at == 0 {
				return false, tried, nil
			}
		}
		from = at
	}
}

// nodesIn returns the set of nodes in shares.
func (p *periodic) nodesIn(shares []share) bitmap {
	on := newBitmap(len(p.cores.perNode))
	for _, s := range shares {
		on.set(int(s.node))
	}
	return on
}

// slide computes which nodes are free in every window of a range, while the range moves forward in time. The range is
// kept in two parts: upTo[i] has the nodes that are free in all windows from i to before mid, and behind has the nodes
// that are free in all windows from mid to before next.
type slide struct {
	first, mid, next int
	upTo             []bitmap // by window: nodes free from that window to mid
	behind           bitmap
}

func (s *slide) begin(words int) {
	s.first, s.mid, s.next = 0, 0, 0
	if len(s.behind) != words {
		s.behind, s.upTo = make(bitmap, words), nil
	}
	s.behind.reset()
}

// move moves the range to the windows that overlap the time from from to end, and removes from on the nodes that are
// reserved in one of them. Successive calls must not go back in time. later is the earliest time at which a removed
// node may become free; 0 if no node may.
func (s *slide) move(windows []window, from, end time.Duration, on bitmap) (later time.Duration) {
	for ; s.next < len(windows) && windows[s.next].from <= end; s.next++ {
		s.behind.and(windows[s.next].free)
	}
	for s.first < s.next && windows[s.first].to <= from {
		s.first++
	}
	if s.first >= s.mid { // all windows of the first part are passed: merge the second part into it
		for len(s.upTo) < s.next {
			s.upTo = append(s.upTo, make(bitmap, len(on)))
		}
		for i := s.next - 1; i >= s.first; i-- {
			s.upTo[i].copy(windows[i].free)
			if i+1 < s.next {
				s.upTo[i].and(s.upTo[i+1])
			}
		}
		s.mid = s.next
		s.behind.reset()
	}
	later = s.more(windows, end, on)
	on.and(s.behind)
	if s.first < s.mid {
		on.and(s.upTo[s.first])
	}
	return later
}

// more returns the end of the first window after which a node of on becomes free; 0 if no node does before end.
func (s *slide) more(windows []window, end time.Duration, on bitmap) time.Duration {
	for i := s.first; i+1 < len(windows); i++ {
		for k, word := range windows[i+1].free {
			if word&on[k]&^windows[i].free[k] != 0 {
				return windows[i].to
			}
		}
		if windows[i].from > end {
			break
		}
	}
	return 0
}

// nextEnd returns the end of the window that contains the time at; 0 for the last window.
func (b *backfillRound) nextEnd(at time.Duration) time.Duration {
	for i, w := range b.windows {
		if w.to > at && i < len(b.windows)-1 {
			return w.to
		}
	}
	return 0
}

// reserved reports whether a node of on is reserved at some time between from and to.
func (b *backfillRound) reserved(on bitmap, from, to time.Duration) bool {
	for _, w := range b.windows {
		if w.to > from && w.from < to && !on.within(w.free) {
			return true
		}
	}
	return false
}

// reserve marks nodes as reserved between two times, which it rounds down to the resolution. It then merges the first
// two neighboring windows that have the same nodes, and no others. Slurm's plugin does the same, and the windows decide
// when a job is tried again.
func (p *periodic) reserve(on bitmap, from, to time.Duration) {
	from = p.floor(from, p.Resolution)
	to = max(p.floor(to, p.Resolution), from+p.Resolution)
	p.round.cut(from)
	p.round.cut(to)
	first := slices.IndexFunc(p.round.windows, func(w window) bool { return w.from >= from })
	if first < 0 { // the reservation begins where the round stops planning
		return
	}
	on.each(func(v int) { p.round.reservedFrom[v] = min(p.round.reservedFrom[v], from) })
	last := first
	for ; last < len(p.round.windows) && p.round.windows[last].to <= to; last++ {
		p.round.windows[last].free.minus(on)
	}
	for i := max(first-2, 0); i < last && i+1 < len(p.round.windows); i++ {
		if slices.Equal(p.round.windows[i].free, p.round.windows[i+1].free) {
			p.round.windows[i].to = p.round.windows[i+1].to
			p.round.windows = slices.Delete(p.round.windows, i+1, i+2)
			return
		}
	}
}

// cut splits the window that contains the time at into two windows.
func (b *backfillRound) cut(at time.Duration) {
	for i, w := range b.windows {
		if w.from < at && at < w.to {
			b.windows[i].to = at
			b.windows = slices.Insert(b.windows, i+1, window{at, w.to, slices.Clone(w.free)})
			return
		}
	}
}

// earliest finds the earliest time at which a job fits on some nodes as running jobs end. Ends that are close together
// count as one. gives reports that the job fits now if other jobs are preempted. If until is not 0 and the job does not
// fit before it, earliest returns some time after until, and no shares.
func (p *periodic) earliest(job int32, on bitmap, until time.Duration) (at time.Duration, shares []share, ok, gives bool) {
	now := p.round.start
	free, need := p.Machine().Free(), p.View.Job(job).Request()
	ends := &p.round.ends
	if ends.running == nil {
		ends.build(free, p.cores.counts, p.running.byEnd, p.running.allocations)
	}
	if until > 0 && p.PreemptionBy == "none" && ends.cores(on, ends.upTo(until)) < need {
		return until + 1, nil, true, false
	}
	if p.cores.counts.sum(on) < need {
		return 0, nil, false, false
	}
	if ends.cores(on, 0) >= need {
		if shares, ok = p.fit(job, free, on); ok {
			return now, shares, true, false
		}
	}
	if p.PreemptionBy != "none" {
		if list := p.victims(job); len(list) > 0 {
			rooms := slices.Clone(free)
			for _, k := range list {
				p.View.Job(k).GiveBack(rooms, false)
			}
			if shares, ok = p.fit(job, rooms, on); ok {
				return now, shares, true, true
			}
			ends = &p.round.endsWithoutVictims
			ends.build(rooms, p.cores.counts, slices.DeleteFunc(slices.Clone(p.running.byEnd), func(r runningJob) bool {
				return slices.Contains(list, r.job)
			}), p.running.allocations)
		}
	}
	i := ends.next(on, 0)
	if i < 0 {
		return 0, nil, false, false
	}
	group, barrier, given := p.Grouping, p.floor(ends.running[i].end, p.Grouping)+p.Grouping, -1
	for i >= 0 { // each step handles one group of jobs that end close together
		last := ends.next(on, max(i, ends.upTo(barrier+group)-1))
		if last < 0 {
			last = ends.last(on)
		}
		at = max(ends.running[last].end, now+time.Second)
		if until > 0 && at > until {
			return at, nil, true, false
		}
		if ends.cores(on, last+1) >= need { // this quick check excludes most groups
			if d := p.demand(job); d.core {
				ends.coresAt(on, last+1, p.buffers.rooms)
			} else {
				if given < 0 {
					p.buffers.rooms, given = append(p.buffers.rooms[:0], ends.free...), 0
				}
				for ; given <= last; given++ {
					p.View.Job(ends.running[given].job).GiveBack(p.buffers.rooms, false)
				}
			}
			if shares, ok = p.fit(job, p.buffers.rooms, on); ok {
				return at, shares, true, false
			}
		}
		if last+1 == len(ends.running) {
			break
		}
		next := ends.running[last+1].end
		for group *= 2; next < never && next > barrier+group; group *= 2 {
		}
		i = ends.next(on, last+1)
	}
	return 0, nil, false, false
}
