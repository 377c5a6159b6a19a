package schema

import "math"

// Each returns what of makes of each element of a list; nil of an empty one.
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

// Or returns what a pointer leads to, or something else where it leads nowhere.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// OrNaN is Or of what is not known otherwise.
func OrNaN(p *float64) float64 { return Or(p, math.NaN()) }
