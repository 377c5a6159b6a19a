package queue

import (
	"math"
	"slices"
	"time"
)

// tree is waiting jobs in order, in blocks of up to 64 neighbors. So an operation reads few places in memory. The
// blocks are the nodes of a treap (R. Seidel, C. R. Aragon, "Randomized Search Trees", 1996). The priorities are
// hashes of block numbers, so the shape of the treap is reproducible.
type tree struct {
	nodes    []node
	blocks   []*block
	lengths  []*[room]time.Duration // lengths of the jobs of each block; empty unless byLength
	vacant   []int32                // numbers of blocks without jobs
	root     int32
	first    int32   // the first block in order
	path     []int32 // result of find
	byLength bool    // limits have a Window
}

// room is the greatest number of jobs in a block.
const room = 64

type block [room]entry

// entry is a waiting job and its request.
type entry struct {
	rank, second int64
	job, cores   int32
}

func (e *entry) key() Key { return Key{e.rank, e.second, e.job} }

// node describes a block and its subtree.
type node struct {
	from        Key // lower bound of the keys in the block, above all keys of earlier blocks
	left, right int32
	prev, next  int32 // neighboring blocks in order
	size        int32 // number of jobs in the subtree
	lo, hi      int32 // the jobs are at the indexes lo … hi-1 of the block
	weight      uint32
	own, all    least // lower bounds for the block, and for the subtree
	loose       bool  // own may be too low, because a job was removed
}

// least has lower bounds of the requests of some jobs.
type least struct {
	cores    int32
	shortest shortest // used only if byLength
}

// nothing is the least of an empty set of jobs.
var nothing = least{math.MaxInt32, shortest(slices.Repeat([]uint16{math.MaxUint16}, len(shortest{})))}

// absorb lowers the bounds in l so that they hold for the jobs of other too.
func (t *tree) absorb(l, other *least) {
	l.cores = min(l.cores, other.cores)
	if t.byLength {
		for k, c := range other.shortest {
			l.shortest[k] = min(l.shortest[k], c)
		}
	}
}

// shortest returns the bounds for one job.
func (a Ask) shortest() (s shortest) {
	own, first := code(a.Length), class(a.Cores)
	for k := range s {
		if s[k] = math.MaxUint16; k >= first {
			s[k] = own
		}
	}
	return s
}

func (t *tree) leastOf(a Ask) least {
	l := least{cores: a.Cores}
	if t.byLength {
		l.shortest = a.shortest()
	}
	return l
}

func newTree(byLength bool) tree { return tree{root: Nobody, first: Nobody, byLength: byLength} }

func (t *tree) empty() bool { return t.root == Nobody }

func (t *tree) len() int { return int(t.nodes[t.root].size) }

// insert adds a job. The number of its block is stored in slots, and updated when the job moves.
func (t *tree) insert(k Key, a Ask, slots *slots) {
	if t.root == Nobody {
		t.root = t.block(k, Nobody, Nobody)
		t.first = t.root
	}
	b := t.find(k)
	if n := &t.nodes[b]; n.hi-n.lo == room {
		b = t.divide(b, k, slots)
		t.find(k) // sets path
	}
	n := &t.nodes[b]
	if k.Less(n.from) { // k is before the first block
		n.from = k
	}
	i := t.shift(b, t.search(b, k))
	t.blocks[b][i] = entry{k.Rank, k.Second, k.Job, a.Cores}
	slots.set(k.Job, b)
	for _, c := range t.path {
		n := &t.nodes[c]
		n.size++
		n.all.cores = min(n.all.cores, a.Cores)
	}
	n.own.cores = min(n.own.cores, a.Cores)
	if t.byLength {
		t.lengths[b][i] = a.Length
		least := t.leastOf(a)
		t.absorb(&n.own, &least)
		for _, c := range t.path {
			t.absorb(&t.nodes[c].all, &least)
		}
	}
}

// block creates an empty block after block prev.
func (t *tree) block(from Key, prev, next int32) int32 {
	b := int32(len(t.nodes))
	if n := len(t.vacant); n > 0 {
		b, t.vacant = t.vacant[n-1], t.vacant[:n-1]
	} else {
		t.nodes, t.blocks = append(t.nodes, node{}), append(t.blocks, new(block))
		if t.byLength {
			t.lengths = append(t.lengths, new([room]time.Duration))
		}
	}
	t.nodes[b] = node{
		from: from, left: Nobody, right: Nobody, prev: prev, next: next, weight: weightOf(b), own: nothing, all: nothing,
	}
	return b
}

// weightOf returns the priority of a block. It is the finalizer of MurmurHash3 (A. Appleby), which gives different
// blocks different values.
func weightOf(block int32) uint32 {
	h := uint32(block) + 0x9e3779b9
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// find returns the block to which a key belongs: the last block whose bound from is not after the key, or the first
// block. It stores the blocks from the root to it in path.
func (t *tree) find(k Key) int32 {
	path, depth := t.path[:0], 0
	for c := t.root; c != Nobody; {
		path = append(path, c)
		if n := &t.nodes[c]; k.Less(n.from) {
			c = n.left
		} else {
			c, depth = n.right, len(path)
		}
	}
	if depth == 0 { // only left branches were taken
		depth = len(path)
	}
	t.path = path[:depth]
	return path[depth-1]
}

// search returns the index of the first job of a block whose key is k or after it.
func (t *tree) search(b int32, k Key) int32 {
	lo, hi, jobs := t.nodes[b].lo, t.nodes[b].hi, t.blocks[b]
	for lo < hi {
		if mid := (lo + hi) / 2; jobs[mid].key().Less(k) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// shift moves jobs of a block that is not full, to make room before index i. It returns the index of the free place.
func (t *tree) shift(b, i int32) int32 {
	n := &t.nodes[b]
	if n.lo > 0 && (n.hi == room || i-n.lo < n.hi-i) {
		t.move(b, n.lo-1, b, n.lo, i)
		n.lo--
		return i - 1
	}
	t.move(b, i+1, b, i, n.hi)
	n.hi++
	return i
}

// move copies the jobs at the indexes lo … hi-1 of block from to block to, from index at on.
func (t *tree) move(to, at, from, lo, hi int32) {
	copy(t.blocks[to][at:], t.blocks[from][lo:hi])
	if t.byLength {
		copy(t.lengths[to][at:], t.lengths[from][lo:hi])
	}
}

// pass moves the jobs of a block from index lo on to the end of another block.
func (t *tree) pass(from, lo, to int32, slots *slots) {
	giver, taker := &t.nodes[from], &t.nodes[to]
	moved := giver.hi - lo
	if taker.hi+moved > room {
		t.move(to, 0, to, taker.lo, taker.hi)
		taker.lo, taker.hi = 0, taker.hi-taker.lo
	}
	t.move(to, taker.hi, from, lo, giver.hi)
	for _, e := range t.blocks[to][taker.hi : taker.hi+moved] {
		slots.set(e.job, to)
	}
	giver.hi, taker.hi = lo, taker.hi+moved
	t.walk(from, -moved, nil)
	giver.loose, taker.loose = true, true
}

// walk updates the sizes and bounds of the subtrees from the root to a block, after jobs were added to it or
// removed.
func (t *tree) walk(b, jobs int32, asks *least) {
	from := t.nodes[b].from
	for c := t.root; ; {
		n := &t.nodes[c]
		n.size += jobs
		if asks != nil {
			t.absorb(&n.all, asks)
		}
		switch {
		case c == b:
			return
		case from.Less(n.from):
			c = n.left
		default:
			c = n.right
		}
	}
}

// divide splits a full block in two, and returns the block for key k.
func (t *tree) divide(b int32, k Key, slots *slots) int32 {
	n := &t.nodes[b]
	half, from := int32(room/2), t.blocks[b][room/2].key()
	if last := t.blocks[b][room-1].key(); n.next == Nobody && last.Less(k) { // jobs arrive in order
		half, from = room, k
	}
	next := n.next
	added := t.block(from, b, next)
	t.nodes[b].next = added
	if next != Nobody {
		t.nodes[next].prev = added
	}
	t.root = t.plant(t.root, added)
	t.pass(b, half, added, slots)
	own := t.nodes[b].own
	t.nodes[added].own = own
	t.walk(added, room-half, &own)
	if k.Less(from) {
		return b
	}
	return added
}

// plant adds an empty block to a subtree, and returns the root of the subtree.
func (t *tree) plant(root, added int32) int32 {
	n := &t.nodes[added]
	if root == Nobody || n.weight > t.nodes[root].weight {
		n.left, n.right = t.split(root, n.from)
		t.refresh(added)
		return added
	}
	if at := &t.nodes[root]; n.from.Less(at.from) {
		at.left = t.plant(at.left, added)
	} else {
		at.right = t.plant(at.right, added)
	}
	return root
}

// split splits a subtree into the blocks before k and the others.
func (t *tree) split(root int32, k Key) (before, after int32) {
	if root == Nobody {
		return Nobody, Nobody
	}
	n := &t.nodes[root]
	if n.from.Less(k) {
		n.right, after = t.split(n.right, k)
		t.refresh(root)
		return root, after
	}
	before, n.left = t.split(n.left, k)
	t.refresh(root)
	return before, root
}

// refresh computes the bounds and the size of a subtree from its parts.
func (t *tree) refresh(b int32) {
	n := &t.nodes[b]
	n.size, n.all = n.hi-n.lo, n.own
	for _, c := range [2]int32{n.left, n.right} {
		if c != Nobody {
			child := &t.nodes[c]
			n.size += child.size
			t.absorb(&n.all, &child.all)
		}
	}
}

// remove removes a job.
func (t *tree) remove(job int32, slots *slots) {
	b, i := t.locate(job, slots)
	n := &t.nodes[b]
	if i-n.lo < n.hi-i-1 {
		t.move(b, n.lo+1, b, n.lo, i)
		n.lo++
	} else {
		t.move(b, i, b, i+1, n.hi)
		n.hi--
	}
	n.loose = true
	t.walk(b, -1, nil)
	switch next := n.next; {
	case n.lo == n.hi:
		t.drop(b)
	case b != t.first && n.hi-n.lo < room/4 && next != Nobody && t.nodes[next].hi-t.nodes[next].lo < room/2:
		moved, own := t.nodes[next].hi-t.nodes[next].lo, t.nodes[next].own
		t.pass(next, t.nodes[next].lo, b, slots)
		t.absorb(&n.own, &own)
		t.walk(b, moved, &own)
		t.drop(next)
	}
}

// locate returns the block of a job, and the job's index in it. Usually the job is the first of its block.
func (t *tree) locate(job int32, slots *slots) (b, i int32) {
	b = t.first
	if i = t.nodes[b].lo; t.blocks[b][i].job == job {
		return b, i
	}
	b = slots.of(job)
	jobs := t.blocks[b]
	for i = t.nodes[b].lo; jobs[i].job != job; {
		i++
	}
	return b, i
}

// drop removes an empty block.
func (t *tree) drop(b int32) {
	n := &t.nodes[b]
	if n.prev != Nobody {
		t.nodes[n.prev].next = n.next
	} else {
		t.first = n.next
	}
	if n.next != Nobody {
		t.nodes[n.next].prev = n.prev
	}
	t.root = t.uproot(t.root, b)
	t.vacant = append(t.vacant, b)
}

// uproot removes an empty block from a subtree, and returns the root of the subtree.
func (t *tree) uproot(root, gone int32) int32 {
	n := &t.nodes[root]
	if root == gone {
		return t.join(n.left, n.right)
	}
	if t.nodes[gone].from.Less(n.from) {
		n.left = t.uproot(n.left, gone)
	} else {
		n.right = t.uproot(n.right, gone)
	}
	t.refresh(root)
	return root
}

func (t *tree) join(a, b int32) int32 {
	switch {
	case a == Nobody:
		return b
	case b == Nobody:
		return a
	case t.nodes[a].weight > t.nodes[b].weight:
		t.nodes[a].right = t.join(t.nodes[a].right, b)
		t.refresh(a)
		return a
	}
	t.nodes[b].left = t.join(a, t.nodes[b].left)
	t.refresh(b)
	return b
}

func (t *tree) keyOf(job int32, slots *slots) Key {
	b, i := t.locate(job, slots)
	return t.blocks[b][i].key()
}

func (t *tree) askOf(job int32, slots *slots) Ask { return t.ask(t.locate(job, slots)) }

// ask returns the request of the job at index i of a block. Its Length is set only if byLength.
func (t *tree) ask(b, i int32) Ask {
	a := Ask{Cores: t.blocks[b][i].cores}
	if t.byLength {
		a.Length = t.lengths[b][i]
	}
	return a
}

// firstOf implements Queue.First.
func (t *tree) firstOf(most int, jobs []int32) []int32 {
	for b := t.first; b != Nobody && most > 0; b = t.nodes[b].next {
		n := &t.nodes[b]
		some := t.blocks[b][n.lo:min(n.hi, n.lo+int32(most))]
		for i := range some {
			jobs = append(jobs, some[i].job)
		}
		most -= len(some)
	}
	return jobs
}

// next returns the first job after a key that is within the limit, or Nobody.
func (t *tree) next(after Key, within Limit) int32 {
	if !within.allowsAny(&t.nodes[t.root].all) {
		return Nobody
	}
	b := t.first
	i := t.nodes[b].lo
	if !after.Less(t.blocks[b][i].key()) {
		if next := t.nodes[b].next; next != Nobody && !after.Less(t.nodes[next].from) {
			b = t.find(after)
		}
		i = t.search(b, after)
		if i < t.nodes[b].hi && t.blocks[b][i].key() == after {
			i++
		}
	}
	if job := t.scan(b, i, within); job != Nobody {
		return job
	}
	return t.beyond(t.root, t.nodes[b].from, within)
}

// scan returns the first job of a block at index i or later that is within the limit, or Nobody.
func (t *tree) scan(b, i int32, within Limit) int32 {
	n := &t.nodes[b]
	if !within.allowsAny(&n.own) {
		return Nobody
	}
	for ; i < n.hi; i++ {
		if t.blocks[b][i].cores <= within.Free && within.allows(t.ask(b, i)) {
			return t.blocks[b][i].job
		}
	}
	if n.loose {
		n.own, n.loose = nothing, false
		for i := n.lo; i < n.hi; i++ {
			least := t.leastOf(t.ask(b, i))
			t.absorb(&n.own, &least)
		}
	}
	return Nobody
}

// beyond returns the first job within the limit, of the blocks of a subtree whose bound from is after k; or Nobody.
func (t *tree) beyond(root int32, k Key, within Limit) int32 {
	if root == Nobody {
		return Nobody
	}
	n := &t.nodes[root]
	if !within.allowsAny(&n.all) {
		return Nobody
	}
	if k.Less(n.from) {
		if job := t.beyond(n.left, k, within); job != Nobody {
			return job
		}
		if job := t.scan(root, n.lo, within); job != Nobody {
			return job
		}
	}
	if job := t.beyond(n.right, k, within); job != Nobody {
		return job
	}
	t.refresh(root) // a removed job may have made the bounds too low, which lets a search continue in vain
	return Nobody
}

// before returns the number of jobs before key k.
func (t *tree) before(k Key) int {
	count, last := int32(0), Nobody
	for c := t.root; c != Nobody; {
		n := &t.nodes[c]
		if k.Less(n.from) {
			c = n.left
			continue
		}
		if n.left != Nobody {
			count += t.nodes[n.left].size
		}
		count += n.hi - n.lo
		last, c = c, n.right
	}
	if last != Nobody {
		count -= t.nodes[last].hi - t.search(last, k)
	}
	return int(count)
}
