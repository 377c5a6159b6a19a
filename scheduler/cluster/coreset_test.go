package cluster

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCoreSetText(t *testing.T) {
	for _, text := range []string{"", "0", "0-3", "0-3,7", "2,4,6-100"} {
		var s CoreSet
		if err := s.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if back, err := s.MarshalText(); err != nil || string(back) != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
	}
	for _, text := range []string{"a", "1-", "-1", "3-1", "1,1", "4,2", "0-3,2", "99999999999", "2147483647"} {
		var s CoreSet
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, s)
		}
	}
}

// The parts of a divided set join to the same set. The map of free slots gives out the lowest slots first.
func TestCoreSetsAndSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Slots{Bounds: []int32{0}}
		s.AddNode(int32(rapid.IntRange(1, 70).Draw(t, "first node")))
		s.AddNode(int32(rapid.IntRange(1, 70).Draw(t, "second node")))
		all := s.Bounds[2]
		free := make([]bool, all)
		for c := range free {
			free[c] = rapid.Bool().Draw(t, "free")
			s.Mark(CoreSet{{Lo: int32(c), Hi: int32(c) + 1}}, free[c])
		}
		var want []int
		for c := range free {
			if free[c] && s.NodeOf(int32(c)) == 1 {
				want = append(want, c)
			}
		}
		n := rapid.IntRange(0, len(want)).Draw(t, "n")
		set := CoreSet(s.Lowest(nil, 0, s.Bounds[1], s.Bounds[2], int32(n)))
		var got []int
		set.Each(func(c int) { got = append(got, c) })
		if len(got) != n || set.Count() != n {
			t.Fatalf("%s is not %d of %v", set, n, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%s is not %v", set, want[:n])
			}
		}
		if !s.AllFree(set) {
			t.Fatalf("%s is not free", set)
		}
		k := rapid.IntRange(0, n).Draw(t, "k")
		low, rest := set.Cut(k)
		if low.Count() != k || low.Union(rest).String() != set.String() {
			t.Fatalf("%s is cut into %s and %s", set, low, rest)
		}
	})
}
