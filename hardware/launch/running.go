// This file keeps the started jobs of an engine that runs programs: their programs, run times and ends, and the loss
// of their servers. A job has one program, or one for each part. Jobs decides when to act on a program; the engine's
// ProgramHands do it.

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

// RunningProgram is a running program of a job: a pointer to a struct of the engine that embeds a JobState.
type RunningProgram interface {
	comparable
	Base() *JobState
}

// ProgramHands are the operations on programs that an engine implements. They are called without a lock, some of
// them by several goroutines at once. If a program has ended meanwhile, they return nil; its end is reported
// separately.
type ProgramHands[P RunningProgram] interface {
	// Begin starts the program of the job state s with the resources of a part. seen is called with the output, by
	// one goroutine at a time; nil means that nothing needs it. fail is called if the job must end because of the
	// output. If again is true, the log is continued. The error is a phrase that says why the program could not be
	// started; then no process of it is left.
	Begin(s JobState, part scheduler.Part, again bool, seen func(output []byte), fail func(reason string)) (P, error)
	// Discard ends a program because another part of its job could not be started. Attend is not called for it.
	Discard(p P)
	// Attend waits for the end of a program, and calls Jobs.Exited and Jobs.Ended. It runs in a goroutine of its
	// own.
	Attend(p P)
	// Addresses returns an address for each of some parts of a job. known has the addresses of the parts that run
	// already; it is nil at the start of an attempt.
	Addresses(job int, parts []scheduler.Part, known contract.Cluster) (contract.Cluster, error)
	// Hold stops programs without ending them, and GoOn continues them.
	Hold(programs []P) error
	GoOn(programs []P) error
	// Bind binds a program to the cores of a part.
	Bind(p P, part scheduler.Part) error
	// Write replaces the content of a program's control file. at is the instant to which the content applies.
	Write(p P, content []byte, at time.Time) error
	// Ask sends SIGTERM to programs. If paused is true, it also continues them, so that they receive the signal.
	// Kill kills programs at once. Neither waits for the ends.
	Ask(programs []P, paused bool)
	Kill(programs []P)
}

// Fleet decides when servers come and go, on the engine's clock. A node is then a part of the engine's machines.
// tfexp warns and takes the programs on it when the server goes.
type Fleet interface {
	// Acquire creates a server for a node; nil if no more servers are available. Release gives it back.
	Acquire(node int, now time.Duration) *scheduler.Server
	Release(node int)
	// Next returns the instant of the next event on a node. Take appends the events up to an instant to news.
	Next() time.Duration
	Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice
}

// JobsOptions are the settings of Jobs.
type JobsOptions struct {
	// Closed is the error of calls after Close.
	Closed error
	// Cluster has the nodes. It may be empty if grants have the number of their node.
	Cluster scheduler.Cluster
	// Grace is the time between SIGTERM and SIGKILL; 0 means DefaultGrace.
	Grace time.Duration
	// Fleet supplies servers for nodes that come and go; nil if all nodes stay, or the engine itself reports
	// changes.
	Fleet Fleet
	// Saves says that attempts report their saved work, because nodes come and go.
	Saves bool
	// Suspends says that the programs of a paused job save their work and end. When the job resumes, they start
	// again, on any nodes, GPUs and number of cores. If Suspends is false, paused programs are stopped in memory.
	Suspends bool
	// Here says that programs run on this machine, and so have its clock.
	Here bool
	// Report is called with each progress line, at an instant of the engine's clock. Warn is called with warnings
	// about sources of progress. Both may be nil.
	Report ProgressListener
	Warn   ProgressWarner
}

// Jobs are the jobs of an engine, by number. Their clock is monotonic and starts with NewJobs. Several goroutines
// may call its methods, but only one at a time the methods of scheduler.Engine.
type Jobs[P RunningProgram] struct {
	*ProgressBoard

	hands   ProgramHands[P]
	opts    JobsOptions
	zero    time.Time
	wake    chan struct{} // gets a value when ended has grown, or the board is ready
	waiters sync.WaitGroup

	mu    sync.Mutex // guards the fields below, and fields of other types that say so
	jobs  []Job
	live  []*RunningJob[P] // by job; nil before its start
	ended []scheduler.Notice
	open  int // started jobs whose end is not in ended yet
	// leaving are suspended attempts that may still have processes.
	leaving []*RunningJob[P]
	closed  bool
	err     error // why the run cannot continue
	serial  int64 // serial number of the last request in a control file
}

// RunningJob is one attempt of a job. Jobs.mu guards the fields below the blank line.
type RunningJob[P RunningProgram] struct {
	Progress *ProgressAttempt
	number   int
	again    bool             // not the first attempt
	parts    contract.Cluster // addresses of the parts; nil for one program
	before   time.Duration    // service time of earlier attempts
	limit    time.Duration    // service time at which this attempt is ended; 0 means no limit
	late     string           // reason for the end at the limit
	saves    CheckpointSaves

	programs []P // the first is the leading one
	paused   bool
	done     bool // all processes of the job are gone, and usage is complete
	since    time.Time
	alarm    *time.Timer // fires at the limit; nil without a limit, and while paused
	usage    Usage
	// Why tfexp ends the job. The first cause is kept.
	cause  scheduler.State
	reason string
	// state and why say how the job ended, which its leading program decides.
	state scheduler.State
	why   string
	at    time.Time // instant of the end
	quiet bool      // the end must not be reported
	// suspended says that the job is paused, and its programs must save their work and end.
	suspended bool
}

// JobState is the state of a program. Jobs.mu guards the fields below the blank line.
type JobState struct {
	// Number is the number of the job. Job is the program as it was started.
	Number int
	Job    Job
	// Lead says that this is the leading program of its job. For other programs of the job, the field Beside is the
	// leading one.
	Lead   bool
	Beside any
	// Before is the service time of earlier attempts.
	Before time.Duration
	// Over is closed when all processes of the program are gone.
	Over chan struct{}

	part scheduler.Part // its cores can change
	gone bool           // the program has exited
	done bool           // all of its processes are gone
	// lost says that the node is taken away, so that the end of the program is no failure.
	lost   bool
	taken  bool   // the node is gone
	failed string // why it failed, if the job may continue without it or is ended for it
	asked  bool   // SIGTERM was sent
	// deadline is the instant at which the timer last kills remaining processes; zero means never.
	deadline time.Time
	last     *time.Timer
}

// Base implements RunningProgram for a struct that embeds a JobState.
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

// Now returns the time on the engine's clock.
func (j *Jobs[P]) Now() time.Duration { return time.Since(j.zero) }

// Zero returns the instant at which the engine's clock was zero.
func (j *Jobs[P]) Zero() time.Time { return j.zero }

// lead returns the leading program of a job.
func (j *Jobs[P]) lead(r *RunningJob[P]) P {
	j.mu.Lock()
	defer j.mu.Unlock()
	return r.programs[0]
}

// leadGone reports whether the leading program of the job has exited. mu must be held.
func (r *RunningJob[P]) leadGone() bool { return len(r.programs) > 0 && r.programs[0].Base().gone }

// living returns the programs of a job that have not exited.
func (j *Jobs[P]) living(r *RunningJob[P]) []P {
	j.mu.Lock()
	defer j.mu.Unlock()
	return alive(r.programs)
}

// alive returns the programs that have not exited. mu must be held.
func alive[P RunningProgram](programs []P) []P {
	return slices.DeleteFunc(slices.Clone(programs), func(p P) bool { return p.Base().gone })
}

// Resize binds a running job to the cores of a grant, and updates its control file.
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

// give binds the programs of a job to the cores of a grant, and updates their control files.
func (j *Jobs[P]) give(r *RunningJob[P], grant scheduler.Grant) error {
	if r.parts == nil {
		p := j.lead(r)
		part := j.Part(p)
		part.Cores, part.GPUs = grant.Cores, grant.GPUs
		if len(j.opts.Cluster.Nodes) > 0 { // the job may be on other nodes now
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

// same reports whether a and b are the same part of a job.
func same(a, b scheduler.Part) bool { return a.Role == b.Role && a.Task == b.Task }

// bind binds a program to the cores of a part, and updates its control file.
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

// write writes the control file of a program: its present state and a request. before is its previous number of
// cores (0 means unknown).
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

// carryOn starts to count service time, and rest stops it. mu must be held.
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

// used returns the service time of all attempts up to now. mu must be held.
func (r *RunningJob[P]) used(now time.Time) time.Duration {
	d := r.before + r.usage.Service
	if !r.paused && !r.since.IsZero() {
		d += max(now.Sub(r.since), 0)
	}
	return d
}

// service returns the service time of an attempt up to now.
func (j *Jobs[P]) service(r *RunningJob[P]) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return r.used(time.Now()) - r.before
}

// Next implements scheduler.Engine. It also returns notices of progress if Watch was called, and of nodes if there
// is a fleet. Ends of jobs are returned before the error of the context. It is an error to wait without end while no
// job runs.
func (j *Jobs[P]) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if j.opts.Fleet != nil {
		until = min(until, j.opts.Fleet.Next())
	}
	return j.NextBeside(ctx, until, func() int { return 0 })
}

// NextBeside is Next for an engine that also waits for something itself. coming returns the number of things that it
// waits for.
func (j *Jobs[P]) NextBeside(ctx context.Context, until time.Duration, coming func() int) (time.Duration,
	[]scheduler.Notice, error) {
	now, news, err := j.Await(ctx, until, func() (now time.Duration, ended []scheduler.Notice, alive int) {
		news, beside := j.nodeNews(), coming()
		j.mu.Lock()
		defer j.mu.Unlock()
		ended, j.ended = append(j.ended, news...), nil
		if j.err != nil && len(ended) == 0 { // makes Await return
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

// Notice adds a notice that Next returns.
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

// Break records that the run cannot continue. Next returns the error when it has no notices.
func (j *Jobs[P]) Break(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = cmp.Or(j.err, err)
	j.nudge()
}

// Usage returns the resources that the last attempt of a job has used, and whether it has ended.
func (j *Jobs[P]) Usage(job int) (Usage, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return Usage{ExitCode: -1}, false
	}
	return j.live[job].usage, j.live[job].done
}

// Used returns the service time of a job up to now, over all of its attempts.
func (j *Jobs[P]) Used(job int) time.Duration { return j.UsedAt(job, j.Now()) }

// UsedAt returns the service time of a job up to an instant on the engine's clock, in the job's present period of
// running.
func (j *Jobs[P]) UsedAt(job int, at time.Duration) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return 0
	}
	return j.live[job].used(j.zero.Add(at))
}

// Close kills all jobs and waits until all of their processes are gone. It returns false if it was called before.
// Ends of jobs are not reported any more.
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
