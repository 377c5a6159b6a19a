package simulated

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// budgets ends jobs whose service time has reached their budget, whatever work is
// left. The zero value is of jobs without any.
type budgets struct {
	of   []allowance // by job; nil when no job has a budget
	ends ends        // when budgets are used up, if their jobs run on until then
}

// allowance is what is left of a budget.
type allowance struct {
	bounded bool
	left    time.Duration // when the job last began to run
	since   time.Duration // that instant
	end     time.Duration // when the budget is used up; Never while the job does not run
}

// newBudgets returns the budgets of jobs.
func newBudgets(jobs []scheduler.Job) budgets {
	var b budgets
	for i := range jobs {
		if jobs[i].Budget() == nil {
			continue
		}
		if b.of == nil {
			b.of = make([]allowance, len(jobs))
		}
		b.of[i] = allowance{bounded: true, left: *jobs[i].Budget(), end: scheduler.Never}
	}
	return b
}

// begin and rest begin and end a stretch of service time.
func (b *budgets) begin(job int, now time.Duration) {
	if b.of == nil || !b.of[job].bounded {
		return
	}
	a := &b.of[job]
	a.since, a.end = now, later(now, a.left)
	b.ends.push(end{a.end, int32(job)})
}

func (b *budgets) rest(job int, now time.Duration) {
	if b.of == nil || !b.of[job].bounded {
		return
	}
	a := &b.of[job]
	a.left, a.end = max(a.left-(now-a.since), 0), scheduler.Never
}

// next is the next instant at which a budget is used up.
func (e *Engine) nextSpent() time.Duration {
	b := &e.budgets
	for len(b.ends) > 0 && b.of[b.ends[0].job].end != b.ends[0].at {
		b.ends.pop() // the job has been paused, or is over
	}
	if len(b.ends) == 0 {
		return scheduler.Never
	}
	return b.ends[0].at
}

// endSpent ends the jobs whose budgets are used up by now.
func (e *Engine) endSpent() {
	for e.nextSpent() <= e.now {
		job := int(e.budgets.ends.pop().job)
		t := e.at(job)
		e.halt(job, t)
		e.leave(job)
		e.apart(job)
		t.phase = over
		e.news = append(e.news, scheduler.Notice{
			Kind: scheduler.JobEnded, Job: job, At: e.now, State: scheduler.Finished, Attempt: e.attempt(job),
		})
	}
}

// within is the work that a job has left, in seconds, as far as its budget lets it.
func (b *budgets) within(job int, work float64, now time.Duration) float64 {
	if b.of == nil || !b.of[job].bounded {
		return work
	}
	a := b.of[job]
	if a.end != scheduler.Never {
		a.left -= now - a.since
	}
	return min(work, a.left.Seconds())
}
