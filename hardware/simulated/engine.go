// Package simulated is the engine that simulates jobs in virtual time, as discrete events. A job whose cores do not
// change ends exactly after its run time, to the nanosecond. Only changes of speed are rounded.
package simulated

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/jobtable"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// String returns the overheads as text: "start 20ms, pause 0s, resume 0s, resize 0s", and migrate if it differs from
// resume.
func (o Overheads) String() string {
	s := fmt.Sprintf("start %s, pause %s, resume %s, resize %s", o.Start, o.Pause, o.Resume, o.Resize)
	if o.Migrate != o.Resume {
		s += fmt.Sprintf(", migrate %s", o.Migrate)
	}
	return s
}

// Options are the settings of an engine. The zero value has the defaults.
type Options struct {
	Overheads Overheads
	// Noise is the relative standard deviation of run times. They are multiplied by a random lognormal factor with
	// mean 1. The factor depends only on Seed and the name of the job, so that compared policies see the same
	// factors (common random numbers).
	Noise float64
	Seed  int64
	// Contention slows jobs down when neighbors hold cores; nil for no contention. It slows all remaining work of a
	// job, including start-up and overheads.
	Contention *Contention
	// Checkpoints has the checkpoints of each job; nil elements for jobs without them. It is nil if no job writes
	// any.
	Checkpoints []*Checkpoint
	// Fleet supplies servers for nodes of Cluster that come and go; nil if all nodes stay.
	Fleet   Fleet
	Cluster scheduler.Cluster
	// Lacks are the capabilities that the engine should not have.
	Lacks scheduler.Capabilities
}

// All are the capabilities of the engine if Options.Lacks is empty.
var All = scheduler.Capabilities{Pause: true, Resize: true, Memory: true, GPUs: true, Migrate: true}

// ErrLacking is returned for an action that needs a capability in Options.Lacks.
var ErrLacking = errors.New("the simulated engine was set up without the ability to")

// Engine simulates jobs in virtual time. It implements scheduler.Engine.
type Engine struct {
	jobs  scheduler.JobSet
	work  func(job int) Work
	opts  Options
	now   time.Duration
	tasks jobtable.Table[task]
	ends  endings
	stops []scheduler.Notice // ends of stopped jobs that Next has not returned yet
	news  []scheduler.Notice // result of the last call of Next; reused
	marks                    // reports of progress
	crowd *crowd             // running jobs under contention, instead of ends; else nil
	// chosen has the work of started jobs with alternatives; nil until one has started.
	chosen  []Work
	ways    []int32 // by job, the alternative of that work
	budgets budgets
	saves   []saving  // by job; nil if no job writes checkpoints
	kept    []float64 // by job, the fraction of work that remained after its last attempt; nil before a loss
	onNode  [][]int32 // running jobs with checkpoints, by node

	attended []bool            // by job, whether it reports every unit; nil if none does
	say      Reported          // returns the reports of jobs
	held     []scheduler.Grant // grants by job; nil unless some are attended
	courses  []Course          // by job; nil if no job has staged work
	mates    map[int]shared    // by running job that shares GPUs
	samples  map[int]bool      // running jobs that are samples
}

// task is the state of a job. Its remaining time is lead, which does not depend on the speed, and then scaled, which
// does.
type task struct {
	phase  phase
	cores  uint16  // on which it ran last, if rate depends only on their number
	slot   int32   // slot of its end while it runs
	rate   float64 // the speed at which scaled is the remaining time
	lead   time.Duration
	scaled time.Duration
	since  time.Duration // instant of lead and scaled; under contention, on the clock of the job's group
	end    time.Duration // end of a running job, on the same clock
}

type phase uint8

const (
	idle phase = iota
	running
	paused
	over
)

// New returns an engine for jobs. work[i] is the work of jobs[i], and must not change. A pointer to an element of
// work must implement Work, as for []Scaling. For work of several types, use []struct{ Work }.
func New[W any, P interface {
	*W
	Work
}](jobs []scheduler.Job, work []W, opts Options) (*Engine, error) {
	if len(jobs) != len(work) {
		return nil, fmt.Errorf("simulated: there are %d jobs, but the work of %d jobs", len(jobs), len(work))
	}
	return create(scheduler.JobSet{List: jobs}, func(job int) Work { return P(&work[job]) }, opts)
}

// NewDrawn returns an engine for jobs of a JobPager, which must have no budgets. work returns the work of a job; it
// is valid until the next call. Only the work of the first jobs is checked; the others must differ only in their
// times, which must not be negative.
func NewDrawn(jobs scheduler.JobPager, work func(job int) Work, opts Options) (*Engine, error) {
	return create(scheduler.JobSet{Drawn: jobs}, work, opts)
}

func create(jobs scheduler.JobSet, work func(job int) Work, opts Options) (*Engine, error) {
	if o := opts.Overheads; min(o.Start, o.Pause, o.Resume, o.Resize, o.Migrate) < 0 {
		return nil, errors.New("simulated: an overhead is negative")
	}
	if !(opts.Noise >= 0) || math.IsInf(opts.Noise, 1) {
		return nil, fmt.Errorf("simulated: the noise %v must be at least 0", opts.Noise)
	}
	e := &Engine{jobs: jobs, work: work, opts: opts, budgets: newBudgets(jobs.List)}
	e.ends = newEndings()
	e.tasks = jobtable.New(jobs.Len(), e.newTask, task{phase: over})
	if c := opts.Contention; c != nil {
		if c.Slowdown == nil || len(c.Cluster.Nodes) == 0 {
			return nil, errors.New("simulated: contention without a law, or without a cluster")
		}
		e.crowd = newCrowd(*c, jobs.Len())
	}
	if opts.Checkpoints != nil {
		if len(opts.Checkpoints) != jobs.Len() {
			return nil, fmt.Errorf("simulated: there are %d jobs, but the checkpoints of %d jobs", jobs.Len(), len(opts.Checkpoints))
		}
		e.saves = make([]saving, jobs.Len())
	}
	e.onNode = make([][]int32, len(opts.Cluster.Nodes))
	for i := range max(len(jobs.List), min(jobs.Len(), checkedDrawn)) {
		w := work(i)
		if err := w.Check(); err != nil {
			return nil, fmt.Errorf("simulated: job %q: %w", jobs.At(i).Name, err)
		}
		if err := e.begins(i, w); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// checkedDrawn is the number of jobs whose work NewDrawn checks.
const checkedDrawn = scheduler.PageSize

// newTask sets the task of a job before its start.
func (e *Engine) newTask(job int32, t *task) {
	*t = task{}
	e.setOut(int(job), t, e.work(int(job)))
}

// at returns the task of a job.
func (e *Engine) at(job int) *task { return e.tasks.At(int32(job)) }

// AnnounceStarts implements scheduler.Simulator.
func (e *Engine) AnnounceStarts(jobs []int32) { e.tasks.Fetch(jobs) }

// end removes the state of a job that has ended.
func (e *Engine) end(job int, t *task) {
	t.phase = over
	e.tasks.Over(int32(job))
}

// noise returns a random lognormal factor with mean 1 and relative standard deviation opts.Noise: exp(sZ - s²/2)
// with s² = ln(1 + noise²).
func noise(opts Options, job string) float64 {
	s2 := math.Log1p(opts.Noise * opts.Noise)
	return math.Exp(math.Sqrt(s2)*workload.Stream(opts.Seed, "noise", job).NormFloat64() - s2/2)
}

// Capabilities returns the capabilities of the engine.
func (e *Engine) Capabilities() scheduler.Capabilities { return Without(e.opts.Lacks) }

// Without returns all capabilities except the given ones.
func Without(lacks scheduler.Capabilities) scheduler.Capabilities {
	return scheduler.Capabilities{
		Pause: All.Pause && !lacks.Pause, Resize: All.Resize && !lacks.Resize,
		Memory: All.Memory && !lacks.Memory, GPUs: All.GPUs && !lacks.GPUs, Migrate: All.Migrate && !lacks.Migrate,
	}
}

// Now returns the engine's virtual time.
func (e *Engine) Now() time.Duration { return e.now }

// RemainingWork implements scheduler.Simulator.
func (e *Engine) RemainingWork() float64 {
	sum := 0.0
	for job, known := range e.tasks.All() {
		i, t := int(job), *known
		if t.phase != running && t.phase != paused {
			continue
		}
		if t.phase == running {
			t = e.look(i)
		}
		if c := e.course(i); c != nil {
			sum += c.Remaining(max(c.Left(scheduler.Plus(e.now, t.lead))-t.scaled, 0)).Seconds()
			continue
		}
		_, _, rate := e.workOf(i).Times()
		sum += e.budgets.within(i, t.lead.Seconds()+t.scaled.Seconds()*t.rate/rate*e.inFirst(i), e.now)
	}
	return sum
}

// Start starts a job.
func (e *Engine) Start(job int, g scheduler.Grant) error {
	t, err := e.task("start", job, idle)
	if err != nil {
		return err
	}
	if e.opts.Lacks.GPUs && len(g.GPUs) > 0 {
		return fmt.Errorf("start job %d: %w use GPUs", job, ErrLacking)
	}
	if len(g.Cores) == 0 {
		return fmt.Errorf("start job %d: it is given no cores", job)
	}
	w, err := e.choose(job, t, g)
	if err != nil {
		return err
	}
	e.again(job, t)
	t.lead += e.opts.Overheads.Start
	e.hold(job, &g)
	e.rescale(job, t, w.Rate(g))
	e.follow(job, t, &g)
	if err := e.together(job, t, &g); err != nil {
		return err
	}
	if s := e.saving(job); s != nil {
		between := scheduler.Never
		if e.opts.Fleet != nil {
			between = e.opts.Fleet.Between(e.vital(job, g))
		}
		_, _, rate := w.Times()
		s.begin(e.opts.Checkpoints[job], t, stretch(e.whole(job), rate, t.rate), between)
	}
	e.join(job, &g)
	e.ranOn(t, w, &g)
	e.run(job, t, g.Cores)
	return nil
}

// Pause pauses a running job.
func (e *Engine) Pause(job int) error {
	t, err := e.task("pause", job, running)
	if err != nil {
		return err
	}
	if e.opts.Lacks.Pause {
		return fmt.Errorf("pause job %d: %w pause", job, ErrLacking)
	}
	e.halt(job, t)
	e.leave(job)
	e.apart(job)
	t.lead += e.opts.Overheads.Pause
	t.phase = paused
	return nil
}

// Resume continues a paused job.
func (e *Engine) Resume(job int, g scheduler.Grant) error {
	return e.goOn(job, g, e.opts.Overheads.Resume)
}

// Migrates implements scheduler.Migrator.
func (e *Engine) Migrates() (nodes, alternatives bool) {
	can := e.Capabilities().Migrate
	return can, can
}

// Migrate implements scheduler.Migrator.
func (e *Engine) Migrate(job int, g scheduler.Grant) error {
	return e.goOn(job, g, e.opts.Overheads.Migrate)
}

// goOn continues a paused job with a grant, after the overhead cost.
func (e *Engine) goOn(job int, g scheduler.Grant, cost time.Duration) error {
	t, err := e.task("resume", job, paused)
	if err != nil {
		return err
	}
	if err := e.switchTo(job, t, g.Alternative); err != nil {
		return err
	}
	t.lead += cost
	e.hold(job, &g)
	if w := e.workOf(job); g.Cores.Count() != int(t.cores) || !e.scales(w, &g) {
		e.rescale(job, t, w.Rate(g))
		e.ranOn(t, w, &g)
	}
	e.follow(job, t, &g)
	if err := e.together(job, t, &g); err != nil {
		return err
	}
	e.join(job, &g)
	e.run(job, t, g.Cores)
	return nil
}

// ranOn records the number of cores of a job, if its rate depends only on that number.
func (e *Engine) ranOn(t *task, w Work, g *scheduler.Grant) {
	if t.cores = 0; e.scales(w, g) {
		if n := g.Cores.Count(); n <= math.MaxUint16 {
			t.cores = uint16(n)
		}
	}
}

// scales reports whether the rate of a job's work depends only on its number of cores, and no other event changes
// the rate.
func (e *Engine) scales(w Work, g *scheduler.Grant) bool {
	_, plain := w.(*Scaling)
	return plain && e.chosen == nil && e.mates == nil && e.courses == nil && g.Layout == nil
}

// Resize changes the cores of a running job.
func (e *Engine) Resize(job int, g scheduler.Grant) error {
	t, err := e.task("resize", job, running)
	if err != nil {
		return err
	}
	if e.opts.Lacks.Resize {
		return fmt.Errorf("resize job %d: %w resize", job, ErrLacking)
	}
	e.halt(job, t)
	t.lead += e.opts.Overheads.Resize
	t.cores = 0
	e.hold(job, &g)
	e.rescale(job, t, e.workOf(job).Rate(g))
	e.follow(job, t, &g)
	e.run(job, t, g.Cores)
	return nil
}

// Stop ends a running or paused job at this instant.
func (e *Engine) Stop(job int) error {
	if job < 0 || job >= e.jobs.Len() {
		return fmt.Errorf("stop: no job has the number %d", job)
	}
	if t := e.at(job); t.phase == running || t.phase == paused {
		if t.phase == running {
			e.halt(job, t)
			e.leave(job)
			e.apart(job)
		}
		e.stops = append(e.stops, scheduler.Notice{
			Kind: scheduler.JobEnded, Job: job, At: e.now, State: scheduler.Stopped, Reason: "stopped",
			Attempt: e.attempt(job),
		})
		e.end(job, t)
	}
	return nil
}

// Next advances the virtual time to the next instant at which a job ends or (see Watch) reports progress, but at
// most to until. It is an error if there is no such instant.
func (e *Engine) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if err := ctx.Err(); err != nil {
		return e.now, nil, err
	}
	e.news = e.news[:0]
	if len(e.stops) > 0 {
		e.news, e.stops = append(e.news, e.stops...), e.stops[:0]
		return e.now, e.sorted(), nil
	}
	if e.crowd != nil {
		return e.nextCrowded(until)
	}
	at := until
	timed := len(e.due)+len(e.budgets.ends) > 0 || e.opts.Fleet != nil // other events may come before the end of a job
	if timed {
		at = min(at, e.nextMark(), e.nextNode(), e.nextSpent())
	}
	first := e.ends.first()
	if first != nil {
		at = min(at, first.at)
	}
	if at == scheduler.Never {
		return e.now, nil, e.noInstant(first != nil)
	}
	e.now = max(e.now, at)
	if timed {
		e.passMarks()
	}
	for ; first != nil && first.at <= e.now; first = e.ends.first() {
		job, at := int(first.job), first.at
		e.ends.remove(first.slot)
		e.over(job, at)
	}
	if timed {
		e.endSpent()
	}
	if e.opts.Fleet != nil {
		e.takeNodes()
	}
	if e.courses != nil && len(e.news) == 0 && e.now < until {
		return e.Next(ctx, until) // only a stage has ended, not a job
	}
	return e.now, e.sorted(), nil
}

// nextCrowded is Next under contention.
func (e *Engine) nextCrowded(until time.Duration) (time.Duration, []scheduler.Notice, error) {
	e.crowd.settle(e.now, e.stale)
	at := min(until, e.crowd.soonest(), e.nextMark(), e.nextNode(), e.nextSpent())
	if at == scheduler.Never {
		return e.now, nil, e.noInstant(e.crowd.live > 0)
	}
	e.now = max(e.now, at)
	e.crowd.finish(e.now, e.stale, func(job int) { e.over(job, e.now) })
	e.endSpent()
	e.passMarks()
	if e.opts.Fleet != nil {
		e.takeNodes()
	}
	if len(e.news) == 0 && e.now < until {
		return e.nextCrowded(until) // the slowdown has changed, or a report was expected too early
	}
	return e.now, e.sorted(), nil
}

// over ends a job that has done all of its work.
func (e *Engine) over(job int, at time.Duration) {
	t := e.at(job)
	if e.courses != nil && e.nextStage(job, t, at) {
		return
	}
	e.budgets.rest(job, at)
	e.apart(job)
	if e.saves != nil || e.opts.Fleet != nil {
		e.advance(job, t)
		e.leave(job)
		t.lead, t.scaled = 0, 0
	}
	e.news = append(e.news, scheduler.Notice{})
	n := &e.news[len(e.news)-1]
	n.Kind, n.Job, n.At, n.State, n.Attempt = scheduler.JobEnded, job, at, scheduler.Finished, e.attempt(job)
	if e.samples == nil || !e.sampled(job, t) {
		e.end(job, t)
	}
}

// sorted returns the notices in order.
func (e *Engine) sorted() []scheduler.Notice {
	if len(e.news) > 1 {
		slices.SortFunc(e.news, scheduler.CompareNotices)
	}
	return e.news
}

// noInstant returns the error for a run without a next instant. runs says that jobs run: their ends are then out of
// range.
func (e *Engine) noInstant(runs bool) error {
	if !runs {
		return errNothing
	}
	return fmt.Errorf("simulated: after %s, no running job ends within 292 years of the start, and simulated time ends there",
		e.now)
}

// errNothing is returned if there is nothing to wait for.
var errNothing = errors.New("simulated: nothing runs, and there is no instant to wait for")

// task returns the task of a job. It returns an error unless the job is in the phase want.
func (e *Engine) task(verb string, job int, want phase) (*task, error) {
	if job < 0 || job >= e.jobs.Len() {
		return nil, fmt.Errorf("%s: no job has the number %d", verb, job)
	}
	if t := e.at(job); t.phase == want {
		return t, nil
	}
	phases := [...]string{"not started", "running", "paused", "over"}
	return nil, fmt.Errorf("%s job %d: it is %s", verb, job, phases[e.at(job).phase])
}

// run starts the progress of a job on the given cores.
func (e *Engine) run(job int, t *task, cores scheduler.CoreSet) {
	t.phase, t.since = running, e.now
	e.budgets.begin(job, e.now)
	if e.crowd == nil {
		t.end = scheduler.Plus(t.since, scheduler.Plus(t.lead, e.span(job, t.scaled)))
		t.slot = e.ends.push(t.end, int32(job))
	} else {
		g := e.crowd.enter(job, cores, e.now)
		t.since = g.clock
		t.end = scheduler.Plus(t.since, scheduler.Plus(t.lead, e.span(job, t.scaled)))
		g.ends.Push(end{At: t.end, Of: int32(job)})
	}
	e.expectMark(job, t)
}

// halt stops the progress of a running job.
func (e *Engine) halt(job int, t *task) {
	before := t.scaled
	e.advance(job, t)
	if e.courses != nil {
		if c := e.course(job); c != nil {
			c.Advance(before - t.scaled)
		}
	}
	e.budgets.rest(job, e.now)
	if e.crowd != nil {
		e.crowd.leave(job, e.now)
	} else {
		e.ends.remove(t.slot)
	}
}

// advance subtracts the work since the last change from a job's remaining work.
func (e *Engine) advance(job int, t *task) {
	d := e.now - t.since
	if e.crowd != nil {
		d = min(e.crowd.clock(job, e.now)-t.since, scheduler.Plus(t.lead, e.span(job, t.scaled))) // the clock is rounded
	}
	t.since += d
	lead := min(d, t.lead)
	t.lead -= lead
	if s := e.saving(job); s != nil && d > lead {
		s.pass(d-lead, e.opts.Checkpoints[job].Cost, t)
		return
	}
	t.scaled -= d - lead
}

// look returns the task of a job as it is now.
func (e *Engine) look(job int) task {
	t := e.at(job)
	if e.saving(job) == nil {
		copied := *t
		t = &copied
	}
	e.advance(job, t)
	return *t
}

// rescale changes the speed of a job.
func (e *Engine) rescale(job int, t *task, rate float64) {
	if s := e.saving(job); s != nil {
		s.rescale(t.rate, rate, e.opts.Checkpoints[job].Share > 0)
	}
	t.rescale(rate)
}

// rescale converts the remaining work to another rate.
func (t *task) rescale(rate float64) { t.scaled, t.rate = stretch(t.scaled, t.rate, rate), rate }

// stale reports whether an end is out of date, because its job was paused, resized or stopped.
func (e *Engine) stale(x end) bool {
	t := e.at(int(x.Of))
	return t.phase != running || t.end != x.At
}

// Factor returns the noise factor of a job's run time; 1 without noise. Exact predictions include it.
func (o Options) Factor(job string) float64 {
	if o.Noise == 0 {
		return 1
	}
	return noise(o, job)
}
