package simulated

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// marks are the instants at which jobs report how far they have come: when
// their finished units are 1, 2, 4, 8 and so on.
type marks struct {
	due   ends     // like ends, an entry counts only while its job's mark is at that instant
	units []int    // by job; nil when nobody watches
	jobs  []marked // by job
}

type marked struct {
	next  int // units of the next report; 0 before the first start
	at    time.Duration
	whole time.Duration // what the number of threads changes of its run time, on those of its work
}

// Watch implements scheduler.Watcher: every unit of a job takes an equal part
// of what the number of threads changes of its run time, after its fixed part.
func (e *Engine) Watch(units []int) {
	e.marks = marks{units: units, jobs: make([]marked, len(e.jobs))}
	for i := range e.jobs {
		e.marks.jobs[i].whole = e.at(i).scaled
	}
}

// expectMark notes when a job that runs from now on has its next report. The
// last unit of a job is known from its end.
func (e *Engine) expectMark(job int, t *task) {
	if e.units == nil || e.units[job] == 0 {
		return
	}
	m := &e.marks.jobs[job]
	m.next = max(m.next, 1)
	m.at = scheduler.Never
	if gap, ok := e.untilMark(job, t); ok {
		e.mark(job, gap)
	}
}

func (e *Engine) mark(job int, gap time.Duration) {
	m := &e.marks.jobs[job]
	m.at = later(e.now, gap)
	e.due.push(end{m.at, int32(job)})
}

// untilMark is the work, as time alone on its cores, that a job has yet to do
// until its next report; it has none any more when ok is false.
func (e *Engine) untilMark(job int, t *task) (gap time.Duration, ok bool) {
	m := &e.marks.jobs[job]
	_, _, rate := e.workOf(job).Times()
	total := stretch(m.whole, rate, t.rate)
	if m.next >= e.units[job] || total == 0 {
		return 0, false
	}
	left := float64(total) * (1 - float64(m.next)/float64(e.units[job])) // of the scaled part, then
	return t.lead + e.span(job, max(t.scaled-time.Duration(math.Round(left)), 0)), true
}

// nextMark is the instant of the next report.
func (e *Engine) nextMark() time.Duration {
	for len(e.due) > 0 && e.passed(e.due[0]) {
		e.due.pop()
	}
	if len(e.due) == 0 {
		return scheduler.Never
	}
	return e.due[0].at
}

// passed reports whether a mark does not count any more.
func (e *Engine) passed(x end) bool {
	return e.at(int(x.job)).phase != running || e.marks.jobs[x.job].at != x.at
}

// passMarks gives notice of the progress that is due by now.
func (e *Engine) passMarks() {
	for e.nextMark() <= e.now && len(e.due) > 0 {
		x := e.due.pop()
		m := &e.marks.jobs[x.job]
		t := e.look(int(x.job))
		if e.crowd != nil {
			// Its neighbours have changed its speed since. Where they let it go
			// faster, notice comes a little late.
			if gap, ok := e.untilMark(int(x.job), &t); ok && gap > clockError {
				e.mark(int(x.job), stretch(gap, e.crowd.slow(int(x.job)), 1))
				continue
			}
		}
		n := scheduler.Notice{Kind: scheduler.JobProgress, Job: int(x.job), At: x.at, Units: m.next}
		if e.attended != nil && e.attended[x.job] {
			said := e.say(int(x.job), m.next)
			n.Progress = &said
			m.next++
		} else {
			m.next *= 2
		}
		e.news = append(e.news, n)
		m.at = scheduler.Never
		e.expectMark(int(x.job), &t)
	}
}

// clockError is how far the clock of jobs that share a node may be off.
const clockError = 4 * time.Nanosecond
