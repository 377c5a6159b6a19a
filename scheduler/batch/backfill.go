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
// plugin sched/backfill.
func (p *periodic) backfill() error {
	now := p.Now()
	all := newBitmap(len(p.bounds))
	all.fill(len(p.bounds))
	p.windows = append(p.windows[:0], window{now, now + p.Window, all})
	waiting := p.View.Waiting()
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
		if m.eligible > now || m.reason != "" || p.count.holds(m, j) != "" {
			continue
		}
		n++
		if p.PerPartition > 0 && partitions[m.partition] >= p.PerPartition || p.PerUser > 0 && users[j.User] >= p.PerUser {
			continue
		}
		users[j.User]++
		partitions[m.partition]++
		started, err := p.plan(job, m)
		if err != nil {
			return err
		}
		if started {
			if starts++; p.Starts > 0 && starts >= p.Starts {
				return nil
			}
		}
	}
	return nil
}

// plan starts a job now, or reserves its earliest start.
func (p *periodic) plan(job int32, m *member) (started bool, err error) {
	now := p.Now()
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
		later := time.Duration(0)
		if to := p.slide.move(p.windows, from, from+m.limit, p.mask); to < now+p.Window {
			later = to
		}
		if !slices.Equal(p.looked, p.mask) || ok && shares == nil && (later == 0 || first <= later) {
			first, shares, ok, gives = p.earliest(job, p.mask, later)
			p.looked = append(p.looked[:0], p.mask...)
		}
		at := first
		if gives {
			return false, p.preempt(job, p.mask)
		}
		if ok && at <= now && from <= now {
			return true, p.begin(job, shares, "delays no reservation")
		}
		at = max(at, from)
		if !ok || later > 0 && at > later {
			if later == 0 {
				return false, nil
			}
			from = later
			continue
		}
		if at > now+p.Window {
			return false, nil
		}
		on := newBitmap(len(p.bounds))
		for _, s := range shares {
			on.set(int(s.node))
		}
		if p.reserved(on, at, at+m.limit) {
			if later == 0 || at <= from { // the next instant at which a reservation ends
				if later = p.nextEnd(max(at, from)); later == 0 {
					return false, nil
				}
				from = later
				continue
			}
			from = at
			continue
		}
		p.reserve(on, at/p.Resolution*p.Resolution, (at+m.limit)/p.Resolution*p.Resolution)
		return false, nil
	}
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
// nodes those that are free in all of them. It returns the end of the first of the windows; never for none.
func (s *slide) move(windows []window, from, end time.Duration, on bitmap) time.Duration {
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
	on.and(s.behind)
	if s.first >= s.mid {
		return never
	}
	on.and(s.upTo[s.first])
	return windows[s.first].to
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

// reserve takes nodes out of the windows of a stretch.
func (p *periodic) reserve(on bitmap, from, to time.Duration) {
	p.cut(from)
	p.cut(to)
	for i := range p.windows {
		if w := &p.windows[i]; w.from >= from && w.to <= to {
			w.free.minus(on)
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
	now := p.Now()
	free, need := p.Machine().Free(), p.View.Job(job).Request()
	cores, most := int32(0), int32(0) // free now, and in all
	for i, word := range on {
		for ; word != 0; word &= word - 1 {
			v := i*64 + bits.TrailingZeros64(word)
			cores, most = cores+free[v].Cores, most+p.bounds[v]
		}
	}
	if most < need {
		return 0, nil, false, false
	}
	if cores >= need {
		if shares, ok = p.fit(job, free, on); ok {
			return now, shares, true, false
		}
	}
	p.rooms = append(p.rooms[:0], p.Machine().Free()...)
	if p.PreemptionBy != "none" {
		for _, k := range p.victims(job) {
			p.View.Job(k).GiveBack(p.rooms, false)
			gives = true
		}
		if gives {
			if shares, ok = p.fit(job, p.rooms, on); ok {
				return now, shares, true, true
			}
			p.rooms = append(p.rooms[:0], p.Machine().Free()...)
		}
	}
	grouping, first, last := p.Grouping, time.Duration(-1), time.Duration(0)
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
			p.giveBack(p.running[given].job)
		}
		shares, ok = p.fit(job, p.rooms, on)
		return ok
	}
	for i, r := range p.running {
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
		if first < 0 {
			first = r.end
		}
		last = r.end
		if i+1 < len(p.running) && p.running[i+1].end <= first+grouping {
			continue
		}
		if test(i + 1) {
			return max(last, now+time.Second), shares, true, false
		}
		first = -1
		grouping *= 2
	}
	if first >= 0 && test(len(p.running)) { // the last of them were followed by others on other nodes
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

// victims returns the running jobs that a waiting job may preempt, in order: least priority first, and among
// equals the one that was started last.
func (p *periodic) victims(job int32) []int32 {
	m := p.of(&p.run.Jobs[job])
	var list []int32
	for _, r := range p.running {
		k := p.of(&p.run.Jobs[r.job])
		switch {
		case p.modeOf(k) == "off" || p.Now() < p.held[r.job].since+k.qos.Exempt:
		case slices.ContainsFunc(p.giving, func(g giving) bool { return g.job == r.job && g.mode != "limit" }):
		case p.PreemptionBy == "qos" && slices.Contains(m.qos.Preempts, k.qos.Name),
			p.PreemptionBy == "partition" && k.partition.Tier < m.partition.Tier:
			list = append(list, r.job)
		}
	}
	slices.SortStableFunc(list, func(a, b int32) int {
		if p.order != nil && p.order.priority[a] != p.order.priority[b] {
			return int(max(min(p.order.priority[a]-p.order.priority[b], 1), -1))
		}
		return int(b - a)
	})
	return list
}

// modeOf returns the fate of a preempted job.
func (p *periodic) modeOf(k *member) string {
	own := k.qos.PreemptMode
	if p.PreemptionBy == "partition" {
		own = k.partition.PreemptMode
	}
	if own != "" {
		return own
	}
	return p.PreemptMode
}

// preempt has jobs give way to a waiting one, if that lets it start. It takes few jobs, first those that hold most of
// the needed resources. The waiting job starts when they have gone.
func (p *periodic) preempt(job int32, on bitmap) error {
	list := p.victims(job)
	var nodes bitmap
	for pass := 0; ; pass++ {
		p.rooms = append(p.rooms[:0], p.Machine().Free()...)
		last := -1
		for i, k := range list {
			p.View.Job(k).GiveBack(p.rooms, false)
			if shares, ok := p.fit(job, p.rooms, on); ok {
				last, nodes = i, newBitmap(len(p.bounds))
				for _, s := range shares {
					nodes.set(int(s.node))
				}
				break
			}
		}
		if last < 0 {
			return nil
		}
		if pass > 1 || len(list) < 2 {
			list = list[:last+1]
			break
		}
		needed := list[last]
		overlap := func(k int32) int {
			if k == needed {
				return len(p.bounds) + 1
			}
			both := slices.Clone(nodes)
			both.and(p.held[k].on)
			return both.count()
		}
		slices.SortStableFunc(list, func(a, b int32) int { return overlap(b) - overlap(a) })
	}
	for _, k := range list {
		if !p.held[k].on.overlaps(nodes) {
			continue
		}
		m := p.of(&p.run.Jobs[k])
		grace, mode := m.qos.Grace, p.modeOf(m)
		if p.PreemptionBy == "partition" {
			grace = m.partition.Grace
		}
		if grace > 0 {
			p.give(giving{p.Now() + grace, k, mode})
			continue
		}
		if err := p.evict(k, mode); err != nil {
			return err
		}
	}
	return nil
}

var _ scheduler.Waker = (*periodic)(nil)
