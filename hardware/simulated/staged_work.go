package simulated

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Course is work whose speed changes over time, such as epochs with a batch size that follows the noise of
// gradients. It has stages; with a given grant, the duration of a stage is known. A course belongs to one run of one
// job.
type Course interface {
	// Hold sets the grant of the job from now on.
	Hold(g scheduler.Grant)
	// Left returns the remaining time of the present stage with that grant, if it continues at an instant.
	Left(at time.Duration) time.Duration
	// Remaining returns the remaining work of all stages after the time passed of the present stage, in seconds. It
	// does not depend on the grant.
	Remaining(passed time.Duration) time.Duration
	// Advance lets the time d of the present stage pass; d is at most Left.
	Advance(d time.Duration)
	// Next ends the stage. It returns false if it was the last one.
	Next() bool
}

// course returns the course of a job; nil for other work.
func (e *Engine) course(job int) Course {
	if e.courses == nil {
		return nil
	}
	return e.courses[job]
}

// begins starts the course of a job, if its work has one.
func (e *Engine) begins(job int, w Work) error {
	s, ok := w.(*Scaling)
	if !ok || s.Special == nil || s.Special.Begin == nil {
		return nil
	}
	if e.courses == nil {
		e.courses = make([]Course, e.jobs.Len())
	}
	e.courses[job] = s.Special.Begin()
	if e.crowd != nil || e.saves != nil || e.opts.Fleet != nil || e.opts.Noise > 0 {
		return fmt.Errorf("simulated: job %q trains as it was measured, which excludes noise, contention, "+
			"checkpoints, or servers that come and go", e.jobs.At(job).Name)
	}
	return nil
}

// Training implements scheduler.Simulator.
func (e *Engine) Training(job int) scheduler.Training {
	t, _ := e.course(job).(scheduler.Training)
	return t
}

// follow continues the course of a job with a grant.
func (e *Engine) follow(job int, t *task, g *scheduler.Grant) {
	if c := e.course(job); c != nil {
		c.Hold(*g)
		t.scaled, t.rate = c.Left(scheduler.Plus(e.now, t.lead)), 1
	}
}

// nextStage ends the present stage of a job at an instant. It reports whether the job has another stage.
func (e *Engine) nextStage(job int, t *task, at time.Duration) bool {
	c := e.course(job)
	if c == nil || !c.Next() {
		return false
	}
	t.lead, t.scaled, t.since = 0, c.Left(at), at
	t.end = scheduler.Plus(at, t.scaled)
	t.slot = e.ends.push(t.end, int32(job))
	return true
}
