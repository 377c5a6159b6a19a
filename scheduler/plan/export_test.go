package plan

// SetMostLooked sets how many steps a dispatch looks at to move reservations earlier, and returns how many it were.
func SetMostLooked(steps int) (before int) {
	before, mostLooked = mostLooked, steps
	return before
}
