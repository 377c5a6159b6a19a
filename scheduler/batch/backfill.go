package batch

import (
	"math/bits"
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
// plugin sched/backfill. Limits of resources hold a job back only after its nodes are found, so it counts.
func (p *periodic) backfill() error {
	p.at = p.floor(p.Now(), time.Second)
	all := newBitmap(len(p.bounds))
	all.fill(len(p.bounds))
	p.windows = append(p.windows[:0], window{p.floor(p.at, p.Resolution), p.floor(p.at+p.Window, p.Resolution), all})
	waiting := p.queue()
	users, partitions := map[string]int{}, map[*Partition]int{}
	starts := 0
	after := queue.Front
	for n := 0; n < p.Jobs; {
		job := waiting.Next(after, queue.Anyone)
		if job == queue.Nobody {
			return nil
		}
		after = waiting.KeyOf(job)
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
	behind, free     bitmap
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

// more returns the end of the first window that some nodes of a set follow which are not free up to there.
func (s *slide) more(windows []window, end time.Duration, on bitmap) time.Duration {
	s.free = append(s.free[:0], on...)
	for i := s.first; i+1 < len(windows); i++ {
		s.free.and(windows[i].free)
		for k, word := range windows[i+1].free {
			if word&on[k]&^s.free[k] != 0 {
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
// close together. It reports whether there is room now if others give way. If the time is later than an instant that
// is not 0, it may omit the nodes.
func (p *periodic) earliest(job int32, on bitmap, until time.Duration) (at time.Duration, shares []share, ok, gives bool) {
	now := p.at
	free, need := p.Machine().Free(), p.View.Job(job).Request()
	most := int32(0)
	idle := func(rooms []scheduler.Room) (cores int32) {
		for i, word := range on {
			for ; word != 0; word &= word - 1 {
				cores += rooms[i*64+bits.TrailingZeros64(word)].Cores
			}
		}
		return cores
	}
	for i, word := range on {
		for ; word != 0; word &= word - 1 {
			most += p.bounds[i*64+bits.TrailingZeros64(word)]
		}
	}
	if most < need {
		return 0, nil, false, false
	}
	cores := idle(free)
	if cores >= need {
		if shares, ok = p.fit(job, free, on); ok {
			return now, shares, true, false
		}
	}
	p.rooms = append(p.rooms[:0], free...)
	running := p.running
	if p.PreemptionBy != "none" {
		list := p.victims(job)
		for _, k := range list {
			p.View.Job(k).GiveBack(p.rooms, false)
		}
		if len(list) > 0 {
			if shares, ok = p.fit(job, p.rooms, on); ok {
				return now, shares, true, true
			}
			cores = idle(p.rooms)
			running = slices.DeleteFunc(slices.Clone(running), func(r runner) bool { return slices.Contains(list, r.job) })
		}
	}
	group, barrier, last, more := p.Grouping, time.Duration(-1), time.Duration(0), false
	given, anywhere := 0, until > 0 && p.anywhere(job)
	test := func(upTo int) bool {
		if cores < need { // most groups are passed over by that
			return false
		}
		if anywhere && max(last, now+time.Second) > until {
			shares = nil
			return true
		}
		for ; given < upTo; given++ {
			p.giveBack(running[given].job)
		}
		shares, ok = p.fit(job, p.rooms, on)
		return ok
	}
	for i, r := range running {
		h := &p.held[r.job]
		if !h.on.overlaps(on) {
			continue
		}
		if h.on.within(on) {
			cores += int32(h.use.cores)
		} else {
			for _, s := range h.shares {
				if on.has(int(s.node)) {
					cores += s.units
				}
			}
		}
		if barrier < 0 {
			barrier = p.floor(r.end, p.Grouping) + p.Grouping
		}
		last, more = r.end, true
		next := time.Duration(never)
		if i+1 < len(running) {
			next = running[i+1].end
		}
		if next <= barrier+group {
			continue
		}
		if test(i + 1) {
			return max(last, now+time.Second), shares, true, false
		}
		more = false
		for group *= 2; next < never && next > barrier+group; group *= 2 {
		}
	}
	if more && test(len(running)) { // the last of them were followed by others on other nodes
		return max(last, now+time.Second), shares, true, false
	}
	return 0, nil, false, false
}

// anywhere reports whether a job can start wherever enough cores are free.
func (p *periodic) anywhere(job int32) bool {
	j, m := &p.run.Jobs[job], p.of(&p.run.Jobs[job])
	return j.Divided && j.Memory == 0 && j.GPUs == 0 && m.sub.MinNodes <= 1 && m.maxNodes == 0 && !m.sub.Exclusive &&
		len(m.sub.Features) == 0
}

// giveBack adds the resources of a running job to the rooms under examination.
func (p *periodic) giveBack(job int32) {
	h := &p.held[job]
	if h.use.gpus > 0 || p.run.Jobs[job].Memory > 0 {
		p.View.Job(job).GiveBack(p.rooms, false)
		return
	}
	for _, s := range h.shares {
		p.rooms[s.node].Cores += s.units
	}
}
