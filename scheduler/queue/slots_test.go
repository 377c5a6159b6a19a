package queue

import "testing"

// slotsFor returns slots for jobs that are all in the queue.
func slotsFor(jobs int32) *slots {
	s := newSlots(int(jobs))
	for j := range jobs {
		s.begin(j)
	}
	return &s
}

// TestSlotsAreUsedAgain lets many jobs pass through a short queue. Only a few pages are in memory, and each job in the
// queue keeps its slot.
func TestSlotsAreUsedAgain(t *testing.T) {
	const jobs, inQueue = 1_000_000, 3000
	s, made := newSlots(jobs), map[*slotPage]bool{}
	for j := range int32(jobs) {
		s.begin(j)
		s.set(j, ^j)
		made[s.pages[j/int32(len(slotPage{}))]] = true
		if gone := j - inQueue; gone >= 0 {
			if s.of(gone) != ^gone {
				t.Fatalf("job %d has the number of another", gone)
			}
			s.end(gone)
		}
	}
	if len(made) > 6 {
		t.Errorf("there are %d pages", len(made))
	}
}
