package scheduler

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// member is a job that takes part in the sharing of a node's cores.
type member struct {
	job             int32
	want, low, high int32
	share           int32
}

// divide shares cores among members in proportion to what they want, each
// within its bounds, whose lower ones do not add up to more than the cores:
// each gets its share at one common rate, clamped. Fractions are rounded by
// largest remainder, ties to the earlier member.
func divide(cores int32, members []member) {
	left := int64(cores)
	open := make([]int, len(members)) // members that are not clamped
	for i := range members {
		open[i] = i
	}
	for len(open) > 0 {
		var wants, short, over int64
		for _, i := range open {
			wants += int64(members[i].want)
		}
		// Compare left × want / wants with the bounds, all multiplied by wants.
		for _, i := range open {
			m := &members[i]
			exact := left * int64(m.want)
			short += max(int64(m.low)*wants-exact, 0)
			over += max(exact-int64(m.high)*wants, 0)
		}
		if short == 0 && over == 0 {
			roundShares(left, wants, members, open)
			return
		}
		// The rate of the others goes down when those who are short are
		// clamped, up when those who are over are: the greater sum tells
		// which of them surely stay clamped.
		before := left
		open = slices.DeleteFunc(open, func(i int) bool {
			m := &members[i]
			exact := before * int64(m.want)
			switch {
			case short >= over && exact < int64(m.low)*wants:
				m.share = m.low
			case over >= short && exact > int64(m.high)*wants:
				m.share = m.high
			default:
				return false
			}
			left -= int64(m.share)
			return true
		})
	}
}

// roundShares gives the open members left cores by largest remainder.
func roundShares(left, wants int64, members []member, open []int) {
	given := int64(0)
	for _, i := range open {
		members[i].share = int32(left * int64(members[i].want) / wants)
		given += int64(members[i].share)
	}
	slices.SortStableFunc(open, func(a, b int) int {
		x, y := left*int64(members[a].want)%wants, left*int64(members[b].want)%wants
		return int(min(max(y-x, -1), 1))
	})
	for _, i := range open[:left-given] {
		members[i].share++
	}
}

// sharing is the division of one dispatch under max_prop. Each node shares
// its own cores: running jobs stay where they are, and a waiting job joins
// the node on which the most cores are left once everyone has its minimum.
type sharing struct {
	nodes   []nodeShare
	rooms   []room  // GPUs and memory that are left
	waiting []entry // that take part, in the policy's order
	left    []int32 // that do not, in the policy's order
}

type nodeShare struct {
	cores   int32 // not held by running rigid jobs
	spare   int32 // of them, beyond the minimums of the members
	members []member
}

type entry struct {
	job, node int32
	member    int
}

// admitShares starts waiting jobs under max_prop. Both easy and conservative
// backfill guard the reservation of the first job that does not take part.
func (l *loop) admitShares() error {
	pausing, last := l.p.pausesForBetter(), nobody
	for {
		s := l.shareOut(pausing)
		if err := l.applyShares(s); err != nil {
			return err
		}
		made := false
		for i, j := range s.left {
			if !pausing || j == last || i > 0 && l.reserves() { // nobody behind a reservation pauses anybody
				break
			}
			var err error
			if pausing, made, err = l.makeRoom(j); err != nil {
				return err
			}
			if made {
				last = j
				break
			}
		}
		if !made {
			return nil
		}
	}
}

// shareOut decides who takes part and divides the cores.
func (l *loop) shareOut(pausing bool) *sharing {
	s := &sharing{nodes: make([]nodeShare, len(l.machine.free)), rooms: slices.Clone(l.machine.free)}
	spare := int32(0)
	for v := range s.nodes {
		s.nodes[v].cores = l.machine.free[v].cores
		s.nodes[v].spare = s.nodes[v].cores
		spare += s.nodes[v].cores
	}
	for _, j := range l.malleable {
		if f := &l.lives[j]; !f.yields {
			n := &s.nodes[l.home(j)[0]]
			held := int32(f.grant.Cores.Count())
			m := l.member(j)
			n.cores += held
			n.spare += held - m.low
			spare += held - m.low
			n.members = append(n.members, m)
		}
	}
	after, passes := queue.Front, false
	for {
		j := l.queue.Next(after, queue.Anyone)
		if j == nobody || (spare == 0 && !pausing && passes) {
			break
		}
		if l.moved(j) {
			continue
		}
		after = l.queue.KeyOf(j)
		if l.join(s, j, passes && l.p.Backfill != FirstFit) {
			spare = 0
			for v := range s.nodes {
				spare += s.nodes[v].spare
			}
			continue
		}
		if l.heldUp(j) {
			continue
		}
		s.left = append(s.left, j)
		if l.p.Backfill == NoBackfill {
			break
		}
		if !passes && l.p.Backfill != FirstFit {
			l.reserve(j)
		}
		passes = true
	}
	for v := range s.nodes {
		divide(s.nodes[v].cores, s.nodes[v].members)
	}
	return s
}

func (l *loop) member(j int32) member {
	f := &l.lives[j]
	low := min(max(int32(l.Jobs[j].MinThreads), 1), f.request)
	if l.sized(j) {
		low = f.request
	}
	return member{job: j, want: f.request, low: low, high: l.atMost(j)}
}

// join lets a waiting job take part on a node, if there is one. One that
// passes a reservation takes no more than its minimum, so that what it takes
// is known.
func (l *loop) join(s *sharing, j int32, passes bool) bool {
	m := l.member(j)
	need, count := l.needs(j, m.low)
	if count > 1 { // a gang takes its request from what is free, whole
		rooms := slices.Clone(s.rooms)
		for v := range rooms {
			rooms[v].cores = s.nodes[v].spare
		}
		nodes, ok := fit(rooms, need, count, l.home(j), nil)
		if !ok || passes && !l.mayPass(j, m.low, nodes) {
			return false
		}
		for _, v := range nodes {
			s.nodes[v].cores -= need.cores
			s.nodes[v].spare -= need.cores
			s.rooms[v].gpus -= need.gpus
			s.rooms[v].memory -= need.memory
		}
		s.waiting = append(s.waiting, entry{job: j, node: nobody})
		return true
	}
	home := l.home(j)
	best := nobody
	for v := range s.nodes {
		r := room{cores: s.nodes[v].spare, gpus: s.rooms[v].gpus, memory: s.rooms[v].memory}
		if (home == nil || home[0] == int32(v)) && r.holds(need) && (best == nobody || r.cores > s.nodes[best].spare) {
			best = int32(v)
		}
	}
	if best == nobody {
		return false
	}
	if passes {
		if !l.mayPass(j, m.low, []int32{best}) {
			return false
		}
		m.high = m.low
	}
	n := &s.nodes[best]
	n.spare -= m.low
	s.rooms[best].gpus -= need.gpus
	s.rooms[best].memory -= need.memory
	s.waiting = append(s.waiting, entry{job: j, node: best, member: len(n.members)})
	n.members = append(n.members, m)
	return true
}

// applyShares shrinks the running jobs that hold more than their share, grows
// those that hold less, and starts the waiting ones. Without waiting ones
// nothing is shared out.
func (l *loop) applyShares(s *sharing) error {
	if len(s.waiting) == 0 {
		return nil
	}
	for v := range s.nodes {
		for _, m := range s.nodes[v].members {
			f := &l.lives[m.job]
			if f.State != Running || f.yields || int(m.share) >= f.grant.Cores.Count() {
				continue
			}
			low, rest := f.grant.Cores.cut(int(m.share))
			if err := l.resize(m.job, low, rest, nil, "its share is smaller, for others wait"); err != nil {
				return err
			}
		}
	}
	if err := l.growToShares(s); err != nil {
		return err
	}
	for _, w := range s.waiting {
		cores, why := l.lives[w.job].request, "its request is free"
		nodes, ok := []int32{w.node}, true
		if w.node == nobody {
			nodes, ok = l.fits(w.job, cores)
		} else {
			cores, why = s.nodes[w.node].members[w.member].share, "its share of the cores"
		}
		if !ok {
			continue
		}
		if err := l.start(w.job, cores, nodes, why); err != nil {
			return err
		}
	}
	return nil
}

// growToShares gives the running jobs that hold less than their share the rest
// of it, once those that hold more have shrunk.
func (l *loop) growToShares(s *sharing) error {
	for v := range s.nodes {
		for _, m := range s.nodes[v].members {
			f := &l.lives[m.job]
			more := m.share - int32(f.grant.Cores.Count())
			if f.State != Running || f.yields || more <= 0 {
				continue
			}
			if err := l.growBy(m.job, more, int32(v), "its share is larger"); err != nil {
				return err
			}
		}
	}
	return nil
}
