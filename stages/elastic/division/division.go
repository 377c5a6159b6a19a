// Package division divides the GPUs of a cluster among jobs that can run on any number of GPUs. It has the decisions of
// policies that set all allocations at once, as plain functions.
package division

// Division has the number of GPUs that each job holds, by job and node. The entry of a job without GPUs is nil.
type Division [][]int

// Total returns the number of GPUs of a placement, which has them by node.
func Total(placement []int) int {
	sum := 0
	for _, n := range placement {
		sum += n
	}
	return sum
}

// Free returns the number of GPUs of each node that no job of the division holds.
func Free(capacity []int, d Division) []int {
	free := append([]int(nil), capacity...)
	for _, placement := range d {
		for v, n := range placement {
			free[v] -= n
		}
	}
	return free
}

// PlaceMostFree takes GPUs from the node with the most free GPUs (the first of several), then from the next. It returns
// nil if there are too few.
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
