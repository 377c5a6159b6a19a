package policy

import "slices"

// member is a job that takes part in the sharing of a node's cores.
type member struct {
	job             int32
	want, low, high int32
	share           int32
}

// divide shares cores among members in proportion to what they want, each
// within its bounds, whose lower ones do not add up to more than the cores:
// each gets its share at one common rate, clamped. Fractions are rounded by
// largest remainder, ties to the earlier member.
func divide(cores int32, members []member) {
	left := int64(cores)
	open := make([]int, len(members)) // members that are not clamped
	for i := range members {
		open[i] = i
	}
	for len(open) > 0 {
		var wants, short, over int64
		for _, i := range open {
			wants += int64(members[i].want)
		}
		// Compare left × want / wants with the bounds, all multiplied by wants.
		for _, i := range open {
			m := &members[i]
			exact := left * int64(m.want)
			short += max(int64(m.low)*wants-exact, 0)
			over += max(exact-int64(m.high)*wants, 0)
		}
		if short == 0 && over == 0 {
			roundShares(left, wants, members, open)
			return
		}
		// The rate of the others goes down when those who are short are
		// clamped, up when those who are over are: the greater sum tells
		// which of them surely stay clamped.
		before := left
		open = slices.DeleteFunc(open, func(i int) bool {
			m := &members[i]
			exact := before * int64(m.want)
			switch {
			case short >= over && exact < int64(m.low)*wants:
				m.share = m.low
			case over >= short && exact > int64(m.high)*wants:
				m.share = m.high
			default:
				return false
			}
			left -= int64(m.share)
			return true
		})
	}
}

// roundShares gives the open members left cores by largest remainder.
func roundShares(left, wants int64, members []member, open []int) {
	given := int64(0)
	for _, i := range open {
		members[i].share = int32(left * int64(members[i].want) / wants)
		given += int64(members[i].share)
	}
	slices.SortStableFunc(open, func(a, b int) int {
		x, y := left*int64(members[a].want)%wants, left*int64(members[b].want)%wants
		return int(min(max(y-x, -1), 1))
	})
	for _, i := range open[:left-given] {
		members[i].share++
	}
}
