package scheduler

import "time"

// Account is what the jobs of a run have done, in the unit of an outlook. Where that is core time, it has only what
// is to be taken off the core time of a job.
type OutlookAccount struct {
	jobs int
	done []time.Duration // by job; nil where what is done is core time
	lost []time.Duration // by job, the core time of attempts that failed; nil until one has
	base []time.Duration // by job, what it had done when its attempt began; nil with lost
}

// NewAccount returns the account of a run of so many jobs.
func NewOutlookAccount(of Outlook, jobs int) OutlookAccount {
	if _, proportional := of.(Proportional); proportional { // its sums are the core times, which are kept anyway
		return OutlookAccount{jobs: jobs}
	}
	return OutlookAccount{jobs: jobs, done: make([]time.Duration, jobs)}
}

// ByCores reports whether what is done is core time.
func (a *OutlookAccount) ByCores() bool { return a.done == nil }

// Done returns what a job has done in the stretches of its attempt that have ended, in which it has had so much
// core time.
func (a *OutlookAccount) Done(job int32, coreTime time.Duration) time.Duration {
	switch {
	case a.done != nil:
		return a.done[job]
	case a.lost != nil:
		return coreTime - a.lost[job]
	}
	return coreTime
}

// Add adds what a job has done in a stretch.
func (a *OutlookAccount) Add(job int32, done time.Duration) { a.done[job] = Plus(a.done[job], done) }

// Base returns what a job had done when its attempt began.
func (a *OutlookAccount) Base(job int32) time.Duration {
	if a.base == nil {
		return 0
	}
	return a.base[job]
}

// Set makes what a job has done so much, and so much of it done when its attempt began, of the core time that it
// has had.
func (a *OutlookAccount) Set(job int32, done, base, coreTime time.Duration) {
	if a.lost == nil {
		a.lost, a.base = make([]time.Duration, a.jobs), make([]time.Duration, a.jobs)
	}
	a.lost[job], a.base[job] = coreTime-done, base
	if a.done != nil {
		a.done[job] = done
	}
}
