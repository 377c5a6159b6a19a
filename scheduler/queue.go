package scheduler

import (
	"math"
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

// queue holds the waiting jobs in the policy's order. It is a treap over job
// numbers (R. Seidel, C. R. Aragon, "Randomized Search Trees", 1996) whose
// priorities are a hash of the number, so that its shape is reproducible.
// Each node knows the size of its subtree and the least that any job in it
// asks for. All operations take O(log n) expected time.
type queue struct {
	nodes []queueNode // by job number
	root  int32
}

type queueNode struct {
	key         key
	ask, least  ask // of the job, of its subtree
	left, right int32
	size        int32 // of the subtree
	weight      uint32
}

const nobody = int32(-1)

func newQueue(jobs int) *queue {
	q := &queue{nodes: make([]queueNode, jobs), root: nobody}
	for i := range q.nodes {
		// The finalizer of MurmurHash3 (A. Appleby), a bijection.
		h := uint32(i) + 0x9e3779b9
		h ^= h >> 16
		h *= 0x85ebca6b
		h ^= h >> 13
		h *= 0xc2b2ae35
		h ^= h >> 16
		q.nodes[i].weight = h
	}
	return q
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
	n.size, n.least = 1, n.ask
	if n.left != nobody {
		n.absorb(&q.nodes[n.left])
	}
	if n.right != nobody {
		n.absorb(&q.nodes[n.right])
	}
}

func (n *queueNode) absorb(child *queueNode) {
	n.size += child.size
	n.least.cores = min(n.least.cores, child.least.cores)
	n.least.length = min(n.least.length, child.least.length)
}

// insert adds a job that is not in the queue.
func (q *queue) insert(k key, a ask) {
	n := &q.nodes[k.job]
	n.key, n.ask, n.left, n.right = k, a, nobody, nobody
	q.root = q.insertAt(q.root, k.job)
}

func (q *queue) insertAt(t, job int32) int32 {
	n := &q.nodes[job]
	if t == nobody || n.weight > q.nodes[t].weight {
		n.left, n.right = q.split(t, n.key)
		q.refresh(job)
		return job
	}
	at := &q.nodes[t]
	if n.key.less(at.key) {
		at.left = q.insertAt(at.left, job)
	} else {
		at.right = q.insertAt(at.right, job)
	}
	at.size++
	at.least.cores = min(at.least.cores, n.ask.cores)
	at.least.length = min(at.least.length, n.ask.length)
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
func (q *queue) remove(job int32) { q.root = q.removeAt(q.root, job) }

func (q *queue) removeAt(t, job int32) int32 {
	n := &q.nodes[t]
	if t == job {
		return q.join(n.left, n.right)
	}
	if q.nodes[job].key.less(n.key) {
		n.left = q.removeAt(n.left, job)
	} else {
		n.right = q.removeAt(n.right, job)
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
func (q *queue) keyOf(job int32) key { return q.nodes[job].key }

// limit says which jobs are worth a look: those that ask for at most free
// cores, and either run for at most window or ask for at most spare cores.
type limit struct {
	free   int32
	window time.Duration
	spare  int32
}

// anyone is a limit that leaves nobody out.
var anyone = limit{math.MaxInt32, Never, math.MaxInt32}

func (l limit) allows(a ask) bool {
	return a.cores <= l.free && (a.length <= l.window || a.cores <= l.spare)
}

// next returns the first job after k that is within the limit, or nobody.
func (q *queue) next(after key, l limit) int32 { return q.nextAt(q.root, after, l) }

func (q *queue) nextAt(t int32, after key, l limit) int32 {
	for t != nobody {
		n := &q.nodes[t]
		if !l.allows(n.least) {
			return nobody
		}
		if after.less(n.key) {
			if found := q.nextAt(n.left, after, l); found != nobody {
				return found
			}
			if l.allows(n.ask) {
				return t
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
