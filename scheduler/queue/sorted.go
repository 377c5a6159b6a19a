package queue

import "slices"

// InsertSorted puts x into a list that is sorted by compare.
func InsertSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Insert(list, i, x)
}

// DeleteSorted takes x, which it has, out of a list that is sorted by compare.
func DeleteSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Delete(list, i, i+1)
}
