package docker

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// endPatience is how long to wait for the end of a container after a call about it has failed. The daemon learns of
// the end later than its runtime.
const endPatience = time.Second

// hasEnded reports whether a container has ended, or is about to end.
func (e *Engine) hasEnded(jc *jobContainer) bool {
	for begin := time.Now(); ; time.Sleep(PollPause) {
		if state, known := e.inspectContainer(jc); known && (state == nil || !state.Running) {
			return true
		}
		if time.Since(begin) > endPatience {
			return false
		}
	}
}

// containerExit says how a container ended.
type containerExit struct {
	host      string
	at        time.Time // instant at which the engine learned of it
	exit      int       // exit status; -1 if unknown
	oom       bool
	vanished  bool // the container does not exist any more
	broken    bool // the daemon went away while it ran
	reachable bool // the daemon answers
}

// awaitExit waits until a container has ended, even if its daemon goes away meanwhile.
func (e *Engine) awaitExit(jc *jobContainer) containerExit {
	f := containerExit{host: jc.node.Host.URL, exit: -1}
	for {
		ctx, cancel := context.WithCancel(jc.node.callContext())
		exited, failed := jc.api().ContainerWait(ctx, jc.id, container.WaitConditionNotRunning)
		var err error
		select {
		case <-exited:
		case err = <-failed:
		}
		cancel()
		if err != nil && !errdefs.IsNotFound(err) {
			f.broken = true
			if !e.awaitDaemon(jc.node) {
				f.at = time.Now()
				return f
			}
		}
		state, known := e.inspectContainer(jc)
		switch {
		case !known:
			f.broken = true
			if !e.awaitDaemon(jc.node) {
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
				e.rereadOutput(jc)
			} else if f.broken = e.daemonGoesDown(jc, f); !f.broken && f.exit == 128+int(syscall.SIGKILL) {
				// The daemon may learn only after the end that the job ran out of memory.
				if state, known := e.inspectContainer(jc); known && state != nil {
					f.oom = state.OOMKilled
				}
			}
			return f
		default: // it has continued without its daemon
			e.rereadOutput(jc)
		}
	}
}

// downPatience is how long a daemon is watched that may be shutting down.
const downPatience = 2 * time.Second

// daemonGoesDown reports whether a container has ended because its daemon shuts down: a daemon ends its containers
// first.
func (e *Engine) daemonGoesDown(jc *jobContainer, f containerExit) bool {
	asked := e.Asked(jc)
	if asked || f.oom || f.exit != 128+int(syscall.SIGTERM) && f.exit != 128+int(syscall.SIGKILL) {
		return false
	}
	for begin := time.Now(); time.Since(begin) < downPatience; time.Sleep(PollPause) {
		if !jc.node.Host.Alive(e.ctx) {
			e.awaitDaemon(jc.node)
			return true
		}
	}
	return false
}

// outcome says how a container ended that tfexp did not end.
func (f containerExit) outcome(j *launch.Job) (scheduler.State, string) {
	text := ""
	switch {
	case !f.reachable:
		return scheduler.Failed, fmt.Sprintf("the Docker daemon at %s stopped answering and did not come back", f.host)
	case f.vanished:
		text = "its container was removed by another program"
	case f.exit == 0:
		return scheduler.Finished, ""
	case f.oom:
		text = "killed because its memory ran out"
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

// Attend waits for a container to end, and removes it.
func (h hands) Attend(jc *jobContainer) {
	e := h.e
	what := e.awaitExit(jc)
	state, why := what.outcome(&jc.Job)
	e.Exited(jc, what.at, state == scheduler.Finished)
	if what.reachable {
		e.finishOutput(jc)
	}
	f := launch.Fate{At: what.at, Finished: state == scheduler.Finished, Why: why, Exit: what.exit, Output: jc.out.Err()}
	if what.reachable {
		e.remove(jc.node.Host, jc.id)
	} else {
		e.mu.Lock()
		e.away = append(e.away, jc)
		e.mu.Unlock()
	}
	e.Ended(jc, f, jc.out.Close)
}
