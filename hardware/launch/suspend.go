package launch

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Migrates implements scheduler.Migrator. A job that is restarted to resume may run on any node, and with another
// alternative.
func (j *Jobs[P]) Migrates() (nodes, alternatives bool) { return j.opts.Suspends, j.opts.Suspends }

// Migrate implements scheduler.Migrator.
func (j *Jobs[P]) Migrate(job int, grant scheduler.Grant) error { return j.Resume(job, grant) }

// suspend makes the programs of a paused job save their work and end. Their ends are not reported, unless the job
// finishes.
func (j *Jobs[P]) suspend(r *RunningJob[P]) {
	j.mu.Lock()
	r.rest(time.Now())
	r.suspended = true
	j.leaving = append(j.leaving, r)
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	j.ask(r, programs, time.Now().Add(j.opts.Grace))
}

// restart starts the programs of a suspended job again, after they have ended.
func (j *Jobs[P]) restart(r *RunningJob[P], grant scheduler.Grant) {
	j.mu.Lock()
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	await(programs)
	j.mu.Lock()
	ended := r.state != 0 || r.cause != 0 // its end is reported separately
	j.mu.Unlock()
	if ended {
		return
	}
	if err := j.Start(r.number, grant); err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		r.cause, r.reason = scheduler.Failed, "it could not be started again: "+err.Error()
		j.tellSuspended(r)
	}
}

// suspended returns the suspended attempt of a job; nil if the job is not suspended.
func (j *Jobs[P]) suspended(job int) *RunningJob[P] {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || job < 0 || job >= len(j.live) || j.live[job] == nil || !j.live[job].suspended {
		return nil
	}
	return j.live[job]
}

// stopSuspended ends a suspended job. It reports whether the job was suspended.
func (j *Jobs[P]) stopSuspended(job int, reason string) bool {
	r := j.suspended(job)
	if r == nil {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.cause == 0 && r.state == 0 {
		r.cause, r.reason = scheduler.Stopped, reason
		if r.done {
			j.tellSuspended(r)
		}
	}
	return true
}

// tellSuspended reports the end of a suspended job without processes. mu must be held.
func (j *Jobs[P]) tellSuspended(r *RunningJob[P]) {
	n := scheduler.Notice{Kind: scheduler.JobEnded, Job: r.number, At: j.Now(), State: r.cause, Reason: r.reason}
	if j.opts.Saves {
		a := r.came()
		n.Attempt = &a
	}
	j.tell(n)
}

// left records that the programs of a suspended job are gone. mu must be held.
func (j *Jobs[P]) left(r *RunningJob[P]) {
	r.done = true
	j.open--
	if r.cause != 0 && !r.quiet {
		j.tellSuspended(r)
	}
}

// vacate waits for programs of suspended jobs that still use resources of a grant.
func (j *Jobs[P]) vacate(grant scheduler.Grant) {
	j.mu.Lock()
	j.leaving = slices.DeleteFunc(j.leaving, func(r *RunningJob[P]) bool { return r.done })
	var programs []P
	for _, r := range j.leaving {
		for _, p := range r.programs {
			if held := p.Base().part; cluster.Overlap(held.Cores, grant.Cores) || cluster.Overlap(held.GPUs, grant.GPUs) {
				programs = append(programs, p)
			}
		}
	}
	j.mu.Unlock()
	await(programs)
}

// present returns the live attempt of a job. It is nil if the attempt has ended or is ending; the end is then
// reported separately.
func (j *Jobs[P]) present(what string, job int) (r *RunningJob[P], paused bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, false, j.opts.Closed
	}
	if job < 0 || job >= len(j.live) || j.live[job] == nil {
		return nil, false, fmt.Errorf("%s: job %d was not started", what, job)
	}
	r = j.live[job]
	if r.done || r.leadGone() || r.cause != 0 {
		return nil, false, nil
	}
	return r, r.paused, nil
}

// Pause stops all programs of a job without ending them, or suspends the job.
func (j *Jobs[P]) Pause(job int) error {
	r, paused, err := j.present("pause", job)
	if r == nil || paused {
		return err
	}
	if j.opts.Suspends {
		j.suspend(r)
		return nil
	}
	if err := j.hands.Hold(j.living(r)); err != nil {
		return fmt.Errorf("pause job %q: %w", j.jobs[job].Name, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	r.rest(time.Now())
	return nil
}

// Resume continues a paused job on the cores of a grant.
func (j *Jobs[P]) Resume(job int, grant scheduler.Grant) error {
	if r := j.suspended(job); r != nil {
		j.restart(r, grant)
		return nil
	}
	r, paused, err := j.present("resume", job)
	if r == nil || !paused {
		return err
	}
	if err := j.give(r, grant); err != nil {
		return fmt.Errorf("resume job %q: %w", j.jobs[job].Name, err)
	}
	if err := j.hands.GoOn(j.living(r)); err != nil {
		return fmt.Errorf("resume job %q: %w", j.jobs[job].Name, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !r.leadGone() {
		r.carryOn(time.Now(), func() { j.expire(r) })
	}
	return nil
}
