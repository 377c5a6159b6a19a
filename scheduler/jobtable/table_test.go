package jobtable

import (
	"slices"
	"testing"
)

// A table has as many pages as its jobs need. The last page may be shorter.
func TestPagesOfATable(t *testing.T) {
	for jobs, want := range map[int]int{0: 0, 1: 1, size: 1, size + 1: 2, 3*size - 1: 3} {
		table := New(jobs, func(job int32, value *int32) { *value = job }, -1)
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

// TestTableInOrder checks that ended jobs are handed out with their values in the order of their numbers, as soon as
// all earlier jobs have ended. The rest comes at the end. Pages are reused.
func TestTableInOrder(t *testing.T) {
	const jobs = 5000
	var order []int32
	table := New(jobs, func(job int32, v *int32) { *v = -job }, -1)
	table.InOrder(func(job int32, v *int32) {
		if want := job; *v != want && job%7 != 3 || job%7 == 3 && *v != -job {
			t.Fatalf("the value of job %d is %d", job, *v)
		}
		order = append(order, job)
	})
	var late []int32
	for j := range int32(jobs) {
		if j%7 == 3 { // these jobs never end
			table.At(j)
			continue
		}
		*table.At(j) = j
		if late = append(late, j); len(late) == 100 {
			for i := len(late) - 1; i >= 0 && j > 3*jobs/4; i-- {
				table.Over(late[i])
			}
			late = late[:0]
		}
	}
	if len(order) != 0 {
		t.Errorf("%d jobs are handed out behind one that is not over", len(order))
	}
	rest := 0
	for job, v := range table.Rest() {
		if int(job) != rest || *v != job && *v != -job {
			t.Fatalf("the %d-th job is %d with %d", rest, job, *v)
		}
		rest++
	}
	table.Finish()
	if len(order) != jobs || rest != jobs || !slices.IsSorted(order) {
		t.Errorf("%d of %d jobs are handed out, %d are left before", len(order), jobs, rest)
	}
	table = New(jobs, func(_ int32, v *int32) { *v = 0 }, -1)
	last := int32(-1)
	table.InOrder(func(job int32, v *int32) {
		if job != last+1 || *v != 7 {
			t.Fatalf("job %d with %d comes after %d", job, *v, last)
		}
		last = job
	})
	for j := range int32(jobs) {
		*table.At(j) = 7
		if k := j ^ 1; k < j { // the second job of each pair ends first
			table.Over(j)
			table.Over(k)
		}
	}
	if last != jobs-1 || len(table.spare) > 2 {
		t.Errorf("the last job is %d, in %d pages", last, len(table.spare))
	}
	for job := range table.Rest() {
		t.Fatalf("job %d is left", job)
	}
}
