package execute

import "testing"

// Groups have equal sizes and fit on the cores.
func TestTogether(t *testing.T) {
	for _, c := range []struct{ n, cores, cpus, want int }{
		{2, 1, 2, 2}, {3, 1, 2, 1}, {3, 1, 3, 3}, {4, 1, 3, 2}, {6, 2, 8, 3}, {10, 1, 4, 2}, {2, 0, 8, 1}, {2, 3, 4, 1}, {1, 1, 9, 1},
	} {
		if got := together(c.n, c.cores, c.cpus); got != c.want {
			t.Errorf("%d cells of %d cores on %d: %d at once, want %d", c.n, c.cores, c.cpus, got, c.want)
		}
	}
}
