// Proportion divides cores in proportion to the demands of jobs.

package policy

import (
	"cmp"
	"slices"
)

// Member is a job that takes part in the sharing of a node's cores.
type proportionMember struct {
	Job             int32
	Want, Low, High int32
	Share           int32 // of the cores, which Divide sets
}

// Divide shares cores among members in proportion to their weights, each
// within its bounds. The lower bounds must not add up to more than the
// cores. Each member gets its share at one common rate, clamped. Fractions
// are rounded by largest remainder, ties to the earlier member.
func divideInProportion(cores int32, members []proportionMember) {
	left := int64(cores)
	open := make([]int, len(members)) // members that are not clamped
	for i := range members {
		open[i] = i
	}
	for len(open) > 0 {
		var wants, short, over int64
		for _, i := range open {
			wants += int64(members[i].Want)
		}
		// Compare left × want / wants with the bounds, all multiplied by wants.
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
		// Clamping members at their lower bounds lowers the rate of the
		// others; clamping at upper bounds raises it. The greater sum
		// decides which of the two groups surely stays clamped.
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

// roundShares gives the open members left cores by largest remainder.
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
