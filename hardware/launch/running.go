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
	"github.com/tfexp/tfexp/scheduler/cluster"
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
	// state and why say how the job ended: as its first program did.
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

// Start starts the programs of a job. The error says in a phrase why it could not be started. A job that has ended may
// be started again; its log continues.
func (j *Jobs[P]) Start(job int, grant scheduler.Grant) error {
	r, request, err := j.attempt(job, grant)
	if err != nil {
		return err
	}
	j.vacate(grant)
	if err := j.launch(r, &request, grant); err != nil {
		return err
	}
	j.mu.Lock()
	j.live[job] = r
	j.open++
	r.carryOn(time.Now(), func() { j.expire(r) })
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	for _, p := range programs {
		j.waiters.Go(func() { j.hands.Attend(p) })
	}
	if request.Budget != nil { // it is counted from now on, and not from when the control file was first written
		if err := j.write(programs[0], 0, contract.Message{}); err != nil {
			go j.fail(r, err.Error())
		}
	}
	return nil
}

// attempt returns a new attempt of a job, and the job as it is to start.
func (j *Jobs[P]) attempt(job int, grant scheduler.Grant) (*RunningJob[P], Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, Job{}, j.opts.Closed
	case job < 0 || job >= len(j.jobs):
		return nil, Job{}, fmt.Errorf("start: no job has the number %d", job)
	case j.live[job] != nil && !j.live[job].done:
		return nil, Job{}, fmt.Errorf("start: job %q was started before", j.jobs[job].Name)
	case !j.jobs[job].Choose(grant.Alternative):
		return nil, Job{}, fmt.Errorf("start: job %q has no alternative %d", j.jobs[job].Name, grant.Alternative)
	}
	r := &RunningJob[P]{number: job}
	if last := j.live[job]; last != nil {
		r.again, r.before = true, last.before
		if last.suspended && last.cause == 0 { // the attempt continues
			r.usage = last.usage
			r.saves.GoOn(&last.saves)
		} else {
			r.before += last.usage.Service
			r.saves.After(&last.saves)
		}
	}
	r.limit, r.late = j.jobs[job].Alarm(r.before)
	return r, j.jobs[job], nil
}

// expire ends an attempt that has reached its limit.
func (j *Jobs[P]) expire(r *RunningJob[P]) {
	j.mu.Lock()
	paused := r.paused // the alarm went off while the job was being paused
	j.mu.Unlock()
	if !paused {
		j.terminate(r, scheduler.Failed, r.late)
	}
}

// launch starts the programs of an attempt. The program that reports for the job is the first.
func (j *Jobs[P]) launch(r *RunningJob[P], request *Job, grant scheduler.Grant) error {
	r.Progress = j.Follow(r.number, request)
	parts := Programs(grant)
	if parts == nil {
		whole := scheduler.Part{Cores: grant.Cores, GPUs: grant.GPUs}
		if len(j.opts.Cluster.Nodes) > 0 {
			whole.Node = grant.Parts(j.opts.Cluster)[0].Node
		}
		if _, err := j.begin(r, *request, whole, true, r.again); err != nil {
			return err
		}
		r.Progress.Begin()
		return nil
	}
	var err error
	if r.parts, err = j.hands.Addresses(parts); err != nil {
		return err
	}
	lead := cluster.Lead(parts)
	for i, part := range append([]scheduler.Part{parts[lead]}, slices.Delete(slices.Clone(parts), lead, lead+1)...) {
		if _, err := j.beginPart(r, request, part, i == 0, r.again); err != nil {
			for _, p := range r.programs {
				j.hands.Discard(p)
			}
			return fmt.Errorf("%s: %w", PartName(part), err)
		}
	}
	r.Progress.Begin()
	if m, ok := j.hands.(Meeting[P]); ok {
		r.Progress.Meet(func() (met, known bool) { return m.Met(j.living(r), r.parts) })
	}
	return nil
}

// Meeting is ProgramHands that know whether the parts of a job have found each other.
type Meeting[P RunningProgram] interface {
	// Met reports whether somebody uses one of the addresses, as far as that is known, of the living programs of a job.
	Met(programs []P, addresses contract.Cluster) (met, known bool)
}

// beginPart starts the program of a part.
func (j *Jobs[P]) beginPart(r *RunningJob[P], request *Job, part scheduler.Part, lead, again bool) (P, error) {
	of, err := request.OfPart(part, lead, r.parts)
	if err != nil {
		var none P
		return none, err
	}
	return j.begin(r, of, part, lead, again)
}

// begin starts a program, and adds it to its job's programs.
func (j *Jobs[P]) begin(r *RunningJob[P], of Job, part scheduler.Part, lead, again bool) (P, error) {
	s := JobState{
		Number: r.number, Job: of, Lead: lead, Before: r.before + r.usage.Service, Over: make(chan struct{}), part: part,
	}
	var seen func([]byte)
	switch {
	case !lead:
		s.Beside = j.lead(r)
		seen = r.Progress.OfPart(PartName(part))
	case j.opts.Saves:
		seen = r.saves.Listen(r.Progress.Output(), func() time.Duration { return j.service(r) })
	default:
		seen = r.Progress.Output()
	}
	p, err := j.hands.Begin(s, part, again, seen, func(reason string) { go j.fail(r, reason) })
	if err != nil {
		return p, err
	}
	j.mu.Lock()
	r.programs = append(r.programs, p)
	late := r.cause != 0 || r.state != 0 || r.leadGone() // its job has ended meanwhile
	if late {
		p.Base().lost = p.Base().lost || r.cause == 0
	}
	j.mu.Unlock()
	if late {
		j.kill([]P{p})
	}
	return p, nil
}

// fail ends a job at once because of its output.
func (j *Jobs[P]) fail(r *RunningJob[P], reason string) {
	j.mu.Lock()
	if r.cause == 0 {
		r.cause, r.reason = scheduler.Failed, reason
	}
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	j.kill(programs)
}

// lead returns the program that speaks for a job.
func (j *Jobs[P]) lead(r *RunningJob[P]) P {
	j.mu.Lock()
	defer j.mu.Unlock()
	return r.programs[0]
}

// leadGone reports whether the program that speaks for the job has exited. mu must be held.
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
