//go:build unix

package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/slurm/client"
	"github.com/tfexp/tfexp/scheduler"
)

// judge returns how a step ended, and why if it did not finish. mu must be held.
func (r *running) judge(s *step) (scheduler.State, string) {
	logErr := s.out.log.Err()
	switch {
	case r.ending() && !(r.part && s.finished() && logErr == nil): // it may have done its work all the same
		return r.cause, r.reason
	case logErr != nil:
		return scheduler.Failed, logErr.Error()
	case s.status == nil && s.said != "":
		return scheduler.Failed, "the step could not be started: " + s.said
	case s.status == nil:
		return scheduler.Failed, "srun ended without its step"
	case s.status.Signaled():
		return scheduler.Failed, fmt.Sprintf("killed by signal %d (%s)", s.status.Signal(), s.status.Signal())
	case s.status.ExitStatus() == 126 || s.status.ExitStatus() == 127:
		return scheduler.Failed, fmt.Sprintf("exit status %d on node %s: %s", s.status.ExitStatus(), s.node, s.out.lastLine())
	case !s.finished():
		return scheduler.Failed, fmt.Sprintf("exit status %d", s.status.ExitStatus())
	}
	return scheduler.Finished, ""
}

// settle ends a job when nothing is left of its steps. One whose first step was taken away with its node goes on until
// it is revoked. mu must be held.
func (e *Engine) settle(r *running) {
	if r.done || r.state == "" && !r.quiet {
		return
	}
	if slices.ContainsFunc(r.steps, func(s *step) bool { return !s.done }) {
		return
	}
	r.done = true
	e.alive--
	if r.quiet {
		return
	}
	attempt := r.saves.Attempt()
	e.tell(scheduler.Notice{
		Kind: scheduler.JobEnded, Job: r.number, At: e.Now(), State: r.state, Reason: r.why, Attempt: &attempt,
	})
}

// terminate asks a job to end, and sees to it after the grace. mu must be held.
func (e *Engine) terminate(r *running, cause scheduler.State, reason string) {
	if r.ending() || len(r.steps) > 0 && r.lead().gone {
		return
	}
	r.cause, r.reason = cause, reason
	for _, s := range r.steps {
		e.askToEnd(s)
	}
}

// askToEnd asks a step to end, and kills it after the grace. mu must be held.
func (e *Engine) askToEnd(s *step) {
	if s.gone || s.last != nil {
		return
	}
	s.last = time.AfterFunc(launch.DefaultGrace, func() { e.kill([]*step{s}) })
	e.waiters.Go(func() {
		e.signal("TERM", []*step{s})
		e.mu.Lock()
		paused := s.of.paused
		e.mu.Unlock()
		if paused {
			e.signal("CONT", []*step{s})
		}
	})
}

// kill ends steps at once.
func (e *Engine) kill(steps []*step) {
	e.mu.Lock()
	for _, s := range steps {
		s.killed = true
	}
	e.mu.Unlock()
	var waits sync.WaitGroup
	for _, s := range steps {
		waits.Go(func() {
			for {
				e.signal("KILL", []*step{s})
				select {
				case <-s.ended:
					return
				case <-time.After(5 * time.Second): // Slurm does not get at it: let go of it
					e.cut(s)
				}
			}
		})
	}
	waits.Wait()
}

// cut ends the srun of a step whose node does not answer.
func (e *Engine) cut(s *step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.killed = true
	if s.cmd != nil && s.cmd.Process != nil && !s.gone {
		s.cmd.Process.Signal(syscall.SIGKILL)
	}
}

// signal sends a signal to all processes of steps, once these are started. It is one call of the controller, again
// while that does not answer.
func (e *Engine) signal(name string, steps []*step) error {
	var ids []string
	for _, s := range steps {
		select {
		case <-s.started:
		case <-s.ended:
		case <-time.After(launchWait):
		}
		e.mu.Lock()
		if s.id != "" && !s.gone {
			ids = append(ids, s.id)
		}
		e.mu.Unlock()
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := client.Call(context.WithoutCancel(e.ctx), client.DefaultPatience, "scancel",
		append([]string{"--signal=" + name}, ids...)...)
	// A step on some of the nodes of an allocation is signalled, and scancel complains of the others; one that is over
	// gives notice of its end.
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "invalid job id") ||
		err != nil && strings.Contains(err.Error(), "already completing") {
		return nil
	}
	return err
}

// launchWait is how long a signal waits for its step to begin.
const launchWait = 30 * time.Second
