// Package jobtable keeps a value for each job of a run, but only from the first access to the job until the job is
// over. Of a million jobs, only a few thousand are in memory at any time, because jobs with neighboring numbers
// usually end at about the same time.
package jobtable

import "iter"

// Pages are small, because a page stays in memory until all of its jobs are over.
const (
	pageBits = 5
	size     = 1 << pageBits
)

// Table has a value for each job, by number. The values are in pages of consecutive numbers. A page is created at
// the first access to one of its jobs. Its memory is reused when all of them are over.
type Table[T any] struct {
	pages []*page[T]
	open  []int32 // by page, the number of jobs that are not over
	jobs  int
	first func(job int32, value *T)
	gone  *page[T] // page that replaces freed pages
	read  T        // written by Fetch, never read
	spare []*page[T]
	last  func(job int32, value *T)
	done  int // number of pages whose jobs were passed to last
}

type page[T any] [size]T

// New returns a table for jobs with numbers below jobs. first sets the value of a job at the first access to its
// page. gone is the value of all jobs that are over; callers must not change it.
func New[T any](jobs int, first func(job int32, value *T), gone T) Table[T] {
	n := (jobs + size - 1) / size
	t := Table[T]{pages: make([]*page[T], n), open: make([]int32, n), jobs: jobs, first: first, gone: &page[T]{}}
	for i := range t.gone {
		t.gone[i] = gone
	}
	return t
}

// InOrder makes the table call last for each job, in the order of numbers, when the job and all jobs before it are
// over. The value of the job stays in memory until then.
func (t *Table[T]) InOrder(last func(job int32, value *T)) { t.last = last }

// At returns the value of a job. The pointer is valid until the job is over.
func (t *Table[T]) At(job int32) *T {
	p := t.pages[job>>pageBits]
	if p == nil {
		p = t.begin(job)
	}
	return &p[job&(size-1)]
}

// Look returns the value of a job if its page is in memory, else nil. It is faster than At, because the compiler
// inlines it.
func (t *Table[T]) Look(job int32) *T {
	if p := t.pages[job>>pageBits]; p != nil {
		return &p[job&(size-1)]
	}
	return nil
}

// Fetch reads the values of jobs, so that they are in the processor's cache when they are needed. Many reads at once
// take about as long as a single one.
func (t *Table[T]) Fetch(jobs []int32) {
	for _, j := range jobs {
		if p := t.pages[uint32(j)/size]; p != nil {
			t.read = p[uint32(j)%size]
		}
	}
}

// begin creates the page of a job.
func (t *Table[T]) begin(job int32) *page[T] {
	var p *page[T]
	k := job >> pageBits
	if n := len(t.spare); n > 0 {
		p, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		p = &page[T]{}
	}
	n := t.size(int(k))
	for i := range n {
		t.first(k*size+int32(i), &p[i])
	}
	t.pages[k], t.open[k] = p, int32(n)
	return p
}

// size returns the number of jobs in page k.
func (t *Table[T]) size(k int) int { return min(size, t.jobs-k*size) }

// Over records that a job is over. It must be called once for each job.
func (t *Table[T]) Over(job int32) {
	k := job >> pageBits
	if t.open[k]--; t.open[k] > 0 {
		return
	}
	if t.last == nil {
		t.free(int(k))
		return
	}
	for t.done < len(t.pages) && t.pages[t.done] != nil && t.open[t.done] == 0 {
		t.finish()
	}
}

// free makes the memory of page k available for another page.
func (t *Table[T]) free(k int) { t.pages[k], t.spare = t.gone, append(t.spare, t.pages[k]) }

// finish calls last for the jobs of the next page, and frees the page.
func (t *Table[T]) finish() {
	for i := range t.size(t.done) {
		j := int32(t.done*size + i)
		t.last(j, t.At(j))
	}
	t.free(t.done)
	t.done++
}

// Finish calls last for all remaining jobs, even if they are not over.
func (t *Table[T]) Finish() {
	for t.done < len(t.pages) {
		t.finish()
	}
}

// Rest yields each job whose page is not freed, in the order of numbers. It creates pages that do not exist.
func (t *Table[T]) Rest() iter.Seq2[int32, *T] {
	return func(yield func(int32, *T) bool) {
		for k := range t.pages {
			for i := 0; i < t.size(k) && t.pages[k] != t.gone; i++ {
				if j := int32(k*size + i); !yield(j, t.At(j)) {
					return
				}
			}
		}
	}
}

// All yields each job whose page is in memory, in the order of numbers. It includes every job that was accessed and
// is not over.
func (t *Table[T]) All() iter.Seq2[int32, *T] {
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
