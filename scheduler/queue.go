package scheduler

import (
	"math"
	"math/bits"
	"time"
)

// key places a waiting job in the policy's order: smaller is earlier.
type key struct {
	rank   int64 // what the policy orders by
	second int64 // the arrival, for most
	job    int32
}

func (a key) less(b key) bool {
	if a.rank != b.rank {
		return a.rank < b.rank
	}
	if a.second != b.second {
		return a.second < b.second
	}
	return a.job < b.job
}

// front is a key before all others.
var front = key{math.MinInt64, math.MinInt64, -1}

// ask is the least that a waiting job needs in order to start, for passing
// over whole stretches of the queue at once.
type ask struct {
	cores  int32         // on one node
	length time.Duration // expected run time on the full request
}

// queue holds the waiting jobs in the policy's order. It is a treap (R. Seidel,
// C. R. Aragon, "Randomized Search Trees", 1996) whose priorities are a hash of
// the job number, so that its shape is reproducible. Each node knows the size of
// its subtree and the least that its jobs ask for. All operations take O(log n)
// expected time, and the memory is that of the longest queue there was.
type queue struct {
	nodes    []queueNode
	vacant   []int32 // indexes of nodes that no job has
	nodeOf   []int32 // by job number; only of jobs in the queue
	root     int32
	byLength bool // limits have a window
}

type queueNode struct {
	key         key // has the job
	ask         ask
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

const nobody = int32(-1)

func newQueue(jobs int, byLength bool) *queue {
	return &queue{nodeOf: make([]int32, jobs), root: nobody, byLength: byLength}
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

func (q *queue) len() int { return int(q.sizeOf(q.root)) }

func (q *queue) sizeOf(t int32) int32 {
	if t == nobody {
		return 0
	}
	return q.nodes[t].size
}

// refresh recomputes what a node knows of its subtree.
func (q *queue) refresh(t int32) {
	n := &q.nodes[t]
	n.size, n.cores = 1, n.ask.cores
	if q.byLength {
		n.shortest = n.ask.shortest()
	}
	if n.left != nobody {
		child := &q.nodes[n.left]
		n.size += child.size
		q.absorb(n, child)
	}
	if n.right != nobody {
		child := &q.nodes[n.right]
		n.size += child.size
		q.absorb(n, child)
	}
}

// absorb lets a node know of what another one knows.
func (q *queue) absorb(n, other *queueNode) {
	n.cores = min(n.cores, other.cores)
	if q.byLength {
		for k, c := range other.shortest {
			n.shortest[k] = min(n.shortest[k], c)
		}
	}
}

func (a ask) shortest() (s shortest) {
	own, first := code(a.length), class(a.cores)
	for k := range s {
		if s[k] = math.MaxUint16; k >= first {
			s[k] = own
		}
	}
	return s
}

// insert adds a job that is not in the queue.
func (q *queue) insert(k key, a ask) {
	var t int32
	if n := len(q.vacant); n > 0 {
		t = q.vacant[n-1]
		q.vacant = q.vacant[:n-1]
	} else {
		t = int32(len(q.nodes))
		q.nodes = append(q.nodes, queueNode{})
	}
	q.nodeOf[k.job] = t
	n := &q.nodes[t]
	n.key, n.ask, n.left, n.right, n.weight = k, a, nobody, nobody, weightOf(k.job)
	q.root = q.insertAt(q.root, t)
}

func (q *queue) insertAt(t, added int32) int32 {
	n := &q.nodes[added]
	if t == nobody || n.weight > q.nodes[t].weight {
		n.left, n.right = q.split(t, n.key)
		q.refresh(added)
		return added
	}
	at := &q.nodes[t]
	if n.key.less(at.key) {
		at.left = q.insertAt(at.left, added)
	} else {
		at.right = q.insertAt(at.right, added)
	}
	at.size++
	at.cores = min(at.cores, n.ask.cores)
	if q.byLength {
		own := code(n.ask.length)
		for k := class(n.ask.cores); k < len(at.shortest); k++ {
			at.shortest[k] = min(at.shortest[k], own)
		}
	}
	return t
}

// split divides a subtree into what is before k and what is not.
func (q *queue) split(t int32, k key) (before, after int32) {
	if t == nobody {
		return nobody, nobody
	}
	n := &q.nodes[t]
	if n.key.less(k) {
		n.right, after = q.split(n.right, k)
		q.refresh(t)
		return t, after
	}
	before, n.left = q.split(n.left, k)
	q.refresh(t)
	return before, t
}

// remove takes a job out that is in the queue.
func (q *queue) remove(job int32) {
	gone := q.nodeOf[job]
	q.root = q.removeAt(q.root, gone)
	q.vacant = append(q.vacant, gone)
}

func (q *queue) removeAt(t, gone int32) int32 {
	n := &q.nodes[t]
	if t == gone {
		return q.join(n.left, n.right)
	}
	if q.nodes[gone].key.less(n.key) {
		n.left = q.removeAt(n.left, gone)
	} else {
		n.right = q.removeAt(n.right, gone)
	}
	q.refresh(t)
	return t
}

func (q *queue) join(a, b int32) int32 {
	switch {
	case a == nobody:
		return b
	case b == nobody:
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

// keyOf returns the key that a job in the queue was inserted with.
func (q *queue) keyOf(job int32) key { return q.nodes[q.nodeOf[job]].key }

// limit says which jobs are worth a look: those that ask for at most free
// cores, and either run for at most window or ask for at most spare cores.
type limit struct {
	free   int32
	window time.Duration
	spare  int32
}

// anyAsk is more than any job needs.
var anyAsk = ask{math.MaxInt32, Never}

// anyone is a limit that leaves nobody out.
var anyone = limit{math.MaxInt32, Never, math.MaxInt32}

func (l limit) allows(a ask) bool {
	return a.cores <= l.free && (a.length <= l.window || a.cores <= l.spare)
}

// allowsAny tells whether the limit may allow a job of a subtree.
func (l limit) allowsAny(n *queueNode) bool {
	return n.cores <= l.free && (l.window == Never || n.cores <= l.spare || n.shortest[class(l.free)] <= code(l.window))
}

// next returns the first job after k that is within the limit, or nobody.
func (q *queue) next(after key, l limit) int32 { return q.nextAt(q.root, after, l) }

func (q *queue) nextAt(t int32, after key, l limit) int32 {
	for t != nobody {
		n := &q.nodes[t]
		if !l.allowsAny(n) {
			return nobody
		}
		if after.less(n.key) {
			if found := q.nextAt(n.left, after, l); found != nobody {
				return found
			}
			if l.allows(n.ask) {
				return n.key.job
			}
		}
		t = n.right
	}
	return nobody
}

// before returns how many jobs of the queue come before k.
func (q *queue) before(k key) int {
	count := int32(0)
	for t := q.root; t != nobody; {
		n := &q.nodes[t]
		if n.key.less(k) {
			count += q.sizeOf(n.left) + 1
			t = n.right
		} else {
			t = n.left
		}
	}
	return int(count)
}
