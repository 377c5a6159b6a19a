package scheduler

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// A table has the pages that its jobs need; the last one may be shorter.
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

// The counts of a job go into its result and are dropped then. A job without counts has the result of a job that has
// not arrived, independent of the previous job.
func TestFates(t *testing.T) {
	for _, keep := range []bool{false, true} {
		f := NewFates(3, keep)
		f.Of(1).Resizes++
		f.Of(1).Resizes++
		r := f.Last(1)
		if r.Resizes != 2 || r.FirstStart != Never {
			t.Errorf("job 1 ended with %+v", *r)
		}
		r.State = Stopped
		if told := f.Over(1, r); (told == nil) != keep {
			t.Errorf("kept %v, and told %v", keep, told)
		}
		if keep && f.Kept()[1] != *r {
			t.Errorf("kept is %+v", f.Kept()[1])
		}
		if r := f.Last(1); *r != pending {
			t.Errorf("what was counted of job 1 is still there: %+v", *r)
		}
		r = f.Last(0)
		if *r != pending {
			t.Errorf("job 0 ended with %+v", *r)
		}
		r.State = Finished
		f.Over(0, r)
		if f.Missed(1) != 1 || f.Undone() != (Undone{Waited: 1, Missing: 1}) {
			t.Errorf("undone: %+v", f.Undone())
		}
	}
}

// The account at the end of a run finds a job that is not final, one whose times do not add up, and one that is
// still held somewhere; what never arrived is in order where the run was closed, and only there.
func TestAccount(t *testing.T) {
	finished := Result{State: Finished, Waiting: 2, Service: 5, Finish: 8}
	for _, c := range []struct {
		name   string
		result Result
		change func(*loop)
		want   string
	}{
		{"finished", finished, nil, ""},
		{"failed", Result{State: Failed, Waiting: 2, Service: 5, Finish: 8}, nil, ""},
		{"stopped", Result{State: Stopped, Waiting: 2, Service: 5, Finish: 8}, nil, ""},
		{"still running", Result{State: Running, Waiting: 2, Service: 5, Finish: 8}, nil, `"j" is unaccounted for: it is still running`},
		{"never arrived", Result{State: Pending}, nil, "unaccounted for"},
		{"never arrived in a closed run", Result{State: Pending}, func(l *loop) { l.ending.closed = 10 }, ""},
		{"still queued in a closed run", Result{State: Queued}, func(l *loop) { l.ending.closed = 10 }, "unaccounted for"},
		{"waited too long", Result{State: Finished, Waiting: 3, Service: 5, Finish: 8}, nil, "do not add up"},
		{"ran too short", Result{State: Finished, Waiting: 2, Service: 4, Finish: 8}, nil, "do not add up"},
		{"the engine has one", finished, func(l *loop) { l.tally.started = 1 }, "some still run or wait"},
		{"one is in the list", finished, func(l *loop) { l.running.all = []int32{0} }, "some still run or wait"},
	} {
		l := &loop{jobs: JobSet{List: []Job{{Name: "j", Arrival: 1}}}, outcomes: NewFates(1, true), queue: queue.New(1, false)}
		l.outcomes.Kept()[0] = c.result
		if c.change != nil {
			c.change(l)
		}
		err := l.account()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestTableInOrder: jobs are handed out in the order of their numbers when they and all before them are over, with their
// values; the rest at the end. Their pages are used again.
func TestTableInOrder(t *testing.T) {
	const jobs = 5000
	var order []int32
	table := NewJobTable(jobs, func(job int32, v *int32) { *v = -job }, -1)
	table.InOrder(func(job int32, v *int32) {
		if want := job; *v != want && job%7 != 3 || job%7 == 3 && *v != -job {
			t.Fatalf("the value of job %d is %d", job, *v)
		}
		order = append(order, job)
	})
	var late []int32
	for j := range int32(jobs) {
		if j%7 == 3 { // never over
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
	table = NewJobTable(jobs, func(_ int32, v *int32) { *v = 0 }, -1)
	last := int32(-1)
	table.InOrder(func(job int32, v *int32) {
		if job != last+1 || *v != 7 {
			t.Fatalf("job %d with %d comes after %d", job, *v, last)
		}
		last = job
	})
	for j := range int32(jobs) {
		*table.At(j) = 7
		if k := j ^ 1; k < j { // the second of each pair first
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
