// Package jobtable keeps the state of each job only while it may be needed: from the first look at the job until it is
// over. Jobs that come one after the other are also over at about the same time, so of a million jobs a few
// thousand are in memory.
package jobtable

import "iter"

// The number of jobs of a page: small pages are free sooner.
const (
	pageBits = 5
	size     = 1 << pageBits
)

// Table has a value for each job, by number. They are in pages of neighboring numbers: a page is made when the first
// of its jobs is looked at, and used again when the last of them is over.
type Table[T any] struct {
	pages []*page[T]
	open  []int32 // by page, the jobs that are not over
	jobs  int
	first func(job int32, value *T)
	gone  *page[T] // of all jobs of a freed page
	read  T        // the last value read by Fetch
	spare []*page[T]
	last  func(job int32, value *T)
	done  int // pages whose jobs were handed to last
}

type page[T any] [size]T

// New returns a table for jobs with numbers below jobs. first sets the whole value of a job at the first look at it.
// gone is the value of jobs that are over, which does not change any more.
func New[T any](jobs int, first func(job int32, value *T), gone T) Table[T] {
	n := (jobs + size - 1) / size
	t := Table[T]{pages: make([]*page[T], n), open: make([]int32, n), jobs: jobs, first: first, gone: &page[T]{}}
	for i := range t.gone {
		t.gone[i] = gone
	}
	return t
}

// InOrder lets the table hand each job to last, in the order of their numbers, when it and all jobs before it are over.
// Its value stays until then.
func (t *Table[T]) InOrder(last func(job int32, value *T)) { t.last = last }

// At returns the value of a job. The pointer holds until the job is over.
func (t *Table[T]) At(job int32) *T {
	p := t.pages[job>>pageBits]
	if p == nil {
		p = t.begin(job)
	}
	return &p[job&(size-1)]
}

// Look is At for a job whose page is in memory; nil for another one. It is inlined where it is called, unlike At.
func (t *Table[T]) Look(job int32) *T {
	if p := t.pages[job>>pageBits]; p != nil {
		return &p[job&(size-1)]
	}
	return nil
}

// Fetch reads the values of jobs, so that they are in the processor's cache when they are used one by one. Many reads
// of memory at once take about as long as a single one.
func (t *Table[T]) Fetch(jobs []int32) {
	for _, j := range jobs {
		if p := t.pages[uint32(j)/size]; p != nil {
			t.read = p[uint32(j)%size]
		}
	}
}

// begin makes the page of a job.
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

// size returns how many jobs a page has.
func (t *Table[T]) size(k int) int { return min(size, t.jobs-k*size) }

// Over says that a job is over, which it is once.
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

// free uses the page again that was for the k-th jobs.
func (t *Table[T]) free(k int) { t.pages[k], t.spare = t.gone, append(t.spare, t.pages[k]) }

// finish hands the jobs of the next page to last.
func (t *Table[T]) finish() {
	for i := range t.size(t.done) {
		j := int32(t.done*size + i)
		t.last(j, t.At(j))
	}
	t.free(t.done)
	t.done++
}

// Finish hands the jobs to last that were not, whether they are over or not.
func (t *Table[T]) Finish() {
	for t.done < len(t.pages) {
		t.finish()
	}
}

// Rest yields each job whose page is not freed, in the order of their numbers.
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

// All yields each job whose page is in memory, in the order of their numbers: all that have been looked at and
// are not over are among them.
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
