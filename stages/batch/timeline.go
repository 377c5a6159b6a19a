package batch

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// counts stores a number of cores for each node as binary digits: bitmap i has digit i of all nodes. The sum over a set
// of nodes then needs only a few counts of bits.
type counts []bitmap

func newCounts(nodes, most int) counts {
	c := make(counts, bits.Len(uint(most)))
	for i := range c {
		c[i] = newBitmap(nodes)
	}
	return c
}

func (c counts) clone() counts {
	o := slices.Clone(c)
	for i := range o {
		o[i] = slices.Clone(c[i])
	}
	return o
}

func (c counts) add(node, n int32) {
	at, bit := node/64, uint64(1)<<(node%64)
	carry := uint64(0)
	for i := range c {
		has := c[i][at]
		want := -uint64(n>>i&1) & bit
		c[i][at] = has ^ want ^ carry
		carry = has&want | has&carry | want&carry
	}
}

func (c counts) sum(on bitmap) (cores int32) {
	for i, digit := range c {
		n := 0
		for k, word := range digit {
			n += bits.OnesCount64(word & on[k])
		}
		cores += int32(n << i)
	}
	return cores
}

// timeline computes the free cores of each node after a number of running jobs have ended.
type timeline struct {
	running     []runningJob // sorted by end; nil before build
	free        []cluster.Room
	allocations []allocation // by job
	marks       []mark
	ready       int // index of the last computed mark
}

// mark is a point of a timeline, after k × few jobs have ended for mark k.
type mark struct {
	free counts
	next bitmap // nodes of the jobs that end before the next mark
}

// few is the number of job ends between two marks. It affects speed and not results: a query starts at a mark and adds
// the ends after it.
const few = 8

// build initializes the timeline from the free resources of each node and the running jobs. Marks are computed when
// they are first needed.
func (t *timeline) build(free []cluster.Room, most counts, running []runningJob, allocations []allocation) {
	t.free, t.running, t.allocations, t.ready = free, append(make([]runningJob, 0, 1), running...), allocations, 0
	for len(t.marks) <= len(running)/few {
		t.marks = append(t.marks, mark{most.clone(), newBitmap(len(free))})
	}
	first := t.marks[0].free
	for _, digit := range first {
		clear(digit)
	}
	for v := range free {
		for n := uint32(free[v].Cores); n != 0; n &= n - 1 {
			first[bits.TrailingZeros32(n)].set(v)
		}
	}
	t.foresee(0)
}

// foresee records the nodes of the jobs that end between mark k and the next mark.
func (t *timeline) foresee(k int) {
	clear(t.marks[k].next)
	for _, r := range t.running[k*few : min((k+1)*few, len(t.running))] {
		t.marks[k].next.or(t.allocations[r.job].on)
	}
}

// mark returns mark k, and computes it if necessary.
func (t *timeline) mark(k int) *mark {
	for ; t.ready < k; t.ready++ {
		at, next := &t.marks[t.ready], &t.marks[t.ready+1]
		for i, digit := range next.free {
			digit.copy(at.free[i])
		}
		for _, r := range t.running[t.ready*few : (t.ready+1)*few] {
			for _, s := range t.allocations[r.job].shares {
				next.free.add(s.node, s.units)
			}
		}
		t.foresee(t.ready + 1)
	}
	return &t.marks[k]
}

// cores returns the free cores on some nodes after the given number of job ends.
func (t *timeline) cores(on bitmap, ends int) int32 {
	sum := t.mark(ends / few).free.sum(on)
	for _, r := range t.running[ends/few*few : ends] {
		for _, s := range t.allocations[r.job].shares {
			if on.has(int(s.node)) {
				sum += s.units
			}
		}
	}
	return sum
}

// coresAt sets the free cores of some nodes in rooms to their value after the given number of job ends. Other resources
// in rooms stay unchanged.
func (t *timeline) coresAt(on bitmap, ends int, rooms []cluster.Room) {
	on.each(func(v int) { rooms[v].Cores = 0 })
	for i, digit := range t.mark(ends / few).free {
		for k, word := range digit {
			for word &= on[k]; word != 0; word &= word - 1 {
				rooms[k*64+bits.TrailingZeros64(word)].Cores += 1 << i
			}
		}
	}
	for _, r := range t.running[ends/few*few : ends] {
		for _, s := range t.allocations[r.job].shares {
			rooms[s.node].Cores += s.units
		}
	}
}

// next returns the index of the first job at or after from that holds some of the nodes; -1 if no job does.
func (t *timeline) next(on bitmap, from int) int {
	for i := from; i < len(t.running); i++ {
		for (i == from || i%few == 0) && i < len(t.running) && !t.mark(i/few).next.overlaps(on) {
			i = (i/few + 1) * few
		}
		if i < len(t.running) && t.allocations[t.running[i].job].on.overlaps(on) {
			return i
		}
	}
	return -1
}

// last returns the index of the last running job that holds some of the nodes; 0 if none does.
func (t *timeline) last(on bitmap) int {
	i := len(t.running) - 1
	for i > 0 && !t.allocations[t.running[i].job].on.overlaps(on) {
		i--
	}
	return i
}

// upTo returns how many jobs end at or before a time.
func (t *timeline) upTo(at time.Duration) int {
	n, _ := slices.BinarySearchFunc(t.running, at+1, func(r runningJob, at time.Duration) int {
		return cmp.Compare(r.end, at)
	})
	return n
}
