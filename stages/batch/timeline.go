package batch

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// counts has a number of cores for each node, one bitmap for each binary digit: the sum over a set of nodes is some
// counts of bits.
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

// timeline has the free cores of the nodes as running jobs end.
type timeline struct {
	running     []runningJob // by end; nil for a timeline that is not built
	free        []cluster.Room
	allocations []allocation // by job
	marks       []mark
	ready       int // the last mark that is made
}

// mark is an instant of a timeline: some of the jobs have ended.
type mark struct {
	free counts
	next bitmap // the nodes of the jobs that end up to the next mark
}

// few is how many ends are between two marks. A look begins at a mark and adds the ends after it, so answers do not depend
// on it.
const few = 8

// build makes the timeline of running jobs, from the free resources of each node. Marks follow as they are asked for.
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

// foresee notes the nodes of the jobs that end between a mark and the next.
func (t *timeline) foresee(k int) {
	clear(t.marks[k].next)
	for _, r := range t.running[k*few : min((k+1)*few, len(t.running))] {
		t.marks[k].next.or(t.allocations[r.job].on)
	}
}

// mark returns a mark.
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

// cores returns the free cores of some nodes after a number of ends.
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

// coresAt writes the free cores of some nodes then, and leaves other resources.
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

// next returns the first job, from one on, that holds some of the nodes; -1 for none.
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

// last returns the last job that holds some of the nodes, and does not end before one that does.
func (t *timeline) last(on bitmap) int {
	i := len(t.running) - 1
	for i > 0 && !t.allocations[t.running[i].job].on.overlaps(on) {
		i--
	}
	return i
}

// upTo returns how many jobs end up to an instant.
func (t *timeline) upTo(at time.Duration) int {
	n, _ := slices.BinarySearchFunc(t.running, at+1, func(r runningJob, at time.Duration) int {
		return cmp.Compare(r.end, at)
	})
	return n
}
