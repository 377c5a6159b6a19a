package queue

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A sorted list has what was put into it and not taken out, in order.
func TestSortedLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list, want []int
		for _, x := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 200).Draw(t, "numbers") {
			if i := slices.Index(want, x); i >= 0 {
				list, want = DeleteSorted(list, x, cmp.Compare[int]), slices.Delete(want, i, i+1)
			} else {
				list, want = InsertSorted(list, x, cmp.Compare[int]), append(want, x)
			}
			if sorted := slices.Sorted(slices.Values(want)); !slices.Equal(list, sorted) {
				t.Fatalf("the list is %v, want %v", list, sorted)
			}
		}
	})
}
