//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the process engine is closed")

// Options are the settings of an engine. The zero value is usable.
type Options struct {
	// CPUs[i] is the operating system's number of the cluster's core i.
	// By default the CPUs that this process may use, in ascending order.
	CPUs []int
	// GPUs[i] is the name of the cluster's GPU i for programs, in
	// CUDA_VISIBLE_DEVICES. By default the GPUs that this process may use; where
	// there are none, their numbers.
	GPUs []string
	// Cluster divides the cores and GPUs among nodes; by default all are on one.
	Cluster scheduler.Cluster
	// Fleet has the servers of nodes that come and go; nil when all stand.
	Fleet Fleet
	// Registry is the file in which the live jobs are recorded, for Sweep. It
	// belongs to one engine at a time: New replaces it (so Sweep comes first),
	// Close removes it. Empty: none.
	Registry string
	// Grace is the time between SIGTERM and SIGKILL; by default launch.DefaultGrace.
	Grace time.Duration
	// LogLimit is the size in bytes at which a job's output ends it as
	// failed; by default launch.DefaultLogLimit.
	LogLimit int64
	// Report receives the progress lines of jobs as they come, on the engine's
	// clock; it may be nil.
	Report progress.Listener
	// Warn receives what is wrong with the sources of progress; it may be nil.
	Warn progress.Warner
}

// Engine runs jobs as processes. It implements scheduler.Engine on a
// monotonic clock that starts with New. Its methods may be called from one
// goroutine at a time.
type Engine struct {
	*progress.Board

	jobs    []launch.Job
	opts    Options
	mark    string // beginning of the mark of this engine's jobs
	zero    time.Time
	forks   *forkThread
	records *registry
	wake    chan struct{} // has an element when ended has grown, or the board is ready
	waiters sync.WaitGroup

	mu     sync.Mutex // guards what follows, and the fields of running that say so
	live   []*running // by job number; nil before the start
	ended  []scheduler.Notice
	alive  int // jobs that have started and whose end is not yet in ended
	closed bool
	serial int64 // of the last request in a control file
}

var engines atomic.Int64 // opened so far; part of the mark

// New returns an engine for jobs, numbered by their index. It starts the
// guardian if this process has none yet: the program must call Main first.
// The caller must Close the engine.
func New(jobs []launch.Job, opts Options) (*Engine, error) {
	if len(opts.CPUs) == 0 {
		opts.CPUs = hardware.AllowedCPUs()
	}
	if len(opts.GPUs) == 0 {
		devices, _ := hardware.GPUs() // without GPUs there is nothing to give
		opts.GPUs = gpu.IDs(devices)
	}
	if opts.Grace <= 0 {
		opts.Grace = launch.DefaultGrace
	}
	if opts.LogLimit <= 0 {
		opts.LogLimit = launch.DefaultLogLimit
	}
	run, err := guard.ensure()
	if err != nil {
		return nil, err
	}
	becomeReaper()
	records, err := openRegistry(opts.Registry, run)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		jobs: slices.Clone(jobs), opts: opts,
		mark:  fmt.Sprintf("%s.%d", run, engines.Add(1)),
		zero:  time.Now(),
		forks: newForkThread(), records: records,
		wake: make(chan struct{}, 1),
		live: make([]*running, len(jobs)),
	}
	e.Board = progress.NewBoard(e.Now, e.wake, opts.Report, opts.Warn)
	return e, nil
}

// Capabilities returns what the engine can do: all but limiting memory.
func (e *Engine) Capabilities() scheduler.Capabilities { return Capabilities() }

// Now returns the engine's clock.
func (e *Engine) Now() time.Duration { return time.Since(e.zero) }

// Zero returns the instant at which the engine's clock was zero.
func (e *Engine) Zero() time.Time { return e.zero }

// Start runs a job's program. The error says in a phrase why it could not be
// started, and is the last line of its log as well. A job that has failed may
// be started again; its log continues.
func (e *Engine) Start(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	var err error
	switch {
	case e.closed:
		err = ErrClosed
	case job < 0 || job >= len(e.jobs):
		err = fmt.Errorf("start: no job has the number %d", job)
	case e.live[job] != nil && !e.live[job].done:
		err = fmt.Errorf("start: job %q was started before", e.jobs[job].Name)
	}
	if err == nil && !e.jobs[job].Choose(grant.Alternative) {
		err = fmt.Errorf("start: job %q has no alternative %d", e.jobs[job].Name, grant.Alternative)
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	r, err := e.launch(job, grant)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.live[job] = r
	e.alive++
	r.carryOn(time.Now())
	programs := slices.Clone(r.programs)
	e.mu.Unlock()
	for _, p := range programs {
		e.follow(p)
	}
	return nil
}

// follow sees to it that a program that was started does not outlive its job.
func (e *Engine) follow(p *program) {
	// The mark in its environment already shows whose it is; these add what
	// has cleared its environment but not left the session.
	guard.watch(p.id)
	e.records.started(p.id)
	e.waiters.Go(func() { e.attend(p) })
}

// present returns the live job, or nil if it has ended or is about to; then
// there is nothing to be done to it, and its end is given notice of. mu must be held.
func (e *Engine) present(what string, job int) (*running, error) {
	if e.closed {
		return nil, ErrClosed
	}
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		return nil, fmt.Errorf("%s: job %d was not started", what, job)
	}
	r := e.live[job]
	if r.done || r.lead().gone || r.ending() {
		return nil, nil
	}
	return r, nil
}

// Pause stops all processes of a job where they stand.
func (e *Engine) Pause(job int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, err := e.present("pause", job)
	if r == nil || r.paused {
		return err
	}
	if err := r.signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause job %q: %w", e.jobs[job].Name, err)
	}
	r.rest(time.Now())
	return nil
}

// Resume lets a paused job go on, on the cores of grant.
func (e *Engine) Resume(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, err := e.present("resume", job)
	if r == nil || !r.paused {
		return err
	}
	if err := e.give(r, grant); err != nil {
		return fmt.Errorf("resume job %q: %w", e.jobs[job].Name, err)
	}
	r.carryOn(time.Now())
	if err := r.signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("resume job %q: %w", e.jobs[job].Name, err)
	}
	return nil
}

// Migrates implements scheduler.Migrator: all nodes are of this machine, so a program can
// be bound to the cores of another one. It cannot be given other GPUs.
func (e *Engine) Migrates() bool {
	return !slices.ContainsFunc(e.opts.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
}

// Migrate implements scheduler.Migrator.
func (e *Engine) Migrate(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	if r, _ := e.present("migrate", job); r != nil {
		r.lead().part.Node = grant.Parts(e.opts.Cluster)[0].Node
	}
	e.mu.Unlock()
	return e.Resume(job, grant)
}

// Resize binds a running job to the cores of grant, and writes that into its
// control file.
func (e *Engine) Resize(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, err := e.present("resize", job)
	if r == nil {
		return err
	}
	if err := e.give(r, grant); err != nil {
		return fmt.Errorf("resize job %q: %w", e.jobs[job].Name, err)
	}
	return nil
}

// Stop asks a job to end: SIGTERM, then SIGKILL after the grace.
func (e *Engine) Stop(job int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, err := e.present("stop", job)
	if r == nil {
		return err
	}
	e.terminate(r, scheduler.Stopped, "stopped")
	return nil
}

// give binds the programs of r to the cores of grant and writes their control files.
// mu must be held.
func (e *Engine) give(r *running, grant scheduler.Grant) error {
	if r.cluster == nil {
		return e.bind(r.lead(), grant.Cores)
	}
	for _, part := range launch.Programs(grant) {
		for _, p := range r.programs {
			if p.part.Role != part.Role || p.part.Task != part.Task || p.gone {
				continue
			}
			if err := e.bind(p, part.Cores); err != nil {
				return err
			}
		}
	}
	return nil
}

// bind binds a program to cores and writes its control file. mu must be held.
func (e *Engine) bind(p *program, cores scheduler.CoreSet) error {
	cpus, err := e.cpus(cores)
	if err != nil {
		return err
	}
	// A job that exits meanwhile is no error: notice of its end follows.
	if err := p.bind(cpus); err != nil {
		return err
	}
	before := p.part.Cores.Count()
	p.part.Cores = cores
	return p.tell(before, contract.Message{})
}

// cpus returns the operating system's numbers of cluster cores.
func (e *Engine) cpus(cores scheduler.CoreSet) ([]int, error) {
	var cpus []int
	var err error
	cores.Each(func(core int) {
		if core >= len(e.opts.CPUs) {
			err = fmt.Errorf("core %d is not there: the engine has cores 0 to %d", core, len(e.opts.CPUs)-1)
			return
		}
		cpus = append(cpus, e.opts.CPUs[core])
	})
	if err == nil && len(cpus) == 0 {
		err = errors.New("the grant has no cores")
	}
	return cpus, err
}

// gpus returns the names of cluster GPUs for a program.
func (e *Engine) gpus(set scheduler.CoreSet) ([]string, error) {
	var ids []string
	var err error
	set.Each(func(g int) {
		switch {
		case len(e.opts.GPUs) == 0:
			ids = append(ids, strconv.Itoa(g))
		case g < len(e.opts.GPUs):
			ids = append(ids, e.opts.GPUs[g])
		default:
			err = fmt.Errorf("GPU %d is not there: the engine has GPUs 0 to %d", g, len(e.opts.GPUs)-1)
		}
	})
	return ids, err
}

// Next implements scheduler.Engine, with notices of progress where Watch was called,
// and of nodes where there is a fleet.
// Jobs that have ended come before a context that is done. It is an error to wait
// without end when no job runs.
func (e *Engine) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if e.opts.Fleet != nil {
		until = min(until, e.opts.Fleet.Next())
	}
	return e.Await(ctx, until, func() (now time.Duration, ended []scheduler.Notice, alive int) {
		news := e.nodeNews()
		e.mu.Lock()
		defer e.mu.Unlock()
		ended, e.ended = append(e.ended, news...), nil
		return e.Now(), ended, e.alive
	})
}

// Usage returns what a job consumed, and whether it has ended.
func (e *Engine) Usage(job int) (launch.Usage, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		return launch.Usage{ExitCode: -1}, false
	}
	r := e.live[job]
	return r.usage, r.done
}

// Used is the service time of a job up to now, over all of its attempts.
func (e *Engine) Used(job int) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		return 0
	}
	return e.live[job].used(time.Now())
}

// Close kills all jobs at once, waits until nothing is left of them, and
// gives the engine's resources back. Ends that were not asked for are lost.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	for _, r := range e.live {
		if r != nil {
			e.kill(r, scheduler.Stopped, "stopped")
		}
	}
	e.mu.Unlock()
	e.waiters.Wait()
	e.forks.close()
	return e.records.close()
}

// The engine keeps the scheduler's contract.
var _ scheduler.Engine = (*Engine)(nil)

// Main is to be called first thing in main, and in TestMain of tests that use
// the engine, with the program's arguments. If this process was started to be
// the guardian of another's jobs it is that until it is no longer needed, and
// returns true and the exit status; otherwise it returns false at once.
func Main(args []string) (handled bool, code int) {
	hooked.Store(true)
	run := os.Getenv(guardianEnv)
	if run == "" || len(args) != 0 {
		return false, 0
	}
	return true, beGuardian(run, os.Stdin, os.Stdout)
}
