package scheduler

import (
	"slices"
	"testing"
)

// Times on equally many cores are one, and a change that took no time is none.
func TestSeenAdds(t *testing.T) {
	var s Seen
	for _, h := range []Held{{0, 1}, {3, 1}, {2, 1}, {0, 2}, {-1, 1}, {4, 2}, {-1, 3}, {1, 1}} {
		s.Add(h.Time, h.Cores)
	}
	if want := []Held{{5, 1}, {4, 2}, {1, 1}}; !slices.Equal(s.Held, want) {
		t.Errorf("held %v, want %v", s.Held, want)
	}
}
