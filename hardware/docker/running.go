package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/scheduler"
)

// node is a daemon with its cores.
type node struct {
	Node
	first, firstGPU int         // numbers of its first core and GPU in the cluster
	away            atomic.Bool // it did not come back when it was waited for

	base context.Context
	mu   sync.Mutex // guards what follows
	up   context.Context
	drop context.CancelFunc // ends up, and with it every wait for the daemon
}

func newNode(ctx context.Context, n Node, first, firstGPU int) *node {
	h := &node{Node: n, first: first, firstGPU: firstGPU, base: ctx}
	h.up, h.drop = context.WithCancel(ctx)
	return h
}

// waiting is the context of calls that last: it ends when the daemon is found
// not to answer, which a connection alone may never tell.
func (n *node) waiting() context.Context {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// lost ends all waits for the daemon.
func (n *node) lost() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop()
	n.up, n.drop = context.WithCancel(n.base)
}

// back waits for a daemon that went away, and reports whether it has come back.
// For one that has stayed away before nobody waits again.
func (e *Engine) back(n *node) bool {
	if n.away.Load() {
		n.away.Store(!n.Host.Alive(e.ctx))
	} else {
		n.away.Store(!n.Host.ComeBack(e.ctx, e.opts.Patience))
	}
	return !n.away.Load()
}

// running is a job whose container was started. Its engine's mu guards all
// but the first six fields, which do not change or are the scheduler's goroutine's.
type running struct {
	number int
	node   *node
	id     string // of the container
	out    *launch.Log
	limit  time.Duration // service time; 0 none
	cpus   []int         // held, as the daemon numbers them

	followed chan struct{} // closed when the output has been read to its end
	cores    int           // held
	started  time.Time
	progress *progress.Attempt // of this attempt; does not change
	paused   bool
	gone     bool // the container has ended
	done     bool // nothing is left of the job, and usage is complete
	since    time.Time
	alarm    *time.Timer // goes off at the limit; nil without one, and while paused
	usage    launch.Usage
	cpu      counter // of the last sample

	// Why tfexp ends the job: the first cause counts.
	cause  scheduler.State
	reason string
	last   *time.Timer // kills after the grace
	expire func()      // called when the alarm goes off
}

func (r *running) api() *client.Client { return r.node.Host.Client() }

// carryOn begins, and rest ends, a stretch of service time. mu must be held.
func (r *running) carryOn(now time.Time) {
	r.paused, r.since = false, now
	if r.limit > 0 {
		r.alarm = time.AfterFunc(r.limit-r.usage.Service, r.expire)
	}
}

func (r *running) rest(now time.Time) {
	if !r.paused {
		r.usage.Service += now.Sub(r.since)
	}
	r.paused = true
	if r.alarm != nil {
		r.alarm.Stop()
		r.alarm = nil
	}
}

// actTries bounds how often a call is repeated that a daemon broke off, and
// freezeLimit for how long one that could not freeze a container: on a busy
// machine the kernel (cgroup v1) does not always catch all of its threads.
const (
	actTries    = 3
	freezeLimit = 10 * time.Second
	freezePause = 20 * time.Millisecond
)

// act carries out a call on a container. A container that has ended is no
// error: its end follows. A daemon that went away is waited for; if it does
// not come back, the end follows as well.
func (e *Engine) act(r *running, call func(context.Context) error) error {
	begin := time.Now()
	for tries := 0; tries < actTries; {
		ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
		err := call(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if daemon.Gone(err) {
			if tries++; !e.back(r.node) {
				return nil
			}
			continue
		}
		if strings.Contains(err.Error(), "unable to freeze") && time.Since(begin) < freezeLimit {
			time.Sleep(freezePause)
			continue
		}
		if strings.Contains(err.Error(), "not running") || e.ends(r) {
			return nil
		}
		return errors.New(daemon.Plain(err))
	}
	return nil
}

// endPatience is how long a container, of which a call has failed, is looked
// at: its runtime knows of its end before the daemon does.
const endPatience = time.Second

// ends reports whether a container has ended, or is about to.
func (e *Engine) ends(r *running) bool {
	for begin := time.Now(); ; time.Sleep(daemon.PollPause) {
		if state, known := e.look(r); known && (state == nil || !state.Running) {
			return true
		}
		if time.Since(begin) > endPatience {
			return false
		}
	}
}

// look returns the state of a container; nil if it is no longer there. known
// is false when the daemon does not say.
func (e *Engine) look(r *running) (state *container.State, known bool) {
	ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
	defer cancel()
	c, err := r.api().ContainerInspect(ctx, r.id)
	if errdefs.IsNotFound(err) {
		return nil, true
	}
	if err != nil || c.ContainerJSONBase == nil {
		return nil, false
	}
	return c.State, true
}

// terminate asks a job to end, and sees to it after the grace.
func (e *Engine) terminate(r *running, cause scheduler.State, reason string) {
	e.mu.Lock()
	if r.gone || r.cause != "" {
		e.mu.Unlock()
		return
	}
	r.cause, r.reason = cause, reason
	r.last = time.AfterFunc(e.opts.Grace, func() { e.kill(r, cause, reason) })
	paused := r.paused
	e.mu.Unlock()
	err := e.signal(r, "SIGTERM")
	if paused {
		ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
		defer cancel()
		_ = r.api().ContainerUnpause(ctx, r.id) // what is left is killed after the grace
		if err != nil {
			_ = e.signal(r, "SIGTERM") // not every daemon signals a paused one
		}
	}
}

// kill ends a job at once.
func (e *Engine) kill(r *running, cause scheduler.State, reason string) {
	e.mu.Lock()
	if r.cause == "" {
		r.cause, r.reason = cause, reason
	}
	paused, over := r.paused, r.gone
	e.mu.Unlock()
	if over {
		return
	}
	if err := e.signal(r, "SIGKILL"); err != nil && paused {
		ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
		defer cancel()
		_ = r.api().ContainerUnpause(ctx, r.id)
		_ = e.signal(r, "SIGKILL")
	}
}

func (e *Engine) signal(r *running, name string) error {
	ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
	defer cancel()
	return r.api().ContainerKill(ctx, r.id, name)
}

// attend waits for a container to end, removes it, and gives notice of its end.
func (e *Engine) attend(r *running) {
	what := e.await(r)

	e.mu.Lock()
	r.gone = true
	r.rest(what.at)
	at := what.at.Sub(e.zero)
	e.mu.Unlock()

	if what.reachable {
		e.finishOutput(r)
	}
	logErr := r.out.Err()
	ended, _ := what.verdict(&e.jobs[r.number])
	r.progress.End(ended == scheduler.Finished)
	if what.reachable {
		e.remove(r.node.Host, r.id)
	}

	e.mu.Lock()
	if r.last != nil {
		r.last.Stop()
	}
	state, reason := what.verdict(&e.jobs[r.number])
	switch {
	case r.cause != "":
		state, reason = r.cause, r.reason
	case logErr != nil:
		state, reason = scheduler.Failed, logErr.Error()
	}
	r.usage.ExitCode, r.usage.Reason = what.exit, reason
	r.out.Close(reason)
	r.done = true
	if !what.reachable {
		e.lost = append(e.lost, r)
	}
	e.ended = append(e.ended, scheduler.Notice{Kind: scheduler.JobEnded, Job: r.number, At: at, State: state,
		Reason: reason})
	e.alive--
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// fate is how a container ended.
type fate struct {
	host      string
	at        time.Time // when that was known
	exit      int       // -1 when it is not known
	oom       bool
	vanished  bool // the container is not there any more
	broken    bool // the daemon went away while it ran
	reachable bool // the daemon answers
}

// await waits until a container has ended, whatever its daemon does meanwhile.
func (e *Engine) await(r *running) fate {
	f := fate{host: r.node.Host.URL, exit: -1}
	for {
		ctx, cancel := context.WithCancel(r.node.waiting())
		exited, failed := r.api().ContainerWait(ctx, r.id, container.WaitConditionNotRunning)
		var err error
		select {
		case <-exited:
		case err = <-failed:
		}
		cancel()
		if err != nil && !errdefs.IsNotFound(err) {
			f.broken = true
			if !e.back(r.node) {
				f.at = time.Now()
				return f
			}
		}
		state, known := e.look(r)
		switch {
		case !known:
			f.broken = true
			if !e.back(r.node) {
				f.at = time.Now()
				return f
			}
		case state == nil:
			f.reachable, f.vanished, f.at = true, true, time.Now()
			return f
		case !state.Running:
			f.at = time.Now()
			f.reachable, f.exit, f.oom = true, state.ExitCode, state.OOMKilled
			if f.broken {
				e.readAgain(r)
			} else {
				f.broken = e.goesDown(r, f)
			}
			return f
		default: // it outlived its daemon
			e.readAgain(r)
		}
	}
}

// downPatience is how long a daemon is looked at that may be going down.
const downPatience = 2 * time.Second

// goesDown reports whether a container was ended by another than tfexp because
// its daemon is being stopped: it ends its containers before it goes itself.
func (e *Engine) goesDown(r *running, f fate) bool {
	e.mu.Lock()
	asked := r.cause != ""
	e.mu.Unlock()
	if asked || f.oom || f.exit != 128+int(syscall.SIGTERM) && f.exit != 128+int(syscall.SIGKILL) {
		return false
	}
	for begin := time.Now(); time.Since(begin) < downPatience; time.Sleep(daemon.PollPause) {
		if !r.node.Host.Alive(e.ctx) {
			e.back(r.node)
			return true
		}
	}
	return false
}

// verdict says in words how a container ended by itself.
func (f fate) verdict(j *launch.Job) (scheduler.State, string) {
	text := ""
	switch {
	case !f.reachable:
		return scheduler.Failed, fmt.Sprintf("the Docker daemon at %s went away and did not come back", f.host)
	case f.vanished:
		text = "its container was removed by another"
	case f.exit == 0:
		return scheduler.Finished, ""
	case f.oom:
		text = "killed for lack of memory"
		if j.Memory > 0 {
			text += fmt.Sprintf(": it needs more than its limit of %d MiB (memory in the job block)", j.Memory>>20)
		}
	case f.exit == 127:
		text = fmt.Sprintf("exit status 127: the image %q has no program %q; correct the job's command, or build the "+
			"program into the image", j.Container.Image, j.Argv[0])
	case f.exit == 126:
		text = fmt.Sprintf("exit status 126: the program %q of the image %q cannot be executed", j.Argv[0], j.Container.Image)
	case f.exit > 128 && f.exit < 128+65:
		s := syscall.Signal(f.exit - 128)
		text = fmt.Sprintf("killed by signal %d (%s)", int(s), s)
	default:
		text = fmt.Sprintf("exit status %d", f.exit)
	}
	if f.broken {
		text = fmt.Sprintf("the Docker daemon at %s stopped or restarted while the job ran; %s", f.host, text)
	}
	return scheduler.Failed, text
}

// follow copies a container's output into its log in the background.
func (r *running) follow(open func(context.Context) (stream, error), ctx context.Context) error {
	s, err := open(ctx)
	if err != nil {
		return err
	}
	followed := make(chan struct{})
	r.followed = followed
	go func() {
		defer close(followed)
		defer s.close()
		_ = follow(r.out, s.body) // a broken stream is read anew; see await
	}()
	return nil
}

// logPatience is how long the rest of a container's output is waited for.
const logPatience = 5 * time.Second

func (e *Engine) finishOutput(r *running) {
	select {
	case <-r.followed:
	case <-time.After(logPatience):
	}
}

// readAgain copies the output from its beginning, as the daemon has kept it,
// after the stream was broken; what is in the log already is skipped.
func (e *Engine) readAgain(r *running) {
	<-r.followed
	r.out.Reread()
	// A daemon that kept no output leaves the log as it is.
	_ = r.follow(func(ctx context.Context) (stream, error) {
		logs, err := r.api().ContainerLogs(ctx, r.id, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
		if err != nil {
			return stream{}, err
		}
		return stream{logs, func() { logs.Close() }}, nil
	}, r.node.waiting())
}

// remove removes a container. One that cannot be removed now is a leftover
// for Sweep.
func (e *Engine) remove(h *daemon.Host, id string) {
	ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
	defer cancel()
	_ = h.Client().ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// startError turns a daemon's refusal to start a container into what to do.
func startError(h *daemon.Host, j *launch.Job, err error) error {
	text := daemon.Plain(err)
	switch {
	case daemon.Gone(err):
		return h.Explain(err)
	case errdefs.IsNotFound(err) && strings.Contains(text, "No such image"):
		return fmt.Errorf("the Docker daemon at %s has no image %q: build or pull it", h.URL, j.Container.Image)
	case strings.Contains(text, "bind source path does not exist"), strings.Contains(text, "invalid mount"):
		return fmt.Errorf("a mount cannot be made: %s; make the folder, or correct mounts in the job block", text)
	case strings.Contains(text, "emory limit") || strings.Contains(text, "inimum memory"):
		return fmt.Errorf("the memory limit is refused: %s; raise memory in the job block", text)
	case strings.Contains(text, "executable file not found"), strings.Contains(text, "no such file or directory"):
		return fmt.Errorf("the image %q cannot run %q: %s", j.Container.Image, j.Argv[0], text)
	}
	return errors.New(text)
}
