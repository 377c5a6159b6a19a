package scheduler

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// TestAJobGetsItsPartsBack checks that a job lacks the parts that it has lost, but not parts that failed by themselves.
// Those count again after a new start, or after a request for another number of parts.
func TestAJobGetsItsPartsBack(t *testing.T) {
	of := &Job{Special: &Special{Roles: []Role{{Name: "chief", Count: 1, Threads: 1},
		{Name: "worker", Count: 3, Min: 1, Max: 5, Threads: 1}}}}
	held := []cluster.Part{{Role: "chief"}, {Role: "worker", Task: 1}}
	var p missingRoles
	tasks := func() (n []int) {
		for _, a := range p.Lacks(7, of, held) {
			n = append(n, a.Task)
		}
		return n
	}
	if got := tasks(); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("it lacks the workers %v", got)
	}
	p.Failed(7, "worker", 2)
	if got := tasks(); !slices.Equal(got, []int{0}) {
		t.Errorf("it lacks the workers %v beside one that failed", got)
	}
	p.Ask(7, []int{1, 4})
	if got := tasks(); !slices.Equal(got, []int{0, 2, 3}) || p.Wanted(7, 1, of) != 4 || !p.Asked(7) {
		t.Errorf("asked to have four, it lacks the workers %v", got)
	}
	p.Failed(7, "worker", 3)
	p.Started(7)
	p.Withdraw(7)
	if got := tasks(); !slices.Equal(got, []int{0, 2}) || p.Wanted(7, 1, of) != 3 || p.AskedAny() {
		t.Errorf("started anew, it lacks the workers %v", got)
	}
}

// TestSettleKeepsTheOrder checks that jobs whose parts are still missing stay in their order.
func TestSettleKeepsTheOrder(t *testing.T) {
	var p missingRoles
	for _, j := range []int32{4, 2, 9, 2} {
		p.Note(j, func(a, b int32) int { return cmp.Compare(a, b) })
	}
	if err := p.Settle(func(j int32) (bool, error) { return j == 4, nil }); err != nil ||
		!slices.Equal(p.Amiss(), []int32{2, 9}) {
		t.Errorf("amiss: %v, %v", p.Amiss(), err)
	}
	broken := errors.New("broken")
	if err := p.Settle(func(int32) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}
