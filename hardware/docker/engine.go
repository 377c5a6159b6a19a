package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/scheduler"
)

// Defaults of Options.
const (
	DefaultPatience = 30 * time.Second
	DefaultSampling = time.Second
)

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the Docker engine is closed")

// Node is a node of the cluster: a daemon, or some of its cores and GPUs.
type Node struct {
	Host *daemon.Host
	// CPUs[i] is the operating system's number of the node's core i.
	CPUs []int
	// GPUs[i] is the name of the node's GPU i for the daemon and the program:
	// its UUID or, where that is not known, its index.
	GPUs []string
}

// Privileges say what a container may do beyond computing.
type Privileges string

// The privileges of a container: none at all (no capability, and no way to
// gain one), those that Docker gives by default, or all of the machine's.
const (
	NoPrivileges      Privileges = "none"
	DefaultPrivileges Privileges = "default"
	AllPrivileges     Privileges = "all"
)

// Options are the settings of an engine. The zero value is usable.
type Options struct {
	// Folder and Cell label the containers, for clean-up and for people.
	Folder, Cell string
	// Quota limits jobs by CPU time on all cores, instead of binding them to
	// their own.
	Quota bool
	// Pids is how many processes and threads a container may have; 0 means no limit.
	Pids int
	// Network is a network of the daemon; empty means "none".
	Network string
	// User is "uid:gid" or a name; empty means the image's.
	User       string
	Privileges Privileges // by default NoPrivileges
	Platform   string     // of the image, "linux/arm64"; empty: the daemon's own
	// Cluster has the nodes; needed where there is a fleet.
	Cluster scheduler.Cluster
	// Fleet has the servers of nodes that come and go; nil when all stand.
	Fleet Fleet
	// Grace is the time between SIGTERM and SIGKILL; by default launch.DefaultGrace.
	Grace time.Duration
	// LogLimit is the size in bytes at which a job's output ends it as
	// failed; by default launch.DefaultLogLimit.
	LogLimit int64
	// Patience is how long a daemon that went away is waited for; by default
	// DefaultPatience.
	Patience time.Duration
	// Sampling is the time between two looks at the containers; by default
	// DefaultSampling.
	Sampling time.Duration
	// Observe receives what containers use, one call at a time; it may be nil.
	Observe func(engine.Sample)
	// Report receives the progress lines of jobs as they come, on the engine's
	// clock; it may be nil.
	Report progress.Listener
	// Warn receives what is wrong with the sources of progress; it may be nil.
	Warn progress.Warner
}

// Engine runs jobs as containers. It implements scheduler.Engine on a
// monotonic clock that starts with New. Its methods may be called from one
// goroutine at a time.
type Engine struct {
	*progress.Board

	jobs    []launch.Job
	opts    Options
	nodes   []*node
	run     string // names this engine's containers
	zero    time.Time
	ctx     context.Context // done when the engine is closed and all jobs have ended
	cancel  context.CancelFunc
	wake    chan struct{} // has an element when ended has grown, or the board is ready
	waiters sync.WaitGroup
	samples sync.WaitGroup

	observing sync.Mutex // held while Observe is called

	mu       sync.Mutex // guards what follows, and the fields of running that say so
	live     []*running // by job number; nil before the first start
	attempts []int
	ended    []scheduler.Notice
	lost     []*box // that a daemon which is away may still have
	open     int    // jobs that have started and whose end is not yet in ended
	closed   bool
	serial   int64 // of the last request in a control file
	made     int   // containers, for their names
}

// New returns an engine for jobs, numbered by their index, on daemons whose
// cores are numbered through all nodes. The caller must Close the engine, and
// afterwards the hosts.
func New(jobs []launch.Job, nodes []Node, opts Options) (*Engine, error) {
	if len(nodes) == 0 {
		return nil, errors.New("the Docker engine needs a host")
	}
	opts.Grace = cmp.Or(opts.Grace, launch.DefaultGrace)
	opts.LogLimit = cmp.Or(opts.LogLimit, launch.DefaultLogLimit)
	opts.Patience = cmp.Or(opts.Patience, DefaultPatience)
	opts.Sampling = cmp.Or(opts.Sampling, DefaultSampling)
	opts.Network = cmp.Or(opts.Network, "none")
	opts.Privileges = cmp.Or(opts.Privileges, NoPrivileges)
	var name [4]byte
	rand.Read(name[:])
	e := &Engine{
		jobs: contained(jobs), opts: opts, run: hex.EncodeToString(name[:]), zero: time.Now(),
		wake: make(chan struct{}, 1), live: make([]*running, len(jobs)), attempts: make([]int, len(jobs)),
	}
	e.Board = progress.NewBoard(e.Now, e.wake, opts.Report, opts.Warn)
	e.ctx, e.cancel = context.WithCancel(context.Background())
	first, firstGPU := 0, 0
	for _, n := range nodes {
		e.nodes = append(e.nodes, newNode(e.ctx, n, first, firstGPU))
		first += len(n.CPUs)
		firstGPU += len(n.GPUs)
	}
	for _, n := range e.nodes {
		e.samples.Go(func() { e.watch(n) })
	}
	return e, nil
}

// contained returns jobs as they run in their containers.
func contained(jobs []launch.Job) []launch.Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		j := &jobs[i]
		if j.ContainerArgv != nil {
			j.Argv = j.ContainerArgv
		}
		if j.ControlPath != "" { // in a folder of its own, which the container sees
			j.ControlPath = filepath.Join(j.ControlPath+".d", "control")
		}
	}
	return jobs
}

// Capabilities returns what the engine can do.
func Capabilities() scheduler.Capabilities {
	return scheduler.Capabilities{Pause: true, Resize: true, Memory: true, GPUs: true}
}

// Now returns the engine's clock.
func (e *Engine) Now() time.Duration { return time.Since(e.zero) }

// Zero returns the instant at which the engine's clock was zero.
func (e *Engine) Zero() time.Time { return e.zero }

// Start runs a job's container, or one for each of its parts. The error says in a phrase why it could not
// be started, and is the last line of its log as well. A job that has failed
// may be started again; its log continues.
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
	if err == nil {
		e.attempts[job]++
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
	e.open++
	r.carryOn(time.Now())
	boxes := slices.Clone(r.boxes)
	e.mu.Unlock()
	for _, b := range boxes {
		e.waiters.Go(func() { e.attend(b) })
	}
	return nil
}

// present returns the live job, or nil if it has ended or is about to; then
// there is nothing to be done to it, and its End tells.
func (e *Engine) present(what string, job int) (r *running, paused bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, false, ErrClosed
	}
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		return nil, false, fmt.Errorf("%s: job %d was not started", what, job)
	}
	r = e.live[job]
	if r.done || r.lead().gone || r.cause != "" {
		return nil, false, nil
	}
	return r, r.paused, nil
}

// Pause freezes a job's containers.
func (e *Engine) Pause(job int) error {
	r, paused, err := e.present("pause", job)
	if r == nil || paused {
		return err
	}
	if err := e.actOnAll(r, func(ctx context.Context, b *box) error { return b.api().ContainerPause(ctx, b.id) }); err != nil {
		return fmt.Errorf("pause job %q: %w", e.jobs[job].Name, err)
	}
	e.mu.Lock()
	r.rest(time.Now())
	e.mu.Unlock()
	return nil
}

// Resume lets a paused job go on, on the cores of grant.
func (e *Engine) Resume(job int, grant scheduler.Grant) error {
	r, paused, err := e.present("resume", job)
	if r == nil || !paused {
		return err
	}
	if err := e.give(r, grant); err != nil {
		return fmt.Errorf("resume job %q: %w", e.jobs[job].Name, err)
	}
	if err := e.actOnAll(r, func(ctx context.Context, b *box) error { return b.api().ContainerUnpause(ctx, b.id) }); err != nil {
		return fmt.Errorf("resume job %q: %w", e.jobs[job].Name, err)
	}
	e.mu.Lock()
	r.carryOn(time.Now())
	e.mu.Unlock()
	return nil
}

// Resize gives a running job the cores of grant, and writes that into its control
// file.
func (e *Engine) Resize(job int, grant scheduler.Grant) error {
	r, _, err := e.present("resize", job)
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
	r, _, err := e.present("stop", job)
	if r == nil {
		return err
	}
	e.terminate(r, scheduler.Stopped, "stopped")
	return nil
}

// Next implements scheduler.Engine, with notices of progress where Watch was called.
// Jobs that have ended come before a context that is done. It is an error to wait
// without end when no job runs.
// There are notices of nodes as well where there is a fleet.
func (e *Engine) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if e.opts.Fleet != nil {
		until = min(until, e.opts.Fleet.Next())
	}
	return e.Await(ctx, until, func() (now time.Duration, ended []scheduler.Notice, open int) {
		news := e.nodeNews()
		e.mu.Lock()
		defer e.mu.Unlock()
		ended, e.ended = append(e.ended, news...), nil
		return e.Now(), ended, e.open
	})
}

// Usage returns what a job consumed in its last attempt, and whether that has
// ended. CPU times and memory are not known.
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

// Close kills all jobs at once, waits until their containers are removed, and
// gives the engine's resources back. Ends that were not asked for are lost.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	var left []*running
	for _, r := range e.live {
		if r != nil && !r.done {
			left = append(left, r)
		}
	}
	e.mu.Unlock()
	for _, r := range left {
		e.kill(r, scheduler.Stopped, "stopped")
	}
	e.waiters.Wait()
	dead := map[*node]bool{}
	for _, b := range e.lost {
		if !dead[b.node] && b.node.Host.Alive(e.ctx) {
			e.remove(b.node.Host, b.id)
		} else {
			dead[b.node] = true // it is left for the next start
		}
	}
	e.cancel()
	e.samples.Wait()
	return nil
}

// The engine keeps the scheduler's contract.
var _ scheduler.Engine = (*Engine)(nil)
