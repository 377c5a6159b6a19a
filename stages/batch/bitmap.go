package batch

import "math/bits"

// bitmap is a set of nodes.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitmap) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// each calls a function for each of the nodes.
func (b bitmap) each(do func(node int)) {
	for k, word := range b {
		for ; word != 0; word &= word - 1 {
			do(k*64 + bits.TrailingZeros64(word))
		}
	}
}

// first returns the first of the nodes.
func (b bitmap) first() int {
	for i, w := range b {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return 0
}

// take adds the given nodes, or all n nodes.
func (b bitmap) take(nodes []int, all bool, n int) {
	if all {
		b.fill(n)
	}
	for _, v := range nodes {
		b.set(v)
	}
}

func (b bitmap) fill(n int) {
	for i := range n {
		b.set(i)
	}
}

// reset makes it the set of all nodes.
func (b bitmap) reset() {
	for i := range b {
		b[i] = ^uint64(0)
	}
}

func (b bitmap) copy(o bitmap) { copy(b, o) }

func (b bitmap) and(o bitmap) {
	o = o[:len(b)]
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bitmap) or(o bitmap) {
	o = o[:len(b)]
	for i := range b {
		b[i] |= o[i]
	}
}

func (b bitmap) minus(o bitmap) {
	o = o[:len(b)]
	for i := range b {
		b[i] &^= o[i]
	}
}

func (b bitmap) overlaps(o bitmap) bool {
	o = o[:len(b)]
	for i := range b {
		if b[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// within reports whether all of the set are in another one.
func (b bitmap) within(o bitmap) bool {
	o = o[:len(b)]
	for i := range b {
		if b[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (b bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}
