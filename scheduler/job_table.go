// Pages keeps the state of each job only while it may be needed: from the first look at the job until it is
// over. Jobs that come one after the other are also over at about the same time, so of a million jobs a few
// thousand are in memory.

package scheduler

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// PageSize is the number of jobs of a JobPage, and size of a page of a JobTable: small pages are free sooner.
const (
	PageSize = 128
	pageBits = 5
	size     = 1 << pageBits
)

// Drawn are jobs that are made when they are looked at: there may be more of them than fit into memory. They arrive in
// the order of their numbers. Several goroutines may call its methods.
type Drawn interface {
	Len() int
	// Page returns the jobs of a page. It stays valid, and does not change.
	Page(number int) *JobPage
	// Requests returns jobs, with numbers of their own, that have all different requests among them.
	Requests() []Job
}

// JobPage is neighboring jobs; the last page may have fewer.
type JobPage [PageSize]Job

// JobSet is a list of jobs, or drawn ones. A copy is for one goroutine.
type JobSet struct {
	List  []Job
	Drawn Drawn
	near  []Job // looked at last: the list, or a page of drawn jobs
	first int   // the number of the first of them
	count int   // of all jobs
}

// Len returns the number of jobs.
func (s *JobSet) Len() int {
	if s.count == 0 {
		s.open()
	}
	return s.count
}

// open counts the jobs. It stays a call, so that Len can be inlined.
//
//go:noinline
func (s *JobSet) open() {
	if s.count = len(s.List); s.Drawn != nil {
		s.count = s.Drawn.Len()
	}
}

// At returns a job by its number.
func (s *JobSet) At(job int) *Job {
	if uint(job-s.first) >= uint(len(s.near)) {
		s.fetch(job)
	}
	return &s.near[job-s.first]
}

// fetch lets near have a job. It stays a call, so that At can be inlined.
//
//go:noinline
func (s *JobSet) fetch(job int) {
	if s.near = s.List; s.Drawn != nil {
		number := job / PageSize
		s.near, s.first = s.Drawn.Page(number)[:], number*PageSize
	}
}

// Copy returns a list of the jobs, to be changed.
func (s *JobSet) Copy() []Job {
	list := slices.Clone(s.List)
	for i := len(list); i < s.Len(); i++ {
		list = append(list, *s.At(i))
	}
	return list
}

func (l *loop) job(j int32) *Job { return l.jobs.At(int(j)) }

// ownJobs lets requests and predictions of jobs be changed.
func (l *loop) ownJobs() {
	l.jobs = JobSet{List: l.jobs.Copy()}
	for number, j := range l.states.All() {
		j.job = l.job(number)
	}
}

// JobTable has a value for each job, by number. They are in pages of neighboring numbers: a page is made when the first
// of its jobs is looked at, and used again when the last of them is over.
type JobTable[T any] struct {
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

// NewJobTable returns a table for jobs with numbers below jobs. first sets the whole value of a job at the first look at it.
// gone is the value of jobs that are over, which does not change any more.
func NewJobTable[T any](jobs int, first func(job int32, value *T), gone T) JobTable[T] {
	n := (jobs + size - 1) / size
	t := JobTable[T]{pages: make([]*page[T], n), open: make([]int32, n), jobs: jobs, first: first, gone: &page[T]{}}
	for i := range t.gone {
		t.gone[i] = gone
	}
	return t
}

// InOrder lets the table hand each job to last, in the order of their numbers, when it and all jobs before it are over.
// Its value stays until then.
func (t *JobTable[T]) InOrder(last func(job int32, value *T)) { t.last = last }

// At returns the value of a job. The pointer holds until the job is over.
func (t *JobTable[T]) At(job int32) *T {
	p := t.pages[job>>pageBits]
	if p == nil {
		p = t.begin(job)
	}
	return &p[job&(size-1)]
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

// begin makes the page of a job. It stays a call, so that At can be inlined.
//
//go:noinline
func (t *JobTable[T]) begin(job int32) *page[T] {
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
func (t *JobTable[T]) size(k int) int { return min(size, t.jobs-k*size) }

// Over says that a job is over, which it is once.
func (t *JobTable[T]) Over(job int32) {
	k := job / size
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
func (t *JobTable[T]) free(k int) { t.pages[k], t.spare = t.gone, append(t.spare, t.pages[k]) }

// finish hands the jobs of the next page to last.
func (t *JobTable[T]) finish() {
	for i := range t.size(t.done) {
		j := int32(t.done*size + i)
		t.last(j, t.At(j))
	}
	t.free(t.done)
	t.done++
}

// Finish hands the jobs to last that were not, whether they are over or not.
func (t *JobTable[T]) Finish() {
	for t.done < len(t.pages) {
		t.finish()
	}
}

// Rest yields each job whose page is not freed, in the order of their numbers.
func (t *JobTable[T]) Rest() iter.Seq2[int32, *T] {
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

// Fates are the results of the jobs of a run.
type Fates struct {
	counted map[int32]*Result // the open jobs with counts
	last    Result            // of the job that ended last
	kept    []Result          // of the jobs that are over; nil where their last events alone have them
	undone  Undone
}

var pending = Result{State: Pending, FirstStart: Never, Finish: Never}

// NewFates returns the fates of jobs that have not arrived yet. Unless they are kept, each is dropped after the last
// event of its job.
func NewFates(jobs int, keep bool) Fates {
	f := Fates{counted: map[int32]*Result{}}
	if keep {
		f.kept = slices.Repeat([]Result{pending}, jobs)
	}
	return f
}

// Of returns the counts of an open job. The pointer is valid until the job is over.
func (f *Fates) Of(job int32) *Result {
	r := f.counted[job]
	if r == nil {
		nothing := pending
		r = &nothing
		f.counted[job] = r
	}
	return r
}

// Last returns the result of a job that ends, with its counts. The pointer is valid until the next call.
func (f *Fates) Last(job int32) *Result {
	f.last = pending
	if len(f.counted) > 0 {
		if r := f.counted[job]; r != nil {
			f.last = *r
			delete(f.counted, job)
		}
	}
	return &f.last
}

// Over stores the result of a job, and returns it if the job's last event must have it.
func (f *Fates) Over(job int32, r *Result) *Result {
	if r.State == Stopped {
		f.undone.Count(r)
	}
	if f.kept == nil {
		return r
	}
	f.kept[job] = *r
	return nil
}

// Missed records the number of jobs that will not arrive, and returns it.
func (f *Fates) Missed(jobs int) int {
	f.undone.Missing = jobs
	return jobs
}

// Kept returns the results of the jobs that are over, by number; nil if results are not kept.
func (f *Fates) Kept() []Result { return f.kept }

// Undone counts the jobs that did not end by themselves.
func (f *Fates) Undone() Undone { return f.undone }

// Accounted checks that every job has ended, and that its waiting and service times add up to the
// time from its arrival to its end. Jobs of a run that was closed may be pending.
func Accounted(jobs []Job, results []Result, closed bool) error {
	for i := range results {
		switch r := &results[i]; {
		case r.State == Pending && closed:
		case r.State != Finished && r.State != Failed && r.State != Stopped:
			return fmt.Errorf("job %q is unaccounted for: it is still %s", jobs[i].Name, r.State)
		case r.Waiting+r.Service != r.Finish-jobs[i].Arrival:
			return fmt.Errorf("job %q: waiting %s and service %s do not add up to %s",
				jobs[i].Name, r.Waiting, r.Service, r.Finish-jobs[i].Arrival)
		}
	}
	return nil
}

// life is the state of a job that decisions use. Fields that each event reads come first, to be
// close in memory. The rest of the job's history is in its Result.
type jobState struct {
	since time.Duration // beginning of the present stretch of waiting or running
	timer time.Duration // instant of the timer that counts, or Never
	// As in Result.
	waiting, service, coreTime time.Duration
	preemptions, alternative   int32

	request int32 // cores; for a started rigid job, the cores of its start
	slot    int32 // index in running
	level   int32 // effective level
	number  int32
	state   State
	booked  bool // its memory is taken
	plain   bool // it asks for cores of one node and nothing else: see Job.Plain
	yields  bool // its turn is over: it runs on until dispatch has decided
	arrival time.Duration
	first   time.Duration // when it first started, or Never
	cores   int32         // the cores granted then
	asked   int32         // cores, by the workload
	held    int32         // cores of the grant
	grant   Grant         // held; for a paused job, its last grant
	end     time.Duration // expected end while running
	job     *Job
}

// newState sets out the life of a job that is still to come.
func (l *loop) newState(number int32, f *jobState) {
	j := l.job(number)
	*f = jobState{
		number: number, job: j,
		state: Pending, timer: Never, first: Never,
		request: int32(j.Threads), asked: int32(j.Threads), level: int32(max(j.Priority, 0)),
		plain: j.Plain(), arrival: j.Arrival,
	}
}

func (l *loop) state(j int32) *jobState { return l.states.At(j) }

// result returns the counts of an open job that are not in its life.
func (l *loop) result(j *jobState) *Result { return l.outcomes.Of(j.number) }

// hold records the grant of a job.
func (f *jobState) hold(g Grant) { f.grant, f.held = g, int32(g.Cores.Count()) }

// settle copies the counts of a life into the job's result.
func (f *jobState) settle(r *Result) {
	r.State, r.Waiting, r.Service, r.CoreTime = f.state, f.waiting, f.service, f.coreTime
	r.FirstStart, r.Cores = f.first, int(f.cores)
	r.Preemptions, r.Alternative = int(f.preemptions), int(f.alternative)
}
