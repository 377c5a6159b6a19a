// Package pages keeps what is known of each job only while somebody may ask for it: from the first look at
// the job until it is over. Jobs that come one after the other are also over at about the same time, so of a
// million jobs a few thousand are in memory.
package pages

// size is the number of jobs of a page.
const size = 128

// Table has a value for each job, by number. They are in pages of neighbouring numbers: a page is made when the first
// of its jobs is looked at, and used again when the last of them is over.
type Table[T any] struct {
	pages []*page[T]
	jobs  int
	first func(job int32) T
	gone  *page[T] // of all jobs of a page that was given back
	spare []*page[T]
}

type page[T any] struct {
	values [size]T
	open   int // jobs that are not over
}

// New returns a table for jobs with numbers below jobs. first returns the value of a job that nobody has looked at,
// and gone is that of jobs that are over, which nobody changes any more.
func New[T any](jobs int, first func(job int32) T, gone T) Table[T] {
	t := Table[T]{pages: make([]*page[T], (jobs+size-1)/size), jobs: jobs, first: first, gone: &page[T]{}}
	for i := range t.gone.values {
		t.gone.values[i] = gone
	}
	return t
}

// At returns the value of a job. The pointer holds until the job is over.
func (t *Table[T]) At(job int32) *T {
	if p := t.pages[uint32(job)/size]; p != nil {
		return &p.values[uint32(job)%size]
	}
	return t.open(job)
}

// open makes the page of a job.
//
//go:noinline
func (t *Table[T]) open(job int32) *T {
	var p *page[T]
	if n := len(t.spare); n > 0 {
		p, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		p = &page[T]{}
	}
	lo := job / size * size
	p.open = min(size, t.jobs-int(lo))
	for i := range p.open {
		p.values[i] = t.first(lo + int32(i))
	}
	t.pages[job/size] = p
	return &p.values[job%size]
}

// Over says that a job is over, which it is once.
func (t *Table[T]) Over(job int32) {
	p := t.pages[job/size]
	if p.open--; p.open == 0 {
		t.pages[job/size], t.spare = t.gone, append(t.spare, p)
	}
}

// Each calls f with each job whose page is in memory, in the order of their numbers: all that have been looked at and
// are not over are among them.
func (t *Table[T]) Each(f func(job int32, value *T)) {
	for k, p := range t.pages {
		if p == nil || p == t.gone {
			continue
		}
		lo := k * size
		for i := range min(size, t.jobs-lo) {
			f(int32(lo+i), &p.values[i])
		}
	}
}
