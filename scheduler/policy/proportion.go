// This file divides cores in proportion to the requests of jobs.

package policy

import (
	"cmp"
	"slices"
)

// proportionMember is a job that shares the cores of a node.
type proportionMember struct {
	Job             int32
	Want, Low, High int32
	Share           int32 // number of cores, set by divideInProportion
}

// divideInProportion shares cores among members in proportion to Want. Each share is between Low and High; the sum
// of Low must not exceed the cores. Fractions are rounded by largest remainder; ties go to the earlier member.
func divideInProportion(cores int32, members []proportionMember) {
	left := int64(cores)
	open := make([]int, len(members)) // members whose share is not at a bound yet
	for i := range members {
		open[i] = i
	}
	for len(open) > 0 {
		var wants, short, over int64
		for _, i := range open {
			wants += int64(members[i].Want)
		}
		// Compare left × want / wants with the bounds. Both sides are multiplied by wants.
		for _, i := range open {
			m := &members[i]
			exact := left * int64(m.Want)
			short += max(int64(m.Low)*wants-exact, 0)
			over += max(exact-int64(m.High)*wants, 0)
		}
		if short == 0 && over == 0 {
			roundShares(left, wants, members, open)
			return
		}
		// Members at their lower bounds leave less for the others; members at their upper bounds leave more. The
		// group with the greater sum keeps its bounds in the next pass.
		before := left
		open = slices.DeleteFunc(open, func(i int) bool {
			m := &members[i]
			exact := before * int64(m.Want)
			switch {
			case short >= over && exact < int64(m.Low)*wants:
				m.Share = m.Low
			case over >= short && exact > int64(m.High)*wants:
				m.Share = m.High
			default:
				return false
			}
			left -= int64(m.Share)
			return true
		})
	}
}

// roundShares divides left cores among the open members, rounded by largest remainder.
func roundShares(left, wants int64, members []proportionMember, open []int) {
	given := int64(0)
	for _, i := range open {
		members[i].Share = int32(left * int64(members[i].Want) / wants)
		given += int64(members[i].Share)
	}
	slices.SortStableFunc(open, func(a, b int) int {
		return cmp.Compare(left*int64(members[b].Want)%wants, left*int64(members[a].Want)%wants)
	})
	for _, i := range open[:left-given] {
		members[i].Share++
	}
}
