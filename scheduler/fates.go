package scheduler

import (
	"slices"
)

// Fates are what becomes of the jobs of a run.
type Fates struct {
	counted map[int32]*Result // of open jobs, those of which something was counted
	last    Result            // of the job that ended last
	kept    []Result          // of the jobs that are over; nil where their last events alone have them
	undone  Undone
}

var pending = Result{State: Pending, FirstStart: Never, Finish: Never}

// NewFates returns those of jobs that are still to come. Unless they are kept, each goes with the last event of its job.
func NewFates(jobs int, keep bool) Fates {
	f := Fates{counted: map[int32]*Result{}}
	if keep {
		f.kept = slices.Repeat([]Result{pending}, jobs)
	}
	return f
}

// Of returns what is counted of an open job. The pointer holds until the job is over.
func (f *Fates) Of(job int32) *Result {
	r := f.counted[job]
	if r == nil {
		nothing := pending
		r = &nothing
		f.counted[job] = r
	}
	return r
}

// Last returns the result of a job that ends, with what was counted of it. The pointer holds until the next call.
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

// Over takes the result of a job, and returns it where the last event of the job is to have it.
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

// Missed says that so many jobs will not arrive, and returns their number.
func (f *Fates) Missed(jobs int) int {
	f.undone.Missing = jobs
	return jobs
}

// Kept returns what has become of the jobs that are over, by number; nil if that is not kept.
func (f *Fates) Kept() []Result { return f.kept }

// Undone counts the jobs that did not come to their own end.
func (f *Fates) Undone() Undone { return f.undone }
