package launch

import (
	"fmt"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Change implements engine.Changer.
func (j *Jobs[P]) Change(job int, to Job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if job < 0 || job >= len(j.jobs) {
		return fmt.Errorf("change: no job has the number %d", job)
	}
	j.jobs[job] = to.InPlaceOf(&j.jobs[job])
	return nil
}

// Tell implements engine.Changer. Of a job with several parts the first is told, which speaks for it.
func (j *Jobs[P]) Tell(job int, m contract.Message) error {
	j.mu.Lock()
	if job < 0 || job >= len(j.jobs) {
		j.mu.Unlock()
		return fmt.Errorf("tell: no job has the number %d", job)
	}
	if m.Asks() && m.Serial == 0 {
		j.serial++
		m.Serial = j.serial
	}
	j.jobs[job].Standing = m
	started := j.live[job] != nil
	j.mu.Unlock()
	if !started {
		return nil
	}
	r, _, err := j.present("tell", job)
	if r == nil {
		return err
	}
	p := j.lead(r)
	j.mu.Lock()
	p.Base().Job.Standing = m
	j.mu.Unlock()
	return j.write(p, 0, contract.Message{})
}

// Restart implements engine.Changer.
func (j *Jobs[P]) Restart(job int) error {
	if j.stopSuspended(job, Restarted) {
		return nil
	}
	r, _, err := j.present("restart", job)
	if r == nil {
		return err
	}
	j.terminate(r, scheduler.Stopped, Restarted)
	return nil
}

// Job returns a job as it starts next.
func (j *Jobs[P]) Job(job int) Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.jobs[job]
}
