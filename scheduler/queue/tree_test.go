package queue

import (
	"slices"
	"testing"
	"time"
)

// sound fails the test unless the summaries of a tree's blocks agree with the jobs in them. It returns the number of
// blocks.
func sound(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, tree *tree) int {
	t.Helper()
	var row []int32
	var down func(root int32) (size int32)
	down = func(root int32) int32 {
		if root == Nobody {
			return 0
		}
		n := &tree.nodes[root]
		size := n.hi - n.lo + down(n.left)
		row = append(row, root)
		size += down(n.right)
		for _, c := range []int32{n.left, n.right} {
			if c == Nobody {
				continue
			}
			both := n.all
			if tree.absorb(&both, &tree.nodes[c].all); tree.nodes[c].weight > n.weight || both != n.all {
				t.Fatalf("block %d %+v is below block %d %+v", c, tree.nodes[c], root, *n)
			}
		}
		if both := n.all; n.size != size || n.lo >= n.hi || n.hi > room {
			t.Fatalf("block %d has a subtree of %d jobs, and says %+v", root, size, *n)
		} else if tree.absorb(&both, &n.own); both != n.all {
			t.Fatalf("block %d asks for less than its subtree: %+v", root, *n)
		}
		return size
	}
	down(tree.root)
	prev := Nobody
	for i, b := range row {
		n := &tree.nodes[b]
		next := Nobody
		if i+1 < len(row) {
			next = row[i+1]
		}
		if n.prev != prev || n.next != next || i == 0 && tree.first != b {
			t.Fatalf("block %d stands between %d and %d, want %d and %d", b, n.prev, n.next, prev, next)
		}
		prev = b
		asks := nothing
		for i := n.lo; i < n.hi; i++ {
			key := tree.blocks[b][i].key()
			if key.Less(n.from) || i > n.lo && !tree.blocks[b][i-1].key().Less(key) ||
				next != Nobody && !key.Less(tree.nodes[next].from) {
				t.Fatalf("%v of block %d from %v on is out of order", key, b, n.from)
			}
			least := tree.leastOf(tree.ask(b, i))
			tree.absorb(&asks, &least)
		}
		both := n.own
		if tree.absorb(&both, &asks); both != n.own || !n.loose && n.own != asks {
			t.Fatalf("block %d asks for %+v, and says %+v", b, asks, *n)
		}
	}
	return len(row)
}

// planted returns a tree of 640 jobs that were inserted in order. It has ten blocks.
func planted(t *testing.T) (*tree, *slots) {
	t.Helper()
	tree, slots := newTree(true), slotsFor(640)
	for j := range int32(640) {
		tree.insert(Key{Job: j}, Ask{Cores: 1 + j%5}, slots)
	}
	if blocks := sound(t, &tree); blocks != 10 {
		t.Fatalf("640 jobs in order are in %d blocks of %d", blocks, room)
	}
	return &tree, slots
}

// If few jobs remain in a block and in the next one, the blocks are joined, wherever the jobs are in them. The tree
// stays in order, and its counts are right.
func TestSmallBlocksAreJoined(t *testing.T) {
	for about, stays := range map[string]func(j int32) bool{
		"every eighth":       func(j int32) bool { return j%8 == 0 },
		"the last of blocks": func(j int32) bool { return j%room >= room-8 },
	} {
		tree, slots := planted(t)
		var want []int32
		for b := int32(9); b >= 0; b-- {
			for j := b * room; j < (b+1)*room; j++ {
				if !stays(j) {
					tree.remove(j, slots)
				}
			}
			sound(t, tree)
		}
		for j := range int32(640) {
			if stays(j) {
				want = append(want, j)
			}
		}
		var got []int32
		for j := tree.next(Front, Anyone); j != Nobody; j = tree.next(tree.keyOf(j, slots), Anyone) {
			if before := tree.before(tree.keyOf(j, slots)); before != len(got) {
				t.Fatalf("%s: %d jobs come before %d, want %d", about, before, j, len(got))
			}
			got = append(got, j)
		}
		if blocks := sound(t, tree); !slices.Equal(got, want) || blocks > 5 {
			t.Errorf("%s: %v in %d blocks, want %v in at most 5", about, got, blocks, want)
		}
		if added := len(tree.nodes); added != 10 {
			t.Errorf("%s: %d blocks were made", about, added)
		}
	}
}

// A job that is inserted in the middle of a full block splits it in half. A job behind all others begins a new block.
func TestFullBlocksAreDivided(t *testing.T) {
	tree, slots := newTree(false), slotsFor(200)
	for j := range int32(room) {
		tree.insert(Key{Rank: 2 * int64(j), Job: j}, Ask{Cores: 2}, slots)
	}
	tree.insert(Key{Rank: 200, Job: 100}, Ask{Cores: 2}, slots) // behind all others
	tree.insert(Key{Rank: 31, Job: 101}, Ask{Cores: 1}, slots)  // in the middle
	sound(t, &tree)
	var sizes []int32
	for b := tree.first; b != Nobody; b = tree.nodes[b].next {
		sizes = append(sizes, tree.nodes[b].hi-tree.nodes[b].lo)
	}
	if want := []int32{room/2 + 1, room / 2, 1}; !slices.Equal(sizes, want) {
		t.Errorf("the blocks have %v jobs, want %v", sizes, want)
	}
}

// Class k has the requests for 2^k to 2^(k+1)-1 cores. The last class has all larger requests.
func TestClassesOfCores(t *testing.T) {
	for cores, want := range map[int32]int{1: 0, 2: 1, 3: 1, 4: 2, 7: 2, 8: 3, 127: 6, 128: 7, 255: 7, 256: 7, 1 << 30: 7} {
		if got := class(cores); got != want {
			t.Errorf("%d cores are of class %d, want %d", cores, got, want)
		}
	}
	for length, want := range map[int64]uint16{-1: 0, 0: 0, 1: 1, 2047: 2047, 2048: 2048, 2049: 2048, 2050: 2049, 4096: 3072} {
		if got := code(time.Duration(length)); got != want {
			t.Errorf("a length of %d has the code %d, want %d", length, got, want)
		}
	}
}

// A job is inserted into a block by moving the jobs on the side with fewer of them, if there is room on that side.
func TestTheShorterSideMoves(t *testing.T) {
	for _, c := range []struct{ lo, hi, at, wantLo, wantHi, want int32 }{
		{10, 20, 12, 9, 20, 11}, {10, 20, 18, 10, 21, 18}, {10, 20, 15, 10, 21, 15},
		{0, 20, 2, 0, 21, 2}, {10, room, room - 1, 9, room, room - 2},
	} {
		tree := newTree(true)
		b := tree.block(Front, Nobody, Nobody)
		for i := c.lo; i < c.hi; i++ {
			tree.blocks[b][i].job, tree.lengths[b][i] = i, time.Duration(i)
		}
		tree.nodes[b].lo, tree.nodes[b].hi = c.lo, c.hi
		at := tree.shift(b, c.at)
		if n := tree.nodes[b]; at != c.want || n.lo != c.wantLo || n.hi != c.wantHi {
			t.Errorf("%+v: at %d, from %d to %d", c, at, n.lo, n.hi)
		}
		job := c.lo
		for i := c.wantLo; i < c.wantHi; i++ {
			if i == at {
				continue
			}
			if e := tree.blocks[b][i]; e.job != job || tree.lengths[b][i] != time.Duration(job) {
				t.Errorf("%+v: job %d is at %d, want %d", c, e.job, i, job)
			}
			job++
		}
	}
}
