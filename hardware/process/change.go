//go:build unix

package process

import (
	"fmt"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Change implements engine.Changer.
func (e *Engine) Change(job int, to launch.Job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if job < 0 || job >= len(e.jobs) {
		return fmt.Errorf("change: no job has the number %d", job)
	}
	e.jobs[job] = to.InPlaceOf(&e.jobs[job])
	return nil
}

// Tell implements engine.Changer. Of a job with several parts the first is told, which
// speaks for it.
func (e *Engine) Tell(job int, m contract.Message) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if job < 0 || job >= len(e.jobs) {
		return fmt.Errorf("tell: no job has the number %d", job)
	}
	if m.Asks() && m.Serial == 0 {
		e.serial++
		m.Serial = e.serial
	}
	e.jobs[job].Standing = m
	if e.live[job] == nil {
		return nil
	}
	r, err := e.present("tell", job)
	if r == nil {
		return err
	}
	p := r.lead()
	p.job.Standing = m
	return p.tell(0, contract.Message{})
}

// Restart implements engine.Changer.
func (e *Engine) Restart(job int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, err := e.present("restart", job)
	if r == nil {
		return err
	}
	e.terminate(r, scheduler.Stopped, launch.Restarted)
	return nil
}

var _ engine.Changer = (*Engine)(nil)
