package policy

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// MaxProp gives jobs shares of the cores in proportion to their requests: each
// node shares the cores that running rigid jobs do not hold among its running
// malleable jobs, by first start, and then waiting jobs in order, as many as can
// have their minimum; each between its minimum and its maximum, which is its
// request unless MaxThreads is more. Fractions are rounded by largest remainder,
// ties to the earlier. The shares are applied when a waiting job takes part: first
// the running jobs above theirs shrink, then those below theirs grow, then the
// waiting ones start.
const MaxProp Allocation = "max_prop"

var _ = RegisterAllocation(AllocationChoice{
	Choice: Choice{
		Name: MaxProp, Title: "Proportional shares", Doc: "a share in proportion to its request", Place: 3,
		Version: 2, // running jobs grow to their shares when those are applied
	},
	Partial:   true,
	Admission: func(s Setup) scheduler.Admitter { return &sharer{Dispatch: Dispatch{Setup: s}} },
})

// sharing is the division of one dispatch under max_prop. Each node shares
// its own cores: running jobs stay where they are, and a waiting job joins
// the node on which the most cores are left once everyone has its minimum.
type sharing struct {
	nodes   []nodeShare
	rooms   []cluster.Room // GPUs and memory that are left
	waiting []entry        // that take part, in the policy's order
	left    []int32        // that do not, in the policy's order
}

type nodeShare struct {
	cores   int32 // not held by running rigid jobs
	spare   int32 // of them, beyond the minimums of the members
	members []proportionMember
}

type entry struct {
	job, node int32
	member    int
}

// sharer admits jobs by shares. A backfill that reserves guards the reservation
// of the first job that does not take part.
type sharer struct {
	Dispatch
	held Reservation
}

// HeldBack implements scheduler.Admitter.
func (d *sharer) HeldBack(v scheduler.View, _ int32) string {
	if d.Backfill.HeldBack != nil {
		return d.Backfill.HeldBack(v, &d.held)
	}
	return "its share of the cores is not free yet"
}

// Admit implements scheduler.Admitter.
func (d *sharer) Admit(v scheduler.View, h scheduler.Actions) error {
	d.Begin(v, h)
	pausing, last := d.Pauses, nobody
	for {
		s := d.shareOut(pausing)
		if err := d.apply(s); err != nil {
			return err
		}
		made := false
		for i, j := range s.left {
			if !pausing || j == last || i > 0 && d.Backfill.Reserves { // no job behind a reservation pauses another
				break
			}
			var err error
			if pausing, made, err = h.MakeRoom(j); err != nil {
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
func (d *sharer) shareOut(pausing bool) *sharing {
	free, waiting := d.Machine().Free(), d.Waiting()
	s := &sharing{nodes: make([]nodeShare, len(free)), rooms: slices.Clone(free)}
	spare := int32(0)
	for v := range s.nodes {
		s.nodes[v].cores = free[v].Cores
		s.nodes[v].spare = s.nodes[v].cores
		spare += s.nodes[v].cores
	}
	for _, number := range d.Running().Malleable() {
		if j := d.Job(number); !j.Yields() && !d.Machine().Closed(j.Home()[0]) {
			n := &s.nodes[j.Home()[0]]
			held := int32(j.Held().Cores.Count())
			m := memberOf(j)
			n.cores += held
			n.spare += held - m.Low
			spare += held - m.Low
			n.members = append(n.members, m)
		}
	}
	after, passes := queue.Front, false
	for spare != 0 || pausing || !passes {
		number := waiting.Next(after, queue.Anyone)
		if number == nobody {
			break
		}
		after = waiting.KeyOf(number)
		j := d.Job(number)
		if d.join(s, j, passes && d.Backfill.Reserves) {
			spare = 0
			for v := range s.nodes {
				spare += s.nodes[v].spare
			}
			continue
		}
		if j.HeldUp() {
			continue
		}
		s.left = append(s.left, number)
		if !d.Backfill.Passes {
			break
		}
		if !passes && d.Backfill.Reserves {
			d.held.Reserve(d.View, d.Actions, j)
		}
		passes = true
	}
	for v := range s.nodes {
		divideInProportion(s.nodes[v].cores, s.nodes[v].members)
	}
	return s
}

// memberOf returns the bounds of a job's share: at most its request, unless it
// sets a higher maximum.
func memberOf(j scheduler.JobView) proportionMember {
	m := proportionMember{Job: j.Number(), Want: j.Request(), Low: j.Least(), High: j.Request()}
	if !j.Sized() {
		m.High = max(m.High, int32(j.Job().MaxThreads))
	}
	return m
}

// join lets a waiting job take part on a node, if there is one. A job that
// passes a reservation gets only its minimum, so that its share is known.
func (d *sharer) join(s *sharing, j scheduler.JobView, passes bool) bool {
	m := memberOf(j)
	if _, count := j.Needs(m.Low); count > 1 { // a gang, or a job with roles, takes its whole request from free room
		rooms := slices.Clone(s.rooms)
		for v := range rooms {
			rooms[v].Cores = s.nodes[v].spare
		}
		nodes, ok := j.FitsIn(rooms, m.Low, nil)
		if !ok || passes && !d.held.MayPass(d.View, j, m.Low, nodes) {
			return false
		}
		j.TakeFrom(rooms, m.Low, nodes)
		for v, left := range rooms {
			s.nodes[v].cores -= s.nodes[v].spare - left.Cores
			s.nodes[v].spare = left.Cores
			s.rooms[v].GPUs, s.rooms[v].Memory = left.GPUs, left.Memory
		}
		s.waiting = append(s.waiting, entry{job: m.Job, node: nobody})
		return true
	}
	best := nobody
	var need cluster.Room
	for v := range s.nodes {
		r := cluster.Room{Cores: s.nodes[v].spare, GPUs: s.rooms[v].GPUs, Memory: s.rooms[v].Memory}
		if best != nobody && r.Cores <= s.nodes[best].spare {
			continue
		}
		if n, may := j.NeedOn(int32(v), m.Low); may && r.Holds(n) {
			best, need = int32(v), n
		}
	}
	if best == nobody {
		return false
	}
	if passes {
		if !d.held.MayPass(d.View, j, m.Low, []int32{best}) {
			return false
		}
		m.High = m.Low
	}
	n := &s.nodes[best]
	n.spare -= m.Low
	s.rooms[best].GPUs -= need.GPUs
	s.rooms[best].Memory -= need.Memory
	s.waiting = append(s.waiting, entry{job: m.Job, node: best, member: len(n.members)})
	n.members = append(n.members, m)
	return true
}

// apply shrinks the running jobs that hold more than their share, grows those that
// hold less, and starts the waiting ones. Without waiting ones nothing is shared
// out.
func (d *sharer) apply(s *sharing) error {
	if len(s.waiting) == 0 {
		return nil
	}
	shrinks := func(held, share int32) bool { return share < held }
	if err := d.resize(s, shrinks, "its share is smaller, for others wait"); err != nil {
		return err
	}
	grows := func(held, share int32) bool { return share > held }
	if err := d.resize(s, grows, "its share is larger"); err != nil {
		return err
	}
	for _, w := range s.waiting {
		j := d.Job(w.job)
		cores, why := j.Request(), "its request is free"
		nodes, ok := []int32{w.node}, true
		if w.node == nobody {
			nodes, ok = j.Fits(cores)
		} else {
			cores, why = s.nodes[w.node].members[w.member].Share, "its share of the cores"
		}
		if !ok {
			continue
		}
		if err := d.Start(w.job, cores, nodes, why); err != nil {
			return err
		}
	}
	return nil
}

// resize gives running jobs their new shares where these differ from the present
// ones in one direction.
func (d *sharer) resize(s *sharing, differs func(held, share int32) bool, why string) error {
	for v := range s.nodes {
		for _, m := range s.nodes[v].members {
			j := d.Job(m.Job)
			if j.State() != scheduler.Running || j.Yields() || !differs(int32(j.Held().Cores.Count()), m.Share) {
				continue
			}
			if err := d.Resize(m.Job, m.Share, why); err != nil {
				return err
			}
		}
	}
	return nil
}
