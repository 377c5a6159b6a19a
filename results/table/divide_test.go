package table

import (
	"slices"
	"testing"
)

func TestDivide(t *testing.T) {
	odd, even := Divide([]int{3, 4, 1, 8, 6}, func(n int) bool { return n%2 == 0 })
	if !slices.Equal(odd, []int{3, 1}) || !slices.Equal(even, []int{4, 8, 6}) {
		t.Errorf("%v and %v", odd, even)
	}
}
