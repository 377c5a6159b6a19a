package queue

import "slices"

// InsertSorted puts x into a list that is sorted by compare.
func InsertSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Insert(list, i, x)
}

// DeleteSorted takes x, which it has, out of a list that is sorted by compare. It moves what is on the shorter side of x:
// the job that is expected to end first mostly does.
func DeleteSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	if i < len(list)/2 {
		copy(list[1:i+1], list[:i])
		return list[1:]
	}
	return slices.Delete(list, i, i+1)
}
