// Package queue keeps waiting jobs in the order of a policy.
package queue

import (
	"math"
	"math/bits"
	"time"
)

// Key places a waiting job in the policy's order: smaller is earlier.
type Key struct {
	Rank   int64 // what the policy orders by
	Second int64 // the arrival, for most
	Job    int32
}

// Less reports whether a job with key a comes before one with key b.
func (a Key) Less(b Key) bool {
	if a.Rank != b.Rank {
		return a.Rank < b.Rank
	}
	if a.Second != b.Second {
		return a.Second < b.Second
	}
	return a.Job < b.Job
}

// Compare is negative for a key that comes before another one.
func (a Key) Compare(b Key) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

// Max returns the later of two keys.
func (a Key) Max(b Key) Key {
	if a.Less(b) {
		return b
	}
	return a
}

// Front is a key before all others.
var Front = Key{math.MinInt64, math.MinInt64, -1}

// Ask is the least that a waiting job needs in order to start, for passing
// over whole stretches of the queue at once.
type Ask struct {
	Cores  int32         // on one node
	Length time.Duration // expected run time on the full request
}

// Queue holds the waiting jobs in the policy's order. While they come in that order, it is a line;
// from the first that has to go before another, or a search that a line is too slow for, until the queue is
// empty, it is a treap (R. Seidel,
// C. R. Aragon, "Randomized Search Trees", 1996) whose priorities are a hash of
// the job number, so that its shape is reproducible. Each node knows the size of
// its subtree and the least that its jobs ask for. All operations take O(log n)
// expected time, and the memory is that of the longest queue there was.
type Queue struct {
	line     line // all jobs while the tree is empty
	nodes    []node
	vacant   []int32 // indexes of nodes that no job has
	nodeOf   []int32 // by job number, of jobs in the queue: the node, or the place in the line
	root     int32
	byLength bool // limits have a window
}

type node struct {
	key         Key // has the job
	ask         Ask
	left, right int32
	size        int32 // of the subtree
	weight      uint32
	cores       int32    // the least in the subtree
	shortest    shortest // of the subtree; kept for windows only
}

// shortest tells, for each k, the least length of the jobs that ask for less
// than 2^(k+1) cores; the last one of all jobs. Lengths are coded: see code.
type shortest [8]uint16

// code writes a length with eleven significant bits, rounded down, such that
// codes compare as the lengths do.
func code(length time.Duration) uint16 {
	n := uint64(max(length, 0))
	shift := max(bits.Len64(n)-11, 0)
	return uint16(shift<<10) + uint16(n>>shift)
}

// class is the index of a number of cores, from 1 on, in shortest.
func class(cores int32) int { return min(bits.Len32(uint32(cores))-1, len(shortest{})-1) }

// Nobody is the number of no job.
const Nobody = int32(-1)

// never is a length that is not known: longer than all others.
const never = time.Duration(math.MaxInt64)

// New returns an empty queue for jobs with numbers below jobs. Limits on their
// length prune only with byLength, which costs 16 bytes a job.
func New(jobs int, byLength bool) *Queue {
	return &Queue{nodeOf: make([]int32, jobs), root: Nobody, byLength: byLength}
}

// weightOf is the finalizer of MurmurHash3 (A. Appleby), a bijection.
func weightOf(job int32) uint32 {
	h := uint32(job) + 0x9e3779b9
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// Len returns how many jobs are in the queue.
func (q *Queue) Len() int {
	if q.root == Nobody {
		return q.line.len()
	}
	return int(q.nodes[q.root].size)
}

func (q *Queue) sizeOf(t int32) int32 {
	if t == Nobody {
		return 0
	}
	return q.nodes[t].size
}

// refresh recomputes what a node knows of its subtree.
func (q *Queue) refresh(t int32) {
	n := &q.nodes[t]
	n.size, n.cores = 1, n.ask.Cores
	if q.byLength {
		n.shortest = n.ask.shortest()
	}
	if n.left != Nobody {
		child := &q.nodes[n.left]
		n.size += child.size
		q.absorb(n, child)
	}
	if n.right != Nobody {
		child := &q.nodes[n.right]
		n.size += child.size
		q.absorb(n, child)
	}
}

// absorb lets a node know of what another one knows.
func (q *Queue) absorb(n, other *node) {
	n.cores = min(n.cores, other.cores)
	if q.byLength {
		for k, c := range other.shortest {
			n.shortest[k] = min(n.shortest[k], c)
		}
	}
}

func (a Ask) shortest() (s shortest) {
	own, first := code(a.Length), class(a.Cores)
	for k := range s {
		if s[k] = math.MaxUint16; k >= first {
			s[k] = own
		}
	}
	return s
}

// Insert adds a job that is not in the queue.
func (q *Queue) Insert(k Key, a Ask) {
	if q.root == Nobody {
		if q.line.takes(k) {
			q.line.add(k, a, q.nodeOf)
			return
		}
		q.plant()
	}
	q.insert(k, a)
}

// plant makes the line a tree.
func (q *Queue) plant() {
	q.line.each(func(p *place) { q.insert(p.key, p.ask) })
	q.line = line{}
}

// insert adds a job to the tree.
func (q *Queue) insert(k Key, a Ask) {
	var t int32
	if n := len(q.vacant); n > 0 {
		t = q.vacant[n-1]
		q.vacant = q.vacant[:n-1]
	} else {
		t = int32(len(q.nodes))
		q.nodes = append(q.nodes, node{})
	}
	q.nodeOf[k.Job] = t
	n := &q.nodes[t]
	n.key, n.ask, n.left, n.right, n.weight = k, a, Nobody, Nobody, weightOf(k.Job)
	q.root = q.insertAt(q.root, t)
}

func (q *Queue) insertAt(t, added int32) int32 {
	n := &q.nodes[added]
	if t == Nobody || n.weight > q.nodes[t].weight {
		n.left, n.right = q.split(t, n.key)
		q.refresh(added)
		return added
	}
	at := &q.nodes[t]
	if n.key.Less(at.key) {
		at.left = q.insertAt(at.left, added)
	} else {
		at.right = q.insertAt(at.right, added)
	}
	at.size++
	at.cores = min(at.cores, n.ask.Cores)
	if q.byLength {
		own := code(n.ask.Length)
		for k := class(n.ask.Cores); k < len(at.shortest); k++ {
			at.shortest[k] = min(at.shortest[k], own)
		}
	}
	return t
}

// split divides a subtree into what is before k and what is not.
func (q *Queue) split(t int32, k Key) (before, after int32) {
	if t == Nobody {
		return Nobody, Nobody
	}
	n := &q.nodes[t]
	if n.key.Less(k) {
		n.right, after = q.split(n.right, k)
		q.refresh(t)
		return t, after
	}
	before, n.left = q.split(n.left, k)
	q.refresh(t)
	return before, t
}

// Remove takes a job out that is in the queue.
func (q *Queue) Remove(job int32) {
	if q.root == Nobody {
		q.line.remove(q.nodeOf[job])
		return
	}
	gone := q.nodeOf[job]
	q.root = q.removeAt(q.root, gone)
	q.vacant = append(q.vacant, gone)
}

func (q *Queue) removeAt(t, gone int32) int32 {
	n := &q.nodes[t]
	if t == gone {
		return q.join(n.left, n.right)
	}
	if q.nodes[gone].key.Less(n.key) {
		n.left = q.removeAt(n.left, gone)
	} else {
		n.right = q.removeAt(n.right, gone)
	}
	q.refresh(t)
	return t
}

func (q *Queue) join(a, b int32) int32 {
	switch {
	case a == Nobody:
		return b
	case b == Nobody:
		return a
	case q.nodes[a].weight > q.nodes[b].weight:
		q.nodes[a].right = q.join(q.nodes[a].right, b)
		q.refresh(a)
		return a
	}
	q.nodes[b].left = q.join(a, q.nodes[b].left)
	q.refresh(b)
	return b
}

// KeyOf returns the key that a job in the queue was inserted with.
func (q *Queue) KeyOf(job int32) Key {
	if q.root == Nobody {
		return q.line.ring[q.nodeOf[job]].key
	}
	return q.nodes[q.nodeOf[job]].key
}

// AskOf returns what a job in the queue was inserted with.
func (q *Queue) AskOf(job int32) Ask {
	if q.root == Nobody {
		return q.line.ring[q.nodeOf[job]].ask
	}
	return q.nodes[q.nodeOf[job]].ask
}

// Limit says which jobs are worth a look: those that ask for at most Free
// cores, and either run for at most Window or ask for at most Spare cores.
type Limit struct {
	Free   int32
	Window time.Duration
	Spare  int32
}

// AnyAsk is more than any job needs.
var AnyAsk = Ask{math.MaxInt32, never}

// Anyone is a limit that leaves nobody out.
var Anyone = Limit{math.MaxInt32, never, math.MaxInt32}

func (l Limit) allows(a Ask) bool {
	return a.Cores <= l.Free && (a.Length <= l.Window || a.Cores <= l.Spare)
}

// allowsAny reports whether the limit may allow a job of a subtree.
func (l Limit) allowsAny(n *node) bool {
	return n.cores <= l.Free && (l.Window == never || n.cores <= l.Spare || n.shortest[class(l.Free)] <= code(l.Window))
}

// Next returns the first job after k that is within the limit, or Nobody.
func (q *Queue) Next(after Key, l Limit) int32 {
	if q.root == Nobody {
		if job, ok := q.line.next(after, l); ok {
			return job
		}
		q.plant()
	}
	return q.nextAt(q.root, after, l)
}

func (q *Queue) nextAt(t int32, after Key, l Limit) int32 {
	for t != Nobody {
		n := &q.nodes[t]
		if !l.allowsAny(n) {
			return Nobody
		}
		if after.Less(n.key) {
			if found := q.nextAt(n.left, after, l); found != Nobody {
				return found
			}
			if l.allows(n.ask) {
				return n.key.Job
			}
		}
		t = n.right
	}
	return Nobody
}

// Before returns how many jobs of the queue come before k.
func (q *Queue) Before(k Key) int {
	if q.root == Nobody {
		if n, ok := q.line.before(k); ok {
			return n
		}
		q.plant()
	}
	count := int32(0)
	for t := q.root; t != Nobody; {
		n := &q.nodes[t]
		if n.key.Less(k) {
			count += q.sizeOf(n.left) + 1
			t = n.right
		} else {
			t = n.left
		}
	}
	return int(count)
}
