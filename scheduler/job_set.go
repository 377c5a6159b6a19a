package scheduler

import "slices"

// PageSize is the number of jobs of a JobPage.
const PageSize = 128

// JobPager are jobs that are made when they are looked at: there may be more of them than fit into memory. They arrive in
// the order of their numbers. Several goroutines may call its methods.
type JobPager interface {
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
	Drawn JobPager
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
