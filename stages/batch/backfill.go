package batch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// window is a stretch of time in which some nodes are not reserved.
type window struct {
	from, to time.Duration
	free     bitmap
}

// backfill is a round: each job gets the earliest time at which there is room next to the running jobs, by their
// limits, and the reservations before it. Jobs that can start now do so. Reservations take whole nodes, as in Slurm's
// plugin sched/backfill. Limits of resources hold a job back only after its nodes are found, so it counts. A round ends
// when no job is left that could start now: its reservations are forgotten.
func (p *periodic) backfill() error {
	p.at = p.floor(p.Now(), time.Second)
	all := newBitmap(len(p.bounds))
	all.fill(len(p.bounds))
	p.windows = append(p.windows[:0], window{p.floor(p.at, p.Resolution), p.floor(p.at+p.Window, p.Resolution), all})
	p.ends.running = nil
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
		m := p.of(j)
		if m.eligible > p.Now() || m.reason != "" || p.count.jobs(m, j) != "" {
			continue
		}
		if p.PerPartition > 0 && partitions[m.partition] >= p.PerPartition || p.PerUser > 0 && users[j.User] >= p.PerUser {
			continue
		}
		users[j.User]++
		partitions[m.partition]++
		if p.count.resources(m, j) != "" {
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

// startable returns the waiting jobs, in order, for which enough is free.
func (p *periodic) startable(waiting scheduler.WaitingJobs) []int32 {
	idle := queue.Limit{Window: scheduler.Never}
	p.idle = p.idle[:0]
	for v, room := range p.Machine().Free() {
		if p.promised[v] = never; room.Cores > 0 {
			p.idle = append(p.idle, int32(v))
			idle.Free += room.Cores
		}
	}
	p.maybe = p.maybe[:0]
	for job := waiting.Peek(queue.Front, idle); job != queue.Nobody; job = waiting.Peek(waiting.KeyOf(job), idle) {
		if m := p.of(&p.run.Jobs[job]); m.eligible <= p.Now() && m.reason == "" && p.startsOn(job) {
			p.maybe = append(p.maybe, job)
		}
	}
	return p.maybe
}

// startsOn reports whether there may be room for a job now on nodes that are not promised to others up to its limit.
func (p *periodic) startsOn(job int32) bool {
	d, free := p.demand(job), p.Machine().Free()
	end, units := p.at+d.limit, int32(0)
	for _, v := range p.idle {
		if p.promised[v] > end && d.partition.nodes.has(int(v)) {
			if units += p.units(int(v), free, &d); int(units) >= d.count {
				return true
			}
		}
	}
	return false
}

// plan starts a job now, or reserves its earliest start. It reports whether there ever are enough nodes for the job.
func (p *periodic) plan(job int32, m *member) (started, tried bool, err error) {
	now, end := p.at, p.windows[len(p.windows)-1].to
	from := now
	var (
		first     time.Duration
		shares    []share
		ok, gives bool
	)
	p.slide.begin(len(p.mask))
	p.looked = p.looked[:0] // the nodes of the last search, on which alone its answer depends
	for {
		p.mask.copy(m.partition.nodes)
		opens := p.closed(m, from, from+m.limit, p.mask)
		later := p.slide.move(p.windows, from, from+m.limit, p.mask)
		if opens > from && opens < end && (later == 0 || opens < later) {
			later = opens
		}
		tried = tried || p.mask.count() >= m.sub.MinNodes
		if !slices.Equal(p.looked, p.mask) || ok && shares == nil && (later == 0 || first <= later) {
			first, shares, ok, gives = p.earliest(job, p.mask, later)
			p.looked = append(p.looked[:0], p.mask...)
		}
		at := max(first, from)
		if ok && at <= now {
			switch on := p.nodesIn(shares); {
			case on.overlaps(p.cleaning): // they take jobs in a moment
				at, later = now+time.Second, 0
			case !gives: // its nodes are chosen again among those that take jobs
				p.mask.minus(p.cleaning)
				shares, _ = p.fit(job, p.Machine().Free(), p.mask)
				return true, true, p.begin(job, shares, "delays no reservation")
			default:
				p.mask.minus(p.cleaning)
				p.reserve(on, now, now+m.limit)
				return false, true, p.preempt(job, p.mask)
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
		if !p.reserved(on, p.floor(at, p.Resolution), p.floor(at+m.limit, p.Resolution)) {
			p.reserve(on, at, at+m.limit)
			return false, tried, nil
		}
		if at <= from { // the next instant at which a reservation ends
			if at = p.nextEnd(from); at == 0 {
				return false, tried, nil
			}
		}
		from = at
	}
}

// nodesIn are the nodes of some shares.
func (p *periodic) nodesIn(shares []share) bitmap {
	on := newBitmap(len(p.bounds))
	for _, s := range shares {
		on.set(int(s.node))
	}
	return on
}

// slide has the nodes that are free in all of a run of consecutive windows, while the run moves forward: for each
// first window, the nodes of the windows up to mid, and the nodes of the windows behind mid.
type slide struct {
	first, mid, next int
	upTo             []bitmap // by window, from it to mid
	behind           bitmap
}

func (s *slide) begin(words int) {
	s.first, s.mid, s.next = 0, 0, 0
	if len(s.behind) != words {
		s.behind, s.upTo = make(bitmap, words), nil
	}
	s.behind.reset()
}

// move takes the windows that overlap a stretch, which begins no earlier than the one before, and leaves of a set of
// nodes those that are free in all of them. It returns when others of the set are free first; 0 for never.
func (s *slide) move(windows []window, from, end time.Duration, on bitmap) (later time.Duration) {
	for ; s.next < len(windows) && windows[s.next].from <= end; s.next++ {
		s.behind.and(windows[s.next].free)
	}
	for s.first < s.next && windows[s.first].to <= from {
		s.first++
	}
	if s.first >= s.mid { // those behind become the first
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

// more returns the end of the first window that some nodes of a set follow which are not free in it.
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

// nextEnd returns the end of the window in which an instant is; 0 for the last.
func (p *periodic) nextEnd(at time.Duration) time.Duration {
	for i, w := range p.windows {
		if w.to > at && i < len(p.windows)-1 {
			return w.to
		}
	}
	return 0
}

// reserved reports whether one of the nodes is reserved at some time of a stretch.
func (p *periodic) reserved(on bitmap, from, to time.Duration) bool {
	for _, w := range p.windows {
		if w.to > from && w.from < to && !on.within(w.free) {
			return true
		}
	}
	return false
}

// reserve takes nodes out of the windows of a stretch, rounded to the resolution. Of these windows and their neighbors,
// the first two with the same nodes become one, as in Slurm's plugin: when a job is tried again depends on it.
func (p *periodic) reserve(on bitmap, from, to time.Duration) {
	from = p.floor(from, p.Resolution)
	to = max(p.floor(to, p.Resolution), from+p.Resolution)
	p.cut(from)
	p.cut(to)
	on.each(func(v int) { p.promised[v] = min(p.promised[v], from) })
	first := slices.IndexFunc(p.windows, func(w window) bool { return w.from >= from })
	last := first
	for ; last < len(p.windows) && p.windows[last].to <= to; last++ {
		p.windows[last].free.minus(on)
	}
	for i := max(first-2, 0); i < last && i+1 < len(p.windows); i++ {
		if slices.Equal(p.windows[i].free, p.windows[i+1].free) {
			p.windows[i].to = p.windows[i+1].to
			p.windows = slices.Delete(p.windows, i+1, i+2)
			return
		}
	}
}

// cut divides the window in which an instant is.
func (p *periodic) cut(at time.Duration) {
	for i, w := range p.windows {
		if w.from < at && at < w.to {
			p.windows[i].to = at
			p.windows = slices.Insert(p.windows, i+1, window{at, w.to, slices.Clone(w.free)})
			return
		}
	}
}

// earliest finds the time at which there is room for a job on some nodes as running jobs end, in groups whose ends are
// close together. It reports whether there is room now if others give way. Beyond an instant that is not 0, the time
// may be less than the true one, without nodes.
func (p *periodic) earliest(job int32, on bitmap, until time.Duration) (at time.Duration, shares []share, ok, gives bool) {
	now := p.at
	free, need := p.Machine().Free(), p.View.Job(job).Request()
	ends := &p.ends
	if ends.running == nil {
		ends.build(free, p.most, p.running, p.held)
	}
	if until > 0 && p.PreemptionBy == "none" && ends.cores(on, ends.upTo(until)) < need {
		return until + 1, nil, true, false
	}
	if p.most.sum(on) < need {
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
			ends = &p.others
			ends.build(rooms, p.most, slices.DeleteFunc(slices.Clone(p.running), func(r runner) bool {
				return slices.Contains(list, r.job)
			}), p.held)
		}
	}
	i := ends.next(on, 0)
	if i < 0 {
		return 0, nil, false, false
	}
	group, barrier, given := p.Grouping, p.floor(ends.running[i].end, p.Grouping)+p.Grouping, -1
	for i >= 0 { // the last of a group is followed by no job whose end is close
		last := ends.next(on, max(i, ends.upTo(barrier+group)-1))
		if last < 0 {
			last = ends.last(on)
		}
		at = max(ends.running[last].end, now+time.Second)
		if until > 0 && at > until {
			return at, nil, true, false
		}
		if ends.cores(on, last+1) >= need { // most groups are passed over by that
			if d := p.demand(job); d.core {
				ends.coresAt(on, last+1, p.rooms)
			} else {
				if given < 0 {
					p.rooms, given = append(p.rooms[:0], ends.free...), 0
				}
				for ; given <= last; given++ {
					p.View.Job(ends.running[given].job).GiveBack(p.rooms, false)
				}
			}
			if shares, ok = p.fit(job, p.rooms, on); ok {
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
