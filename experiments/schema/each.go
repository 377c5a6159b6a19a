package schema

import (
	"math"
	"slices"
)

// Each returns the results of calling `of` for each element of a list; nil for an empty list.
func Each[T, U any](list []T, of func(T) U) []U {
	var all []U
	if len(list) > 0 {
		all = make([]U, 0, len(list))
	}
	for _, t := range list {
		all = append(all, of(t))
	}
	return all
}

// Where returns the elements of a list for which `is` is true, in their order; nil without any.
func Where[T any](list []T, is func(T) bool) []T {
	var some []T
	for _, t := range list {
		if is(t) {
			some = append(some, t)
		}
	}
	return some
}

// AddOnce appends t to the list if the list does not contain it.
func AddOnce[T comparable](list []T, t T) []T {
	if slices.Contains(list, t) {
		return list
	}
	return append(list, t)
}

// Or returns the value that p points to, or `otherwise` if p is nil.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// OrNaN returns the value that p points to, or NaN if p is nil.
func OrNaN(p *float64) float64 { return Or(p, math.NaN()) }
