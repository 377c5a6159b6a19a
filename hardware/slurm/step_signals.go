//go:build unix

package slurm

import (
	"context"
	"strings"
	"syscall"
	"time"
)

// Hold implements launch.ProgramHands.
func (h hands) Hold(steps []*step) error { return h.e.signal("STOP", steps) }

// GoOn implements launch.ProgramHands.
func (h hands) GoOn(steps []*step) error { return h.e.signal("CONT", steps) }

// Ask implements launch.ProgramHands.
func (h hands) Ask(steps []*step, paused bool) {
	h.e.waiters.Go(func() {
		h.e.signal("TERM", steps)
		if paused {
			h.e.signal("CONT", steps)
		}
	})
}

// Kill implements launch.ProgramHands.
func (h hands) Kill(steps []*step) {
	h.e.mu.Lock()
	for _, s := range steps {
		s.killed = true
	}
	h.e.mu.Unlock()
	for _, s := range steps {
		h.e.waiters.Go(func() {
			for {
				h.e.signal("KILL", []*step{s})
				select {
				case <-s.Over:
					return
				case <-time.After(5 * time.Second): // Slurm cannot end the step: stop waiting for it
					h.e.killSrun(s)
				}
			}
		})
	}
}

// killSrun kills the srun of a step whose node does not answer.
func (e *Engine) killSrun(s *step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.killed = true
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Signal(syscall.SIGKILL)
	}
}

// signal sends a signal to all processes of steps, after they have started. It makes one call, and repeats it while the
// controller does not answer.
func (e *Engine) signal(name string, steps []*step) error {
	var ids []string
	for _, s := range steps {
		select {
		case <-s.started:
		case <-s.Over:
		case <-time.After(launchWait):
		}
		gone := e.Gone(s)
		e.mu.Lock()
		if s.id != "" && !gone {
			ids = append(ids, s.id)
		}
		e.mu.Unlock()
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := CallWithRetries(context.WithoutCancel(e.ctx), DefaultPatience, "scancel",
		append([]string{"--signal=" + name}, ids...)...)
	// scancel signals the steps that still run, and complains about the ended ones. Those have reported their end
	// themselves.
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "invalid job id") ||
		err != nil && strings.Contains(err.Error(), "already completing") {
		return nil
	}
	return err
}

// launchWait is how long a signal waits for its step to start.
const launchWait = 30 * time.Second
