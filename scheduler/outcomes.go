package scheduler

import (
	"fmt"
	"slices"
)

// outcomes collects the results of the jobs of a run.
type outcomes struct {
	counted map[int32]*Result // counts of open jobs, by job; few jobs have some
	last    Result            // result of the job that ended last
	kept    []Result          // results by job; nil if only the last event of a job has its result
	undone  Undone
}

var pending = Result{State: Pending, FirstStart: Never, Finish: Never}

// newOutcomes returns the outcomes of jobs that have not arrived yet. If keep is false, each result is dropped after
// the last event of its job.
func newOutcomes(jobs int, keep bool) outcomes {
	f := outcomes{counted: map[int32]*Result{}}
	if keep {
		f.kept = slices.Repeat([]Result{pending}, jobs)
	}
	return f
}

// Of returns the result of an open job, for counting. The pointer is valid until the job has ended.
func (f *outcomes) Of(job int32) *Result {
	r := f.counted[job]
	if r == nil {
		nothing := pending
		r = &nothing
		f.counted[job] = r
	}
	return r
}

// Last returns the result of a job that ends now, with its counts so far. The pointer is valid until the next call.
func (f *outcomes) Last(job int32) *Result {
	f.last = pending
	if len(f.counted) > 0 {
		if r := f.counted[job]; r != nil {
			f.last = *r
			delete(f.counted, job)
		}
	}
	return &f.last
}

// Over stores the result of a job that has ended. It returns the result if the last event of the job must have it,
// else nil.
func (f *outcomes) Over(job int32, r *Result) *Result {
	if r.State == Stopped {
		f.undone.count(r)
	}
	if f.kept == nil {
		return r
	}
	f.kept[job] = *r
	return nil
}

// Missed records the number of jobs that will not arrive, and returns it.
func (f *outcomes) Missed(jobs int) int {
	f.undone.Missing = jobs
	return jobs
}

// Kept returns the results by job; nil if they are not kept.
func (f *outcomes) Kept() []Result { return f.kept }

// Undone counts the jobs that were stopped or did not arrive.
func (f *outcomes) Undone() Undone { return f.undone }

// accounted returns an error unless every job has ended, and its waiting and service times add up to the time from
// its arrival to its end. If the run was closed at its horizon, jobs may be pending.
func accounted(jobs []Job, results []Result, closed bool) error {
	for i := range results {
		switch r := &results[i]; {
		case r.State == Pending && closed:
		case r.State != Finished && r.State != Failed && r.State != Stopped:
			return fmt.Errorf("job %q has no result: it is still %s", jobs[i].Name, r.State)
		case r.Waiting+r.Service != r.Finish-jobs[i].Arrival:
			return fmt.Errorf("job %q: waiting time %s and service time %s do not add up to its completion time %s",
				jobs[i].Name, r.Waiting, r.Service, r.Finish-jobs[i].Arrival)
		}
	}
	return nil
}
