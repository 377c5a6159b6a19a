package schema

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
