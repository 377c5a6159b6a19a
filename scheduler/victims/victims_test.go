package victims

import (
	"slices"
	"testing"
)

func TestVictimsAreInOrder(t *testing.T) {
	var l List
	for _, v := range []Victim{{2, 1, 0}, {1, 2, 1}, {1, 1, 2}, {1, 1, 3}, {-1, 9, 4}} {
		l.Offer(v)
	}
	l.Withdraw(Victim{1, 2, 1})
	var jobs []int32
	for _, v := range l {
		jobs = append(jobs, v.Job)
	}
	if want := []int32{4, 3, 2, 0}; !slices.Equal(jobs, want) {
		t.Errorf("the order is %v, want %v", jobs, want)
	}
}
