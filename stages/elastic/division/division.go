// Package division divides the GPUs of a cluster among jobs that can run on any number of
// them: the decisions of policies that set all allocations at once, as plain functions.
package division

// Division is the GPUs that each job holds, by job and node. A job without any has nil.
type Division [][]int

// Total returns how many GPUs a placement has.
func Total(placement []int) int {
	sum := 0
	for _, n := range placement {
		sum += n
	}
	return sum
}

// Free returns the GPUs by node that a division leaves.
func Free(capacity []int, d Division) []int {
	free := append([]int(nil), capacity...)
	for _, placement := range d {
		for v, n := range placement {
			free[v] -= n
		}
	}
	return free
}

// PlaceMostFree takes GPUs from the node that has most left, ties to the first, then from
// the next; nil if there are too few.
func PlaceMostFree(free []int, gpus int) []int {
	if gpus <= 0 || Total(free) < gpus {
		return nil
	}
	placement := make([]int, len(free))
	for gpus > 0 {
		most := 0
		for v := range free {
			if free[v] > free[most] {
				most = v
			}
		}
		n := min(free[most], gpus)
		free[most] -= n
		placement[most] += n
		gpus -= n
	}
	return placement
}
