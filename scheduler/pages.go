// Pages keeps what is known of each job only while somebody may ask for it: from the first look at
// the job until it is over. Jobs that come one after the other are also over at about the same time, so of a
// million jobs a few thousand are in memory.

package scheduler

import "iter"

// size is the number of jobs of a page.
const size = 128

// Table has a value for each job, by number. They are in pages of neighbouring numbers: a page is made when the first
// of its jobs is looked at, and used again when the last of them is over.
type JobTable[T any] struct {
	pages []*page[T]
	open  []int32 // by page, the jobs that are not over
	jobs  int
	first func(job int32, value *T)
	gone  *page[T] // of all jobs of a page that was given back
	read  T        // what Fetch read last
	spare []*page[T]
}

type page[T any] [size]T

// New returns a table for jobs with numbers below jobs. first sets all of the value of a job that nobody has looked at,
// and gone is that of jobs that are over, which nobody changes any more.
func NewJobTable[T any](jobs int, first func(job int32, value *T), gone T) JobTable[T] {
	n := (jobs + size - 1) / size
	t := JobTable[T]{pages: make([]*page[T], n), open: make([]int32, n), jobs: jobs, first: first, gone: &page[T]{}}
	for i := range t.gone {
		t.gone[i] = gone
	}
	return t
}

// At returns the value of a job. The pointer holds until the job is over.
func (t *JobTable[T]) At(job int32) *T {
	p := t.pages[uint32(job)/size]
	if p == nil {
		return t.begin(job)
	}
	return &p[uint32(job)%size]
}

// Fetch reads the values of jobs, so that they are in the processor's cache when they are looked at one by one: memory
// answers many reads at once about as fast as one of them.
func (t *JobTable[T]) Fetch(jobs []int32) {
	for _, j := range jobs {
		if p := t.pages[uint32(j)/size]; p != nil {
			t.read = p[uint32(j)%size]
		}
	}
}

// begin makes the page of a job.
//
//go:noinline
func (t *JobTable[T]) begin(job int32) *T {
	var p *page[T]
	if n := len(t.spare); n > 0 {
		p, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		p = &page[T]{}
	}
	k := job / size
	n := t.size(int(k))
	for i := range n {
		t.first(k*size+int32(i), &p[i])
	}
	t.pages[k], t.open[k] = p, int32(n)
	return &p[job%size]
}

// size returns how many jobs a page has.
func (t *JobTable[T]) size(k int) int { return min(size, t.jobs-k*size) }

// Over says that a job is over, which it is once.
func (t *JobTable[T]) Over(job int32) {
	k := job / size
	if t.open[k]--; t.open[k] == 0 {
		t.pages[k], t.spare = t.gone, append(t.spare, t.pages[k])
	}
}

// All yields each job whose page is in memory, in the order of their numbers: all that have been looked at and
// are not over are among them.
func (t *JobTable[T]) All() iter.Seq2[int32, *T] {
	return func(yield func(int32, *T) bool) {
		for k, p := range t.pages {
			if p == nil || p == t.gone {
				continue
			}
			for i := range t.size(k) {
				if !yield(int32(k*size+i), &p[i]) {
					return
				}
			}
		}
	}
}
