package pages

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/trace"
)

// Fates are what becomes of the jobs of a run.
type Fates struct {
	table  Table[trace.Result]
	kept   []trace.Result // of the jobs that are over; nil where their last events alone have them
	undone trace.Undone
}

// NewFates returns those of jobs that are still to come. Unless they are kept, each goes with the last event of its job.
func NewFates(jobs int, keep bool) Fates {
	pending := trace.Result{State: trace.Pending, FirstStart: trace.Never, Finish: trace.Never}
	f := Fates{table: New(jobs, func(int32) trace.Result { return pending }, pending)}
	if keep {
		f.kept = slices.Repeat([]trace.Result{pending}, jobs)
	}
	return f
}

// Of returns what has become of a job so far. The pointer holds until the job is over.
func (f *Fates) Of(job int32) *trace.Result { return f.table.At(job) }

// Last makes the result of a job that ends known, with the event of its end where it is not kept.
func (f *Fates) Last(job int32, e *trace.Event) {
	r := f.table.At(job)
	if r.State == trace.Stopped {
		f.undone.Count(r)
	}
	if f.kept == nil {
		e.Result = r
	} else {
		f.kept[job] = *r
	}
}

// Over says that a job is over, and its last event taken.
func (f *Fates) Over(job int32) { f.table.Over(job) }

// Missed says that so many jobs will not arrive, and returns their number.
func (f *Fates) Missed(jobs int) int {
	f.undone.Missing = jobs
	return jobs
}

// Kept returns what has become of the jobs that are over, by number; nil if that is not kept.
func (f *Fates) Kept() []trace.Result { return f.kept }

// Undone counts the jobs that did not come to their own end.
func (f *Fates) Undone() trace.Undone { return f.undone }
