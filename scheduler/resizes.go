package scheduler

import (
	"cmp"
	"slices"
)

// InOrder returns resize requests by instant, then job.
func InOrder(requests []Resize) []Resize {
	requests = slices.Clone(requests)
	slices.SortStableFunc(requests, func(a, b Resize) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job))
	})
	return requests
}
