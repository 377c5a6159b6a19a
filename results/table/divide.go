package table

// Divide divides rows by a condition, in their order: those without it, and those with it.
func Divide[T any](rows []T, is func(T) bool) (no, yes []T) {
	for _, r := range rows {
		if is(r) {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return no, yes
}
