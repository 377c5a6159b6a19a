package scheduler

import (
	"fmt"
	"slices"
)

// outcomes are the results of the jobs of a run.
type outcomes struct {
	counted map[int32]*Result // the open jobs with counts
	last    Result            // of the job that ended last
	kept    []Result          // of the jobs that are over; nil where their last events alone have them
	undone  Undone
}

var pending = Result{State: Pending, FirstStart: Never, Finish: Never}

// newOutcomes returns the outcomes of jobs that have not arrived yet. Unless they are kept, each is dropped after the last
// event of its job.
func newOutcomes(jobs int, keep bool) outcomes {
	f := outcomes{counted: map[int32]*Result{}}
	if keep {
		f.kept = slices.Repeat([]Result{pending}, jobs)
	}
	return f
}

// Of returns the counts of an open job. The pointer is valid until the job is over.
func (f *outcomes) Of(job int32) *Result {
	r := f.counted[job]
	if r == nil {
		nothing := pending
		r = &nothing
		f.counted[job] = r
	}
	return r
}

// Last returns the result of a job that ends, with its counts. The pointer is valid until the next call.
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

// Over stores the result of a job, and returns it if the job's last event needs it.
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

// Kept returns the results of the jobs that are over, by number; nil if results are not kept.
func (f *outcomes) Kept() []Result { return f.kept }

// Undone counts the jobs that did not end by themselves.
func (f *outcomes) Undone() Undone { return f.undone }

// accounted checks that every job has ended, and that its waiting and service times add up to the
// time from its arrival to its end. Jobs of a run that was closed may be pending.
func accounted(jobs []Job, results []Result, closed bool) error {
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
