package division

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackPlacesAll packs jobs of 1, 2 and 4 GPUs and of whole nodes, some already
// placed, on all but the first of nine nodes of 4 GPUs.
func TestPackPlacesAll(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	capacity := slices.Repeat([]int{4}, 9)
	nodes := []int{1, 2, 3, 4, 5, 6, 7, 8}
	for round := range 500 {
		var wants []Want
		for left := 32; left > 0; {
			n := []int{0, 1, 1, 2, 2, 4, 8, 12}[random.IntN(8)]
			if n = min(n, left); n == 3 {
				n = 2
			}
			left -= n
			wants = append(wants, Want{GPUs: n})
		}
		free := make([]int, 9)
		for _, v := range nodes {
			free[v] = 4
		}
		for i := range wants { // some hold GPUs, in places that are left over
			if n := wants[i].GPUs; n > 0 && n < 4 && random.IntN(2) == 0 {
				if v := nodes[random.IntN(len(nodes))]; free[v] >= n {
					wants[i].Held = make([]int, 9)
					wants[i].Held[v] = n
					free[v] -= n
				}
			}
		}
		d := Pack(capacity, nodes, wants)
		for i, w := range wants {
			on, gpus := extent(d[i])
			if gpus != w.GPUs || on != (w.GPUs+3)/4 {
				t.Fatalf("round %d: %d GPUs on %d nodes for job %d of %+v", round, gpus, on, i, wants)
			}
		}
		if left := Free(capacity, d); slices.Min(left) < 0 || left[0] != 4 {
			t.Fatalf("round %d: %v GPUs are left on each node", round, left)
		}
	}
}

func TestPackKeepsWhatIsThere(t *testing.T) {
	wants := []Want{{GPUs: 2, Held: []int{0, 2}}, {GPUs: 2}, {GPUs: 4}}
	d := Pack([]int{4, 4}, []int{0, 1}, wants)
	if !same(d[0], []int{0, 2}) || !same(d[1], []int{0, 2}) || !same(d[2], []int{4}) {
		t.Errorf("packed as %v", d)
	}
	wants = []Want{{GPUs: 1, Held: []int{1}}, {GPUs: 1, Held: []int{0, 1}}, {GPUs: 4}} // in the way of the third
	if d = Pack([]int{4, 4}, []int{0, 1}, wants); Total(d[2]) != 4 || !same(d[0], d[1]) {
		t.Errorf("packed as %v", d)
	}
	if d = Pack([]int{3, 3}, []int{0, 1}, []Want{{GPUs: 2}, {GPUs: 2}, {GPUs: 2}}); !same(d[2], []int{1, 1}) {
		t.Errorf("packed as %v: what fits no node is divided", d)
	}
}
