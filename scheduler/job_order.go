package scheduler

import (
	"cmp"
	"slices"
)

// ByArrival returns the job numbers by arrival, then number.
func ByArrival(jobs []Job) []int32 {
	order := make([]int32, len(jobs))
	sorted := true
	for i := range jobs {
		order[i] = int32(i)
		sorted = sorted && (i == 0 || jobs[i-1].Arrival <= jobs[i].Arrival)
	}
	if !sorted {
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(jobs[a].Arrival, jobs[b].Arrival)
		})
	}
	return order
}
