package queue

import "sort"

// line is a list of waiting jobs for the usual case that jobs join at the end and leave at the front. It is a ring
// buffer, so both take constant time.
type line struct {
	ring       []place // its length is a power of two
	head, tail uint32  // places head … tail-1 are in use; masked, they are indexes of ring
	gone       int     // number of these places whose job has left
}

// place is the place of a job in a line.
type place struct {
	key  Key
	ask  Ask
	gone bool // the job has left the queue
}

// patience is the number of jobs that a search in a line examines. After them, the queue changes to a tree, whose
// search is faster.
const patience = 32

func (l *line) len() int { return int(l.tail-l.head) - l.gone }

func (l *line) at(i uint32) *place { return &l.ring[i&uint32(len(l.ring)-1)] }

// takes reports whether a job with key k belongs at the end of the line.
func (l *line) takes(k Key) bool { return l.head == l.tail || l.at(l.tail-1).key.Less(k) }

// add adds a job at the end. Its index in the ring is stored in slots. If the ring grows, the indexes of the other
// jobs change too.
func (l *line) add(k Key, a Ask, slots *slots) {
	if int(l.tail-l.head) == len(l.ring) {
		l.grow(slots)
	}
	slots.set(k.Job, int32(l.tail&uint32(len(l.ring)-1)))
	*l.at(l.tail) = place{key: k, ask: a}
	l.tail++
}

// grow makes room for another job. If many jobs have left, it closes their gaps; otherwise it allocates a larger
// ring.
func (l *line) grow(slots *slots) {
	size := max(len(l.ring), 16)
	if l.len() > size/2 {
		size *= 2
	}
	ring, n := make([]place, size), uint32(0)
	l.each(func(p *place) {
		slots.set(p.key.Job, int32(n))
		ring[n] = *p
		n++
	})
	l.ring, l.head, l.tail, l.gone = ring, 0, n, 0
}

// each calls f for the place of each job, in order.
func (l *line) each(f func(*place)) {
	for i := l.head; i != l.tail; i++ {
		if p := l.at(i); !p.gone {
			f(p)
		}
	}
}

// firstOf implements Queue.First.
func (l *line) firstOf(most int, jobs []int32) []int32 {
	for i := l.head; i != l.tail && most > 0; i++ {
		if p := l.at(i); !p.gone {
			jobs = append(jobs, p.key.Job)
			most--
		}
	}
	return jobs
}

// remove removes the job at an index of the ring.
func (l *line) remove(slot int32) {
	l.ring[slot].gone = true
	l.gone++
	for l.head != l.tail && l.at(l.head).gone {
		l.head++
		l.gone--
	}
	for l.head != l.tail && l.at(l.tail-1).gone {
		l.tail--
		l.gone--
	}
}

// from returns the first place whose key is k or comes after it.
func (l *line) from(k Key) uint32 {
	if l.head == l.tail || !l.at(l.head).key.Less(k) {
		return l.head
	}
	return l.head + uint32(sort.Search(int(l.tail-l.head), func(i int) bool { return !l.at(l.head + uint32(i)).key.Less(k) }))
}

// next returns the first job after a key that is within the limit, or Nobody. ok is false if it has examined too
// many jobs without a result.
func (l *line) next(after Key, within Limit) (job int32, ok bool) {
	tries := 0
	for i := l.from(after); i != l.tail; i++ {
		p := l.at(i)
		if p.gone || p.key == after {
			continue
		}
		if within.allows(p.ask) {
			return p.key.Job, true
		}
		if tries++; tries == patience {
			return Nobody, false
		}
	}
	return Nobody, true
}

// before returns the number of jobs before k. ok is false if counting takes too long.
func (l *line) before(k Key) (count int, ok bool) {
	end := l.from(k)
	if l.gone == 0 {
		return int(end - l.head), true
	}
	if end-l.head > patience {
		return 0, false
	}
	for i := l.head; i != end; i++ {
		if !l.at(i).gone {
			count++
		}
	}
	return count, true
}
