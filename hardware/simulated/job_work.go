package simulated

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Work says how long a job takes. First comes a fixed time, which no grant changes, then the rest, whose speed
// depends on the grant. It is the true run time of a simulated job; predictions may differ.
type Work interface {
	// Times returns the fixed time and the rest, without other jobs and overheads. rest is the time that the rest
	// takes at the speed rate.
	Times() (fixed, rest time.Duration, rate float64)
	// Rate returns the speed with a grant, greater than 0, in the unit of Times.
	Rate(g scheduler.Grant) float64
	// In returns the work of the job with one of its alternatives. If alternatives do not matter, it returns the
	// work itself.
	In(alternative int) (Work, error)
	// Check returns an error if the work is impossible.
	Check() error
}

// Scaling is work whose speed depends only on the number of threads.
type Scaling struct {
	// Fixed is the start-up, which does not depend on threads.
	Fixed time.Duration
	// Scaled is the time of the rest on Threads threads (0 means 1).
	Scaled  time.Duration
	Threads int
	// Parallel is the fraction of Scaled, 0 to 1, that runs in parallel (G. Amdahl, 1967). SpeedUp, if not nil,
	// replaces it.
	Parallel float64
	// SpeedUp returns how many times faster the rest is on a number of threads than on one; greater than 0.
	SpeedUp func(threads int) float64
	// Special has rare properties; nil for none. It is separate, because there may be millions of jobs without them.
	Special *Special
}

// Special has the rare properties of a job's work.
type Special struct {
	// Crew, if not nil, replaces Parallel and SpeedUp for a job with roles. Its speed depends on the devices of its
	// parts.
	Crew Crew
	// Begin, if not nil, returns work in stages that replaces all of Scaling except Fixed. Scaled is then the time
	// of the work alone on its full request.
	Begin func() Course
	// Beside maps a class of jobs to the fraction of its speed that this job keeps while it shares GPUs with a job
	// of the class. It shares GPUs only with these classes.
	Beside map[string]float64
	// Alternatives has the work with each alternative of the job. The other fields are then ignored.
	Alternatives []Scaling
}

// Alternatives returns the work with each alternative; nil for a job without alternatives.
func (w *Scaling) Alternatives() []Scaling {
	if w.Special == nil {
		return nil
	}
	return w.Special.Alternatives
}

// AddAlternative adds the work with a further alternative.
func (w *Scaling) AddAlternative(a Scaling) {
	if w.Special == nil {
		w.Special = &Special{}
	}
	w.Special.Alternatives = append(w.Special.Alternatives, a)
}

// Times implements Work.
func (w *Scaling) Times() (fixed, rest time.Duration, rate float64) {
	return w.Fixed, w.Scaled, w.Speed(max(w.Threads, 1))
}

// Rate implements Work.
func (w *Scaling) Rate(g scheduler.Grant) float64 {
	if s := w.Special; s != nil && s.Crew != nil && g.Layout != nil {
		return s.Crew.Speed(g.Layout.Parts)
	}
	return w.Speed(g.Cores.Count())
}

// Crew computes the speed of a job with roles from its parts.
type Crew interface {
	// Speed returns how many times faster the job is with the given parts than in Scaling.Scaled; greater than 0.
	Speed(parts []scheduler.Part) float64
}

// neighbor is work whose speed on shared GPUs is known.
type neighbor interface {
	// keeps returns the fraction of speed that remains while a job of a class shares the GPUs; 0 if unknown.
	keeps(class string) float64
}

func (w *Scaling) keeps(class string) float64 {
	if w.Special == nil {
		return 0
	}
	return w.Special.Beside[class]
}

// In implements Work.
func (w *Scaling) In(alternative int) (Work, error) {
	switch all := w.Alternatives(); {
	case len(all) == 0:
		return w, nil
	case alternative < 0 || alternative >= len(all):
		return nil, fmt.Errorf("it has no alternative %d", alternative)
	default:
		return &all[alternative], nil
	}
}

// Training returns the work of a job with a number of epochs. epoch is the time of an epoch on one thread. The
// fraction parallel of it runs in parallel.
func Training(startup time.Duration, epochs int, epoch time.Duration, parallel float64) Scaling {
	return Scaling{Fixed: startup, Scaled: scheduler.CoreTime(epoch, epochs), Threads: 1, Parallel: parallel}
}

// FullRequest returns the work of a job that takes runTime on its full request. On fewer threads it takes
// proportionally longer.
func FullRequest(runTime time.Duration, threads int) Scaling {
	return Scaling{Scaled: runTime, Threads: threads, Parallel: 1}
}

// RunTime returns the run time on a number of threads, without other jobs, overheads and noise.
func (w Scaling) RunTime(threads int) time.Duration {
	return w.Fixed + stretch(w.Scaled, w.Speed(max(w.Threads, 1)), w.Speed(threads))
}

// Speed returns the speed on a number of threads, relative to one thread.
func (w *Scaling) Speed(threads int) float64 {
	if s := w.Special; s != nil && (s.Crew != nil || s.Begin != nil) {
		return 1
	}
	if w.SpeedUp != nil {
		return w.SpeedUp(threads)
	}
	if threads == 1 {
		return 1 // the same result as below, but exact
	}
	return 1 / (1 - w.Parallel + w.Parallel/float64(threads))
}

// stretch converts a time at the speed from to the time at the speed to. It is exact if both are equal.
func stretch(d time.Duration, from, to float64) time.Duration {
	if from == to || d == 0 {
		return d
	}
	t := math.Round(float64(d) * from / to)
	if t >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t)
}

// Check implements Work.
func (w *Scaling) Check() error {
	switch {
	case w.Fixed < 0 || w.Scaled < 0:
		return fmt.Errorf("a run time of %s + %s is negative", w.Fixed, w.Scaled)
	case w.Threads < 0:
		return fmt.Errorf("%d threads", w.Threads)
	case !(w.Parallel >= 0 && w.Parallel <= 1):
		return fmt.Errorf("a parallel part of %v is not between 0 and 1", w.Parallel)
	}
	for i, a := range w.Alternatives() {
		if err := a.Check(); err != nil {
			return fmt.Errorf("alternative %d: %w", i, err)
		}
	}
	return nil
}

// budgets ends jobs whose service time has reached their budget. The zero value is for jobs without budgets.
type budgets struct {
	of   []allowance  // by job; nil if no job has a budget
	ends queue.Timers // instants at which the budgets of running jobs are used up
}

// allowance is the remaining budget of a job.
type allowance struct {
	bounded bool
	left    time.Duration // at the instant since
	since   time.Duration // last start of running
	end     time.Duration // instant at which the budget is used up; Never while the job does not run
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

// begin starts to count a job's service time, and rest stops it.
func (b *budgets) begin(job int, now time.Duration) {
	if b.of == nil || !b.of[job].bounded {
		return
	}
	a := &b.of[job]
	a.since, a.end = now, scheduler.Plus(now, a.left)
	b.ends.Push(end{At: a.end, Of: int32(job)})
}

func (b *budgets) rest(job int, now time.Duration) {
	if b.of == nil || !b.of[job].bounded {
		return
	}
	a := &b.of[job]
	a.left, a.end = max(a.left-(now-a.since), 0), scheduler.Never
}

// nextSpent returns the next instant at which a budget is used up.
func (e *Engine) nextSpent() time.Duration {
	b := &e.budgets
	for len(b.ends) > 0 && b.of[b.ends[0].Of].end != b.ends[0].At {
		b.ends.Pop() // the job was paused, or has ended
	}
	if len(b.ends) == 0 {
		return scheduler.Never
	}
	return b.ends[0].At
}

// endSpent ends the jobs whose budgets are used up by now.
func (e *Engine) endSpent() {
	for e.nextSpent() <= e.now {
		job := int(e.budgets.ends.Pop().Of)
		t := e.at(job)
		e.halt(job, t)
		e.leave(job)
		e.apart(job)
		e.news = append(e.news, scheduler.Notice{
			Kind: scheduler.JobEnded, Job: job, At: e.now, State: scheduler.Finished, Attempt: e.attempt(job),
		})
		e.end(job, t)
	}
}

// within returns the part of a job's remaining work that fits into its budget, in seconds.
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

// marks are the instants at which jobs report progress: when 1, 2, 4, 8, … units are finished.
type marks struct {
	due   queue.Timers // an entry is valid only if it is the present mark of its job
	units []int        // units by job; nil if Watch was not called
	jobs  []marked     // by job
}

type marked struct {
	next  int // finished units at the next report; 0 before the first start
	at    time.Duration
	whole time.Duration // scaled part of the run time, on the threads of the work
}

// Watch implements scheduler.Watcher. After the fixed time, each unit of a job takes an equal part of the scaled run
// time.
func (e *Engine) Watch(units []int) {
	e.marks = marks{units: units, jobs: make([]marked, e.jobs.Len())}
	for i := range e.jobs.Len() {
		e.marks.jobs[i].whole = e.at(i).scaled
	}
}

// expectMark computes when a running job reports next. No report is needed for the last unit, because the job ends
// then.
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
	m.at = scheduler.Plus(e.now, gap)
	e.due.Push(end{At: m.at, Of: int32(job)})
}

// untilMark returns the work until a job's next report, as time alone on its cores. ok is false if there is no
// further report.
func (e *Engine) untilMark(job int, t *task) (gap time.Duration, ok bool) {
	m := &e.marks.jobs[job]
	_, _, rate := e.workOf(job).Times()
	total := stretch(m.whole, rate, t.rate)
	if m.next >= e.units[job] || total == 0 {
		return 0, false
	}
	left := float64(total) * (1 - float64(m.next)/float64(e.units[job])) // of the scaled part, at the report
	return t.lead + e.span(job, max(t.scaled-time.Duration(math.Round(left)), 0)), true
}

// nextMark returns the instant of the next report.
func (e *Engine) nextMark() time.Duration {
	for len(e.due) > 0 && e.passed(e.due[0]) {
		e.due.Pop()
	}
	if len(e.due) == 0 {
		return scheduler.Never
	}
	return e.due[0].At
}

// passed reports whether a mark is out of date.
func (e *Engine) passed(x end) bool {
	return e.at(int(x.Of)).phase != running || e.marks.jobs[x.Of].at != x.At
}

// passMarks adds notices of the progress up to now.
func (e *Engine) passMarks() {
	for e.nextMark() <= e.now && len(e.due) > 0 {
		x := e.due.Pop()
		m := &e.marks.jobs[x.Of]
		t := e.look(int(x.Of))
		if e.crowd != nil {
			// Neighbors have changed its speed since. If it has become faster, the notice is a little late.
			if gap, ok := e.untilMark(int(x.Of), &t); ok && gap > clockError {
				e.mark(int(x.Of), stretch(gap, e.crowd.slow(int(x.Of)), 1))
				continue
			}
		}
		n := scheduler.Notice{Kind: scheduler.JobProgress, Job: int(x.Of), At: x.At, Units: m.next}
		if e.attended != nil && e.attended[x.Of] {
			said := e.say(int(x.Of), m.next)
			n.Progress = &said
			m.next++
		} else {
			m.next *= 2
		}
		e.news = append(e.news, n)
		m.at = scheduler.Never
		e.expectMark(int(x.Of), &t)
	}
}

// clockError is the greatest error of the clock of jobs that share a node.
const clockError = 4 * time.Nanosecond
