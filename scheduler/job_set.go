package scheduler

import "slices"

// PageSize is the number of jobs in a JobPage.
const PageSize = 128

// JobPager makes the jobs of a run page by page, so that not all of them are in memory. Jobs are numbered in the
// order of their arrivals. Its methods can be called by several goroutines.
type JobPager interface {
	Len() int
	// Page returns the page with a number. The page does not change.
	Page(number int) *JobPage
	// Requests returns a few jobs that together have all requests that occur in the run, for checks. Their numbers
	// are not the numbers in the run.
	Requests() []Job
}

// JobPage has PageSize jobs with consecutive numbers. The last page may have fewer.
type JobPage [PageSize]Job

// JobSet is the jobs of a run: a list, or jobs that a JobPager makes. Each goroutine needs its own copy.
type JobSet struct {
	List  []Job
	Drawn JobPager
	near  []Job // the jobs that At can return now: List, or one page of Drawn
	first int   // the number of near[0]
	count int   // the number of all jobs
}

// Len returns the number of jobs.
func (s *JobSet) Len() int {
	if s.count == 0 {
		s.open()
	}
	return s.count
}

// open counts the jobs. It is not inlined, so that Len can be.
//
//go:noinline
func (s *JobSet) open() {
	if s.count = len(s.List); s.Drawn != nil {
		s.count = s.Drawn.Len()
	}
}

// At returns the job with a number.
func (s *JobSet) At(job int) *Job {
	if uint(job-s.first) >= uint(len(s.near)) {
		s.fetch(job)
	}
	return &s.near[job-s.first]
}

// fetch sets near to the page that has a job. It is not inlined, so that At can be.
//
//go:noinline
func (s *JobSet) fetch(job int) {
	if s.near = s.List; s.Drawn != nil {
		number := job / PageSize
		s.near, s.first = s.Drawn.Page(number)[:], number*PageSize
	}
}

// Copy returns the jobs as a list that the caller may change.
func (s *JobSet) Copy() []Job {
	list := slices.Clone(s.List)
	for i := len(list); i < s.Len(); i++ {
		list = append(list, *s.At(i))
	}
	return list
}

func (l *loop) job(j int32) *Job { return l.jobs.At(int(j)) }

// ownJobs copies the jobs of the run, so that their requests and predictions can be changed.
func (l *loop) ownJobs() {
	l.jobs = JobSet{List: l.jobs.Copy()}
	for number, j := range l.states.All() {
		j.job = l.job(number)
	}
}
