package scheduler

import "testing"

// A table has the pages that its jobs need, of which the last may be shorter.
func TestPagesOfATable(t *testing.T) {
	for jobs, want := range map[int]int{0: 0, 1: 1, size: 1, size + 1: 2, 3*size - 1: 3} {
		table := NewJobTable(jobs, func(job int32, value *int32) { *value = job }, -1)
		if len(table.pages) != want || len(table.open) != want {
			t.Errorf("%d jobs are on %d pages, want %d", jobs, len(table.pages), want)
		}
		for j := range int32(jobs) {
			if *table.At(j) != j {
				t.Errorf("job %d has %d", j, *table.At(j))
			}
		}
		n := 0
		for range table.All() {
			n++
		}
		if n != jobs {
			t.Errorf("of %d jobs %d are listed", jobs, n)
		}
		for j := range int32(jobs) {
			table.Over(j)
		}
		if len(table.spare) != want {
			t.Errorf("%d of %d pages are given back", len(table.spare), want)
		}
	}
}
