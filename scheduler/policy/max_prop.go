package policy

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// MaxProp shares the cores of each node in proportion to the requests of jobs. The cores that running rigid jobs
// hold are left out. The node's running malleable jobs come first, by first start, then waiting jobs in the policy's
// order, while every job can have its minimum. A share is between the job's minimum and its request, or MaxThreads
// if that is more. Fractions are rounded by largest remainder; ties go to the earlier job.
//
// The shares take effect when a waiting job gets one. First, running jobs above their shares shrink; then those
// below grow; then waiting jobs start.
const MaxProp Allocation = "max_prop"

var _ = RegisterAllocation(AllocationChoice{
	Choice: Choice{
		Name: MaxProp, Title: "Proportional shares", Doc: "a share of the cores in proportion to its request", Place: 3,
		Version: 2, // since version 2, running jobs grow to their shares when a job starts
	},
	Partial:   true,
	Admission: func(s Setup) scheduler.Admitter { return &sharer{Dispatch: Dispatch{Setup: s}} },
})

// sharing is how max_prop divides the cores in one dispatch. Running jobs stay on their nodes. A waiting job joins
// the node that has the most cores beyond the minimums of its jobs.
type sharing struct {
	nodes   []nodeShare
	rooms   []cluster.Room // free GPUs and memory of each node, after the members' needs
	waiting []entry        // waiting jobs with a share, in the policy's order
	left    []int32        // waiting jobs without a share, in the policy's order
}

type nodeShare struct {
	cores   int32 // cores that running rigid jobs do not hold
	spare   int32 // cores beyond the minimums of the members
	members []proportionMember
}

type entry struct {
	job, node int32
	member    int
}

// sharer starts and resizes jobs by their shares under max_prop. With a backfill that reserves, it keeps the
// reservation of the first job without a share.
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
			if !pausing || j == last || i > 0 && d.Backfill.Reserves { // must not pause others
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

// shareOut decides which jobs get a share, and divides the cores.
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

// memberOf returns a job with the bounds of its share, before the division.
func memberOf(j scheduler.JobView) proportionMember {
	m := proportionMember{Job: j.Number(), Want: j.Request(), Low: j.Least(), High: j.Request()}
	if !j.Sized() {
		m.High = max(m.High, int32(j.Job().MaxThreads))
	}
	return m
}

// join gives a waiting job a share on a node, if a node has room for its minimum. A job that passes a reservation
// gets only its minimum, because the reservation needs to know how many cores it takes. join reports whether the job
// has a share.
func (d *sharer) join(s *sharing, j scheduler.JobView, passes bool) bool {
	m := memberOf(j)
	if _, count := j.Needs(m.Low); count > 1 { // a job on several nodes, or with roles, gets its whole request
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

// apply shrinks running jobs to smaller shares, grows others to larger ones, and starts waiting jobs. If no waiting
// job has a share, it does nothing.
func (d *sharer) apply(s *sharing) error {
	if len(s.waiting) == 0 {
		return nil
	}
	shrinks := func(held, share int32) bool { return share < held }
	if err := d.resize(s, shrinks, "its share is smaller because other jobs wait"); err != nil {
		return err
	}
	grows := func(held, share int32) bool { return share > held }
	if err := d.resize(s, grows, "its share is larger"); err != nil {
		return err
	}
	for _, w := range s.waiting {
		j := d.Job(w.job)
		cores, why := j.Request(), "its requested cores are free"
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

// resize gives running jobs their new shares, if differs(cores held, share) is true.
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
