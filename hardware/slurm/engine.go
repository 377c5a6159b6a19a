//go:build unix

package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/hardware/slurm/client"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the Slurm engine is closed")

// Engine runs jobs as steps on the nodes of a pool. It implements scheduler.Engine and scheduler.Provider on a
// monotonic clock. Its methods may be called from one goroutine at a time.
type Engine struct {
	*progress.Board

	pool    *pool
	jobs    []launch.Job
	cluster scheduler.Cluster
	first   []int // the number of each node's first core, and of its first GPU
	firstG  []int
	dir     string // of scripts and outputs
	zero    time.Time
	ctx     context.Context // done when the engine is closed
	cancel  context.CancelFunc
	wake    chan struct{} // has an element when ended has grown, or the board is ready
	waiters sync.WaitGroup
	reader  sync.WaitGroup

	mu     sync.Mutex // guards what follows, and the fields of running and step that say so
	live   []*running // by job number; nil before the start
	open   []*output  // what steps write
	ended  []scheduler.Notice
	alive  int // jobs that have started and whose end is not yet in ended
	closed bool
	err    error // why the run cannot go on
	serial int64 // of the last request in a control file
	nodes  []nodeState
	starts int // steps so far, for the names of their files
}

var engines atomic.Int64 // made so far; part of the names of folders

func newEngine(p *pool, task engine.Task) (*Engine, error) {
	dir := filepath.Join(p.site.run.Dir, fmt.Sprintf("%s%d-%d", folderPrefix, os.Getpid(), engines.Add(1)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for steps: %w", err)
	}
	e := &Engine{
		pool: p, jobs: slices.Clone(task.Jobs), cluster: task.Hardware.Cluster, dir: dir, zero: time.Now(),
		wake: make(chan struct{}, 1), live: make([]*running, len(task.Jobs)),
		nodes: make([]nodeState, len(task.Hardware.Cluster.Nodes)),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	core, gpu := 0, 0
	for _, n := range e.cluster.Nodes {
		e.first, e.firstG = append(e.first, core), append(e.firstG, gpu)
		core, gpu = core+n.Threads, gpu+n.GPUs
	}
	e.Board = progress.NewBoard(e.Now, e.wake, task.Report, task.Warn)
	p.use(e)
	e.reader.Go(e.read)
	return e, nil
}

// Now returns the engine's clock.
func (e *Engine) Now() time.Duration { return time.Since(e.zero) }

// Zero returns the instant at which the engine's clock was zero.
func (e *Engine) Zero() time.Time { return e.zero }

// Start submits the steps of a job. It does not wait until they run: one that cannot be started ends as failed.
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
	again := err == nil && e.live[job] != nil
	e.mu.Unlock()
	if err != nil {
		return err
	}
	r, err := e.launch(job, grant, again)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[job] = r
	e.alive++
	r.carryOn(time.Now())
	for _, s := range r.steps {
		e.waiters.Go(func() { e.attend(s) })
	}
	return nil
}

// present returns the live job, or nil if it has ended or is about to; then there is nothing to be done to it, and its
// end is given notice of. mu must be held.
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
	r, err := e.present("pause", job)
	if r == nil || r.paused {
		e.mu.Unlock()
		return err
	}
	r.rest(time.Now())
	steps := r.living()
	e.mu.Unlock()
	if err := e.signal("STOP", steps); err != nil {
		return fmt.Errorf("pause job %q: %w", e.jobs[job].Name, err)
	}
	return nil
}

// Resume lets a paused job go on, on the cores of grant.
func (e *Engine) Resume(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	r, err := e.present("resume", job)
	if r == nil || !r.paused {
		e.mu.Unlock()
		return err
	}
	steps := r.living()
	e.mu.Unlock()
	if err := e.give(r, grant); err != nil {
		return fmt.Errorf("resume job %q: %w", e.jobs[job].Name, err)
	}
	if err := e.signal("CONT", steps); err != nil {
		return fmt.Errorf("resume job %q: %w", e.jobs[job].Name, err)
	}
	e.mu.Lock()
	r.carryOn(time.Now())
	e.mu.Unlock()
	return nil
}

// Resize binds a running job to the cores of grant, and writes that into its control file.
func (e *Engine) Resize(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	r, err := e.present("resize", job)
	e.mu.Unlock()
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

// give binds the steps of a job to the cores of grant and writes their control files.
func (e *Engine) give(r *running, grant scheduler.Grant) error {
	parts := launch.Programs(grant)
	if parts == nil {
		whole := grant.Parts(e.cluster)[0]
		whole.Cores, whole.GPUs = grant.Cores, grant.GPUs
		return e.bind(r.lead(), whole)
	}
	for _, part := range parts {
		for _, s := range r.steps {
			if s.part.Role == part.Role && s.part.Task == part.Task && !s.gone {
				if err := e.bind(s, part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Next implements scheduler.Engine, with notices of nodes, and of progress where Watch was called.
func (e *Engine) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	now, news, err := e.Await(ctx, until, func() (now time.Duration, ended []scheduler.Notice, alive int) {
		coming := e.pool.coming()
		e.mu.Lock()
		defer e.mu.Unlock()
		ended, e.ended = e.ended, nil
		if e.err != nil && len(ended) == 0 { // so that Await returns
			ended = []scheduler.Notice{{}}
		}
		return e.Now(), ended, e.alive + coming
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		if news = slices.DeleteFunc(news, func(n scheduler.Notice) bool { return n.Kind == 0 }); len(news) == 0 && err == nil {
			return now, nil, e.err
		}
	}
	return now, news, err
}

// tell adds a notice. mu must be held.
func (e *Engine) tell(n scheduler.Notice) {
	e.ended = append(e.ended, n)
	e.nudge()
}

func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// broken notes that the run cannot go on.
func (e *Engine) broken(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = cmp.Or(e.err, client.Explained(err))
	e.nudge()
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

// Usage returns how long a job ran in its last attempt, and whether that has ended. CPU times and memory are not known.
func (e *Engine) Usage(job int) (launch.Usage, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		return launch.Usage{ExitCode: -1}, false
	}
	r := e.live[job]
	return r.usage, r.done
}

// Close kills all jobs at once and waits until their steps are over. The allocation stays.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	var left []*step
	for _, r := range e.live {
		if r == nil || r.done {
			continue
		}
		if !r.ending() {
			r.cause, r.reason = scheduler.Stopped, "stopped"
		}
		left = append(left, r.living()...)
	}
	e.mu.Unlock()
	e.kill(left)
	e.waiters.Wait()
	e.cancel()
	e.reader.Wait()
	e.pool.use(nil)
	return os.RemoveAll(e.dir)
}
