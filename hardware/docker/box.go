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

	"github.com/tfexp/tfexp/hardware/launch"
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
// not to answer, which a connection alone may never show.
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
// It does not wait again for a daemon that has stayed away before.
func (e *Engine) back(n *node) bool {
	if n.away.Load() {
		n.away.Store(!n.Host.Alive(e.ctx))
	} else {
		n.away.Store(!n.Host.ComeBack(e.ctx, e.opts.Patience))
	}
	return !n.away.Load()
}

// box is a container of a job: its only container, or the container of one of its parts.
// The engine's mu guards cpu. The other fields do not change, or belong to the goroutine
// that uses them.
type box struct {
	launch.JobState
	node     *node
	id       string
	out      *launch.Log
	cpus     []int // held, as the daemon numbers them
	started  time.Time
	followed chan struct{} // closed when the output has been read to its end
	cpu      counter       // of the last sample
}

func (b *box) api() *client.Client { return b.node.Host.Client() }

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
func (e *Engine) act(b *box, call func(context.Context) error) error {
	begin := time.Now()
	for tries := 0; tries < actTries; {
		ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
		err := call(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if Gone(err) {
			if tries++; !e.back(b.node) {
				return nil
			}
			continue
		}
		if strings.Contains(err.Error(), "unable to freeze") && time.Since(begin) < freezeLimit {
			time.Sleep(freezePause)
			continue
		}
		if strings.Contains(err.Error(), "not running") || e.ends(b) {
			return nil
		}
		return errors.New(Plain(err))
	}
	return nil
}

// endPatience is how long a container is watched after a call about it has
// failed: its runtime knows of its end before the daemon does.
const endPatience = time.Second

// ends reports whether a container has ended, or is about to.
func (e *Engine) ends(b *box) bool {
	for begin := time.Now(); ; time.Sleep(PollPause) {
		if state, known := e.look(b); known && (state == nil || !state.Running) {
			return true
		}
		if time.Since(begin) > endPatience {
			return false
		}
	}
}

// look returns the state of a container; nil if it is no longer there. known
// is false when the daemon does not say.
func (e *Engine) look(b *box) (state *container.State, known bool) {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	c, err := b.api().ContainerInspect(ctx, b.id)
	if errdefs.IsNotFound(err) {
		return nil, true
	}
	if err != nil || c.ContainerJSONBase == nil {
		return nil, false
	}
	return c.State, true
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
func (e *Engine) await(b *box) fate {
	f := fate{host: b.node.Host.URL, exit: -1}
	for {
		ctx, cancel := context.WithCancel(b.node.waiting())
		exited, failed := b.api().ContainerWait(ctx, b.id, container.WaitConditionNotRunning)
		var err error
		select {
		case <-exited:
		case err = <-failed:
		}
		cancel()
		if err != nil && !errdefs.IsNotFound(err) {
			f.broken = true
			if !e.back(b.node) {
				f.at = time.Now()
				return f
			}
		}
		state, known := e.look(b)
		switch {
		case !known:
			f.broken = true
			if !e.back(b.node) {
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
				e.readAgain(b)
			} else if f.broken = e.goesDown(b, f); !f.broken && f.exit == 128+int(syscall.SIGKILL) {
				// The daemon may hear of the lack of memory after the end.
				if state, known := e.look(b); known && state != nil {
					f.oom = state.OOMKilled
				}
			}
			return f
		default: // it outlived its daemon
			e.readAgain(b)
		}
	}
}

// downPatience is how long a daemon is watched that may be going down.
const downPatience = 2 * time.Second

// goesDown reports whether a container was ended by another than tfexp because
// its daemon is being stopped: it ends its containers before it goes itself.
func (e *Engine) goesDown(b *box, f fate) bool {
	asked := e.Asked(b)
	if asked || f.oom || f.exit != 128+int(syscall.SIGTERM) && f.exit != 128+int(syscall.SIGKILL) {
		return false
	}
	for begin := time.Now(); time.Since(begin) < downPatience; time.Sleep(PollPause) {
		if !b.node.Host.Alive(e.ctx) {
			e.back(b.node)
			return true
		}
	}
	return false
}

// verdict describes how a container ended by itself.
func (f fate) verdict(j *launch.Job) (scheduler.State, string) {
	text := ""
	switch {
	case !f.reachable:
		return scheduler.Failed, fmt.Sprintf("the Docker daemon at %s stopped answering and did not come back", f.host)
	case f.vanished:
		text = "its container was removed by another program"
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
func (b *box) follow(open func(context.Context) (stream, error), ctx context.Context) error {
	s, err := open(ctx)
	if err != nil {
		return err
	}
	followed := make(chan struct{})
	b.followed = followed
	go func() {
		defer close(followed)
		defer s.close()
		_ = follow(b.out, s.body) // a broken stream is read again; see await
	}()
	return nil
}

// logPatience is how long the rest of a container's output is waited for.
const logPatience = 5 * time.Second

func (e *Engine) finishOutput(b *box) {
	select {
	case <-b.followed:
	case <-time.After(logPatience):
	}
}

// readAgain copies the output from its beginning, as the daemon has kept it,
// after the stream was broken. It skips the output that is in the log already.
func (e *Engine) readAgain(b *box) {
	<-b.followed
	b.out.Reread()
	// A daemon that kept no output leaves the log as it is.
	_ = b.follow(func(ctx context.Context) (stream, error) {
		logs, err := b.api().ContainerLogs(ctx, b.id, container.LogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
		if err != nil {
			return stream{}, err
		}
		return stream{logs, func() { logs.Close() }}, nil
	}, b.node.waiting())
}

// remove removes a container. One that cannot be removed now is a leftover
// for Sweep.
func (e *Engine) remove(h *Host, id string) {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	_ = h.Client().ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// startError turns a daemon's refusal to start a container into a remedy.
func startError(h *Host, j *launch.Job, err error) error {
	text := Plain(err)
	switch {
	case Gone(err):
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
