// Running keeps the jobs of a real engine that have started: their programs (one, or one for each part of a job with
// roles), their run times, their ends, and their fate when their servers are taken away. It decides when to act on a
// program; its engine, as its ProgramHands, decides how.

package launch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// RunningProgram is the program of a job or of one of its parts, as an engine runs it: a pointer to a struct that
// embeds a JobState.
type RunningProgram interface {
	comparable
	Base() *JobState
}

// ProgramHands are the operations on programs that each engine implements. They are called without a lock, some of them
// from several goroutines at once. A program that has ended meanwhile is no error: the engine gives notice of its end.
type ProgramHands[P RunningProgram] interface {
	// Begin starts the program of the job state s on the resources of a part. The program's output goes to seen, called
	// by one goroutine at a time (nil: nobody listens). fail is called if the job must end because of the output.
	// again: the log is continued. The error is a phrase that says why the program could not be started; nothing of it
	// is then left.
	Begin(s JobState, part scheduler.Part, again bool, seen func(output []byte), fail func(reason string)) (P, error)
	// Discard ends a program for which Attend is not called, since another part of its job could not be started.
	Discard(p P)
	// Attend waits for the end of a program, and calls Jobs.Exited and Jobs.Ended. It runs in a separate goroutine.
	Attend(p P)
	// Addresses gives each part of a job an address.
	Addresses(parts []scheduler.Part) (contract.Cluster, error)
	// Hold stops programs in place, and GoOn continues them.
	Hold(programs []P) error
	GoOn(programs []P) error
	// Bind binds a program to the cores of a part.
	Bind(p P, part scheduler.Part) error
	// Write replaces the content of a program's control file; the content held at the given instant.
	Write(p P, content []byte, at time.Time) error
	// Ask asks programs to end (SIGTERM); the programs of a paused job are continued, so that they receive the signal.
	// Kill ends them at once. Neither waits for their ends.
	Ask(programs []P, paused bool)
	Kill(programs []P)
}

// Fleet says when servers come and go, on the engine's clock. A node is then a part of the engine's machines, which is
// warned and lost as its server is.
type Fleet interface {
	// Acquire creates a server for a node; nil if no more servers are available. Release gives it back.
	Acquire(node int, now time.Duration) *scheduler.Server
	Release(node int)
	// Next is the next instant of an event on a node. Take appends the events up to an instant.
	Next() time.Duration
	Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice
}

// JobsOptions are the settings of Jobs.
type JobsOptions struct {
	// Closed is returned by calls after Close.
	Closed error
	// Cluster has the nodes; it may be empty where grants have the number of their node.
	Cluster scheduler.Cluster
	// Grace is the time between SIGTERM and SIGKILL; by default launch.DefaultGrace.
	Grace time.Duration
	// Fleet has the servers of nodes that come and go; nil when all stand, or the engine knows of them itself.
	Fleet Fleet
	// Saves is whether attempts report their saved work, because nodes come and go.
	Saves bool
	// Suspends makes the programs of a paused job save their work and end. They start again when the job resumes, on
	// any nodes, GPUs and number of cores. Otherwise the programs are stopped in place.
	Suspends bool
	// Here says that programs run on this machine, and so have its clock.
	Here bool
	// Report receives the progress lines of jobs as they come, on the engine's clock. Warn receives warnings about the
	// sources of progress. Both may be nil.
	Report ProgressListener
	Warn   ProgressWarner
}

// Jobs are the jobs of an engine, by number, on a monotonic clock that starts with New. Its methods may be called from
// several goroutines; the methods of scheduler.Engine, from one at a time.
type Jobs[P RunningProgram] struct {
	*ProgressBoard

	hands   ProgramHands[P]
	opts    JobsOptions
	zero    time.Time
	wake    chan struct{} // has an element when ended has grown, or the board is ready
	waiters sync.WaitGroup

	mu    sync.Mutex // guards what follows, and the fields of Job and State that say so
	jobs  []Job
	live  []*RunningJob[P] // nil before the start
	ended []scheduler.Notice
	open  int // jobs that have started and whose end is not yet in ended
	// leaving are suspended attempts that may still have processes.
	leaving []*RunningJob[P]
	closed  bool
	err     error // why the run cannot go on
	serial  int64 // of the last request in a control file
}

// RunningJob is a job that was started: one attempt. Jobs.mu guards the fields below the blank line.
type RunningJob[P RunningProgram] struct {
	Progress *ProgressAttempt
	number   int
	again    bool             // it was started before
	parts    contract.Cluster // addresses of the parts; nil for one program
	before   time.Duration    // service time of the attempts before
	limit    time.Duration    // service time of this attempt; 0 none
	late     string           // why it ends at the limit
	saves    CheckpointSaves

	programs []P // the first speaks for the job
	paused   bool
	done     bool // nothing is left of the job, and usage is complete
	since    time.Time
	alarm    *time.Timer // goes off at the limit; nil without one, and while paused
	usage    Usage
	// Why tfexp ends the job: the first cause counts.
	cause  scheduler.State
	reason string
	// state and why are how the job ended, by its first program.
	state scheduler.State
	why   string
	at    time.Time // when it did
	quiet bool      // no notice of its end is wanted
	// suspended: its programs must save their work and end, because the job is paused.
	suspended bool
}

// JobState is this package's state of a program. Jobs.mu guards the fields below the blank line.
type JobState struct {
	// Number is the job's, and Job the program as it was started.
	Number int
	Job    Job
	// Lead is whether the program speaks for its job. Beside names the speaking program for the others.
	Lead   bool
	Beside any
	// Before is the service time of the attempts before.
	Before time.Duration
	// Over is closed when nothing is left of the program.
	Over chan struct{}

	part scheduler.Part // its cores change
	gone bool           // the program has exited
	done bool           // nothing is left of it
	// lost says that its node is taken away: that it ends is no failure.
	lost   bool
	taken  bool   // its node is gone
	failed string // why it failed by itself, if its job may be able to do without it or is ended for it
	asked  bool   // to end
	// deadline is when last kills its remaining processes; zero for never.
	deadline time.Time
	last     *time.Timer
}

// Base implements Program for a struct that embeds a State.
func (s *JobState) Base() *JobState { return s }

// NewJobs returns the jobs of an engine.
func NewJobs[P RunningProgram](jobs []Job, hands ProgramHands[P], opts JobsOptions) *Jobs[P] {
	opts.Grace = cmp.Or(opts.Grace, DefaultGrace)
	j := &Jobs[P]{
		hands: hands, opts: opts, zero: time.Now(), wake: make(chan struct{}, 1),
		jobs: slices.Clone(jobs), live: make([]*RunningJob[P], len(jobs)),
	}
	j.ProgressBoard = NewProgressBoard(j.Now, j.wake, opts.Report, opts.Warn)
	if opts.Here {
		j.OneClock()
	}
	return j
}

// Now returns the engine's clock.
func (j *Jobs[P]) Now() time.Duration { return time.Since(j.zero) }

// Zero returns the instant at which the engine's clock was zero.
func (j *Jobs[P]) Zero() time.Time { return j.zero }

// present returns the live job, or nil if it has ended or is about to; then no action is possible, and notice of its
// end follows.
func (j *Jobs[P]) present(what string, job int) (r *RunningJob[P], paused bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, false, j.opts.Closed
	}
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return nil, false, fmt.Errorf("%s: job %d was not started", what, job)
	}
	r = j.live[job]
	if r.done || r.leadGone() || r.cause != 0 {
		return nil, false, nil
	}
	return r, r.paused, nil
}

// Pause stops all programs of a job in place, or suspends the job.
func (j *Jobs[P]) Pause(job int) error {
	r, paused, err := j.present("pause", job)
	if r == nil || paused {
		return err
	}
	if j.opts.Suspends {
		j.suspend(r)
		return nil
	}
	if err := j.hands.Hold(j.living(r)); err != nil {
		return fmt.Errorf("pause job %q: %w", j.jobs[job].Name, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	r.rest(time.Now())
	return nil
}

// Resume lets a paused job go on, on the cores of grant.
func (j *Jobs[P]) Resume(job int, grant scheduler.Grant) error {
	if r := j.suspended(job); r != nil {
		j.restart(r, grant)
		return nil
	}
	r, paused, err := j.present("resume", job)
	if r == nil || !paused {
		return err
	}
	if err := j.give(r, grant); err != nil {
		return fmt.Errorf("resume job %q: %w", j.jobs[job].Name, err)
	}
	if err := j.hands.GoOn(j.living(r)); err != nil {
		return fmt.Errorf("resume job %q: %w", j.jobs[job].Name, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !r.leadGone() {
		r.carryOn(time.Now(), func() { j.expire(r) })
	}
	return nil
}

// Resize binds a running job to the cores of grant, and writes that into its control file.
func (j *Jobs[P]) Resize(job int, grant scheduler.Grant) error {
	r, _, err := j.present("resize", job)
	if r == nil {
		return err
	}
	if err := j.give(r, grant); err != nil {
		return fmt.Errorf("resize job %q: %w", j.jobs[job].Name, err)
	}
	return nil
}

// give binds the programs of a job to the cores of grant and writes their control files.
func (j *Jobs[P]) give(r *RunningJob[P], grant scheduler.Grant) error {
	if r.parts == nil {
		p := j.lead(r)
		part := j.Part(p)
		part.Cores, part.GPUs = grant.Cores, grant.GPUs
		if len(j.opts.Cluster.Nodes) > 0 { // it may have moved
			part.Node = grant.Parts(j.opts.Cluster)[0].Node
		}
		return j.bind(p, part)
	}
	for _, part := range Programs(grant) {
		for _, p := range j.living(r) {
			if same(j.Part(p), part) {
				if err := j.bind(p, part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// same reports whether two are the same part of a job.
func same(a, b scheduler.Part) bool { return a.Role == b.Role && a.Task == b.Task }

// bind binds a program to the cores of a part and writes its control file.
func (j *Jobs[P]) bind(p P, part scheduler.Part) error {
	if err := j.hands.Bind(p, part); err != nil {
		return err
	}
	j.mu.Lock()
	before := p.Base().part.Cores.Count()
	p.Base().part.Cores, p.Base().part.Node = part.Cores, part.Node
	j.mu.Unlock()
	return j.write(p, before, contract.Message{})
}

// write writes the control file of a program: its present state and a request. before is its previous number of cores
// (0: unknown).
func (j *Jobs[P]) write(p P, before int, request contract.Message) error {
	j.mu.Lock()
	s := p.Base()
	if s.gone {
		j.mu.Unlock()
		return nil
	}
	used, now := s.Before, time.Now()
	if r := j.live[s.Number]; r != nil && slices.Contains(r.programs, p) {
		used = r.used(now)
	}
	text, err := s.Job.Content(s.part.Cores.Count(), before, used, request)
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.hands.Write(p, text, now)
}

// carryOn begins a stretch of service time, and rest ends it. mu must be held.
func (r *RunningJob[P]) carryOn(now time.Time, expire func()) {
	r.paused, r.since = false, now
	if r.limit > 0 {
		r.alarm = time.AfterFunc(r.limit-r.usage.Service, expire)
	}
}

func (r *RunningJob[P]) rest(now time.Time) {
	if !r.paused {
		r.usage.Service += max(now.Sub(r.since), 0)
	}
	r.paused = true
	if r.alarm != nil {
		r.alarm.Stop()
		r.alarm = nil
	}
}

// used is the service time of all attempts up to now. mu must be held.
func (r *RunningJob[P]) used(now time.Time) time.Duration {
	d := r.before + r.usage.Service
	if !r.paused && !r.since.IsZero() {
		d += max(now.Sub(r.since), 0)
	}
	return d
}

// service is the service time of an attempt up to now.
func (j *Jobs[P]) service(r *RunningJob[P]) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return r.used(time.Now()) - r.before
}

// Next implements scheduler.Engine, with notices of progress where Watch was called, and of nodes where there is a
// fleet. Jobs that have ended come before a context that is done. It is an error to wait without end when no job runs.
func (j *Jobs[P]) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if j.opts.Fleet != nil {
		until = min(until, j.opts.Fleet.Next())
	}
	return j.NextBeside(ctx, until, func() int { return 0 })
}

// NextBeside is Next of an engine that itself waits for something: coming says for how much.
func (j *Jobs[P]) NextBeside(ctx context.Context, until time.Duration, coming func() int) (time.Duration,
	[]scheduler.Notice, error) {
	now, news, err := j.Await(ctx, until, func() (now time.Duration, ended []scheduler.Notice, alive int) {
		news, beside := j.nodeNews(), coming()
		j.mu.Lock()
		defer j.mu.Unlock()
		ended, j.ended = append(j.ended, news...), nil
		if j.err != nil && len(ended) == 0 { // so that Await returns
			ended = []scheduler.Notice{{}}
		}
		return j.Now(), ended, j.open + beside
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		if news = slices.DeleteFunc(news, func(n scheduler.Notice) bool { return n.Kind == 0 }); len(news) == 0 &&
			err == nil {
			return now, nil, j.err
		}
	}
	return now, news, err
}

// Notice adds a notice for Next.
func (j *Jobs[P]) Notice(n scheduler.Notice) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tell(n)
}

// tell adds a notice. mu must be held.
func (j *Jobs[P]) tell(n scheduler.Notice) {
	j.ended = append(j.ended, n)
	j.nudge()
}

func (j *Jobs[P]) nudge() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// Break notes that the run cannot go on: Next returns the error when it has no news.
func (j *Jobs[P]) Break(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = cmp.Or(j.err, err)
	j.nudge()
}

// Usage returns a job's consumption in its last attempt, and whether that attempt has ended.
func (j *Jobs[P]) Usage(job int) (Usage, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return Usage{ExitCode: -1}, false
	}
	return j.live[job].usage, j.live[job].done
}

// Used is the service time of a job up to now, over all of its attempts.
func (j *Jobs[P]) Used(job int) time.Duration { return j.UsedAt(job, j.Now()) }

// UsedAt is the service time of a job up to an instant, on the engine's clock, of its present stretch.
func (j *Jobs[P]) UsedAt(job int, at time.Duration) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return 0
	}
	return j.live[job].used(j.zero.Add(at))
}

// Close kills all jobs at once and waits until nothing is left of them; false when that was done before. Ends that were
// not asked for are lost.
func (j *Jobs[P]) Close() bool {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return false
	}
	j.closed = true
	var left []P
	for _, r := range j.live {
		if r == nil || r.done {
			continue
		}
		if r.cause == 0 {
			r.cause, r.reason = scheduler.Stopped, "stopped"
		}
		left = append(left, r.programs...)
	}
	j.mu.Unlock()
	j.kill(left)
	j.waiters.Wait()
	return true
}
