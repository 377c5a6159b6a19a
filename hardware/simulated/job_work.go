package simulated

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Work is how long a job takes: first a fixed part, which no grant changes, then
// the rest, whose progress per second depends on the job's grant. It is the
// truth of a simulated job, which predictions may miss.
type Work interface {
	// Times returns the two parts, alone and without overheads; the rest is
	// the time that it takes at a rate.
	Times() (fixed, rest time.Duration, rate float64)
	// Rate returns the progress per second under a grant, above 0, in the unit of
	// Times.
	Rate(g scheduler.Grant) float64
	// In returns the work of the job when it runs in one of its alternatives: the
	// work itself if they are all the same to it.
	In(alternative int) (Work, error)
	// Check returns an error for work that no job can have.
	Check() error
}

// Scaling is work whose rate depends on the number of threads alone.
type Scaling struct {
	// Fixed is the part that no number of threads changes: the start-up.
	Fixed time.Duration
	// Scaled is the rest, on Threads threads (0 means 1).
	Scaled  time.Duration
	Threads int
	// Parallel is the part of Scaled that is spread evenly over the threads,
	// 0 to 1 (G. Amdahl, 1967). SpeedUp, if it is set, takes its place.
	Parallel float64
	// SpeedUp returns how many times faster the scaled part is on the given
	// threads than on one thread; above 0.
	SpeedUp func(threads int) float64
	// Special, if it is set, has the properties that few jobs need; there may be millions of other jobs.
	Special *Special
}

// Special has the rare properties of a job's work.
type Special struct {
	// Crew, if it is set, takes the place of Scaling.Parallel and SpeedUp for a job with roles: its speed depends on
	// the devices of its parts.
	Crew Crew
	// Begin, if it is set, returns a replacement for all of Scaling except Fixed while the job
	// runs; Scaled is then the time that it takes alone on its request.
	Begin func() Course
	// Beside has the fraction of its speed that the job keeps while it shares its GPUs with a
	// job, by that job's class. It shares GPUs with no other classes.
	Beside map[string]float64
	// Alternatives has the work of a job with alternatives in each of them;
	// all else then does not count.
	Alternatives []Scaling
}

// Alternatives has the work of a job with alternatives in each of them; nil for one without.
func (w *Scaling) Alternatives() []Scaling {
	if w.Special == nil {
		return nil
	}
	return w.Special.Alternatives
}

// AddAlternative adds the work of the job in one more alternative.
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

// Crew is the speed of a job with roles by its parts.
type Crew interface {
	// Speed returns how many times faster than in Scaling.Scaled the job is with these parts; above 0.
	Speed(parts []scheduler.Part) float64
}

// neighbor is work that knows its speed while other jobs share its GPUs.
type neighbor interface {
	// keeps returns the fraction of its speed that remains while a job of a class shares its GPUs; 0 for unknown.
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

// Training is a job with the given number of epochs. An epoch takes the given
// time on one thread; the fraction parallel of it speeds up with more threads.
func Training(startup time.Duration, epochs int, epoch time.Duration, parallel float64) Scaling {
	return Scaling{Fixed: startup, Scaled: scheduler.CoreTime(epoch, epochs), Threads: 1, Parallel: parallel}
}

// FullRequest is a job that takes a given time on its full request, and in
// proportion longer on fewer threads.
func FullRequest(runTime time.Duration, threads int) Scaling {
	return Scaling{Scaled: runTime, Threads: threads, Parallel: 1}
}

// RunTime returns how long the job takes alone on the given threads, without
// overheads and noise.
func (w Scaling) RunTime(threads int) time.Duration {
	return w.Fixed + stretch(w.Scaled, w.Speed(max(w.Threads, 1)), w.Speed(threads))
}

// Estimate returns RunTime as a prediction for scheduler.Job: at least a nanosecond,
// since 0 means no estimate.
func (w Scaling) Estimate(threads int) time.Duration { return max(w.RunTime(threads), 1) }

// Speed returns the speed on the given threads, relative to one thread.
func (w *Scaling) Speed(threads int) float64 {
	if s := w.Special; s != nil && (s.Crew != nil || s.Begin != nil) {
		return 1
	}
	if w.SpeedUp != nil {
		return w.SpeedUp(threads)
	}
	if threads == 1 {
		return 1 // as below: that is exact
	}
	return 1 / (1 - w.Parallel + w.Parallel/float64(threads))
}

// stretch converts a time at one speed to the time at another. Where the
// speeds are the same it is exact.
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

// budgets ends jobs whose service time has reached their budget, whatever work is
// left. The zero value is for jobs without budgets.
type budgets struct {
	of   []allowance  // by job; nil when no job has a budget
	ends queue.Timers // when budgets are used up, if their jobs run on until then
}

// allowance is the rest of a budget.
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

// nextSpent is the next instant at which a budget is used up.
func (e *Engine) nextSpent() time.Duration {
	b := &e.budgets
	for len(b.ends) > 0 && b.of[b.ends[0].Of].end != b.ends[0].At {
		b.ends.Pop() // the job has been paused, or is over
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

// within is a job's remaining work within its budget, in seconds.
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

// marks are the instants at which jobs report their progress: when their
// finished units are 1, 2, 4, 8 and so on.
type marks struct {
	due   queue.Timers // like ends, an entry counts only while its job's mark is at that instant
	units []int        // by job; nil when nobody watches
	jobs  []marked     // by job
}

type marked struct {
	next  int // units of the next report; 0 before the first start
	at    time.Duration
	whole time.Duration // the scaled part of its run time, on the threads of its work
}

// Watch implements scheduler.Watcher: after the fixed part, every unit of a job
// takes an equal part of the scaled run time.
func (e *Engine) Watch(units []int) {
	e.marks = marks{units: units, jobs: make([]marked, e.jobs.Len())}
	for i := range e.jobs.Len() {
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
	m.at = scheduler.Plus(e.now, gap)
	e.due.Push(end{At: m.at, Of: int32(job)})
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
		e.due.Pop()
	}
	if len(e.due) == 0 {
		return scheduler.Never
	}
	return e.due[0].At
}

// passed reports whether a mark does not count any more.
func (e *Engine) passed(x end) bool {
	return e.at(int(x.Of)).phase != running || e.marks.jobs[x.Of].at != x.At
}

// passMarks gives notice of the progress that is due by now.
func (e *Engine) passMarks() {
	for e.nextMark() <= e.now && len(e.due) > 0 {
		x := e.due.Pop()
		m := &e.marks.jobs[x.Of]
		t := e.look(int(x.Of))
		if e.crowd != nil {
			// Its neighbors have changed its speed since. If they let it run
			// faster, the notice comes a little late.
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

// clockError is how far the clock of jobs that share a node may be off.
const clockError = 4 * time.Nanosecond
