package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// Registry holds values under their names, such as engines, policies or metrics.
type Registry[T any] struct {
	what string // the kind of values, for messages
	name func(T) string
	rank func(T) int
	list []T
}

// NewRegistry returns an empty registry. Values with a lower rank are listed first, and values without a rank (0) last.
// Values of equal rank are listed by name.
func NewRegistry[T any](what string, name func(T) string, rank func(T) int) *Registry[T] {
	return &Registry[T]{what: what, name: name, rank: rank}
}

// Unranked gives all values of a registry the same rank, so that they are listed by name.
func Unranked[T any](T) int { return 0 }

// Add registers t and returns it. It panics if the name is empty or registered already.
func (r *Registry[T]) Add(t T) T {
	if _, taken := r.Find(r.name(t)); taken || r.name(t) == "" {
		panic(fmt.Sprintf("%s %q is registered twice, or has no name", r.what, r.name(t)))
	}
	r.list = append(slices.Clone(r.list), t)
	slices.SortFunc(r.list, func(a, b T) int {
		return cmp.Or(cmp.Compare(uint(r.rank(a)-1), uint(r.rank(b)-1)), cmp.Compare(r.name(a), r.name(b)))
	})
	return t
}

// Find returns the value registered under a name.
func (r *Registry[T]) Find(name string) (t T, ok bool) {
	for _, t := range r.list {
		if r.name(t) == name {
			return t, true
		}
	}
	return t, false
}

// All returns all values in order.
func (r *Registry[T]) All() []T { return slices.Clone(r.list) }

// Names returns the names of the values for which `is` is true, or of all values if `is` is nil.
func (r *Registry[T]) Names(is func(T) bool) []string {
	var names []string
	for _, t := range r.list {
		if is == nil || is(t) {
			names = append(names, r.name(t))
		}
	}
	return names
}
