package launch

import (
	"fmt"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// EvaluationGrace returns how long a program may run after its budget is used up, to evaluate its model and to end.
func EvaluationGrace(budget time.Duration) time.Duration { return 10*time.Second + budget/10 }

// Alarm returns the service time at which an attempt of the job is ended as failed, and the reason; 0 means never.
// before is the service time of earlier attempts.
func (j *Job) Alarm(before time.Duration) (limit time.Duration, reason string) {
	limit, reason = j.Limit, fmt.Sprintf("time limit of %s", j.Limit)
	if j.Budget == nil {
		return limit, reason
	}
	after := EvaluationGrace(*j.Budget)
	if end := j.Left(before) + after; limit == 0 || end < limit {
		return end, fmt.Sprintf("still running %s after its budget of %s (it must end when its time_left is 0)", after,
			*j.Budget)
	}
	return limit, reason
}

// Left returns the unused part of the job's budget; 0 for a job without a budget.
func (j *Job) Left(used time.Duration) time.Duration {
	if j.Budget == nil {
		return 0
	}
	return max(*j.Budget-used, 0)
}

// Stands returns the message for the control file of a job with a budget, without its thread pools; empty for other
// jobs. It has the allotment n (GPUs if the job requests some, else cores), its change from the previous allotment
// (before; 0 means unknown), and the remaining budget.
func (j *Job) Stands(n, before int, used time.Duration) contract.Message {
	if j.Budget == nil {
		return contract.Message{}
	}
	whole, left := j.Budget.Seconds(), j.Left(used).Seconds()
	m := contract.Message{Allotment: n, Budget: &whole, TimeLeft: &left}
	switch {
	case j.GPUs > 0:
		m.Allotment = j.GPUs
	case before > 0 && n > before:
		m.Change = "up"
	case before > 0 && n < before:
		m.Change = "down"
	}
	return m
}

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

// Tell implements engine.Changer. In a job with several parts, the leading part gets the message.
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

// Job returns a job as it will be at its next start.
func (j *Jobs[P]) Job(job int) Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.jobs[job]
}

// CheckpointSaves collects the reports of a job's programs about their checkpoints. A killed attempt cannot report
// its lost work; the next attempt does. The zero value is ready for use.
type CheckpointSaves struct {
	tail contract.Tail

	mu                           sync.Mutex // guards the fields below
	checkpoints, redone, restore float64    // seconds
	began, saved                 time.Duration
	waits                        bool // the program has not resumed from the checkpoint yet
	any                          bool // this attempt or an earlier one has written a checkpoint
}

// After prepares s for an attempt that follows another.
func (s *CheckpointSaves) After(last *CheckpointSaves) {
	last.mu.Lock()
	defer last.mu.Unlock()
	s.any, s.waits = last.any, last.any
}

// GoOn prepares s for the same attempt, after its programs were ended and started again.
func (s *CheckpointSaves) GoOn(last *CheckpointSaves) {
	last.mu.Lock()
	defer last.mu.Unlock()
	s.any, s.waits = last.any, false
	s.checkpoints, s.redone, s.restore = last.checkpoints, last.redone, last.restore
	s.began, s.saved = last.began, last.saved
}

// Listen returns a function that receives the output of the job's leading program. It passes the output on to also,
// unless that is nil. It must be called by one goroutine at a time. service returns the service time of the attempt
// so far.
func (s *CheckpointSaves) Listen(also func([]byte), service func() time.Duration) func([]byte) {
	s.tail.News = func(p contract.Progress) {
		now := service()
		s.mu.Lock()
		defer s.mu.Unlock()
		if c := p.Checkpoint; c != nil {
			s.checkpoints += c.Seconds
			s.any, s.saved = true, now
		}
		if r := p.Resumed; r != nil {
			s.redone += r.LostSeconds
			s.restore += r.Seconds
			s.began, s.waits = now, false
		}
	}
	return func(output []byte) {
		if also != nil {
			also(output)
		}
		s.tail.Add(output, func(contract.Progress) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.waits = false // it did not report when it resumed
		})
	}
}

// Attempt returns the result of the attempt, which had the service time ran.
func (s *CheckpointSaves) Attempt(ran time.Duration) scheduler.Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := scheduler.Attempt{
		Checkpoints: contract.Seconds(s.checkpoints), Redone: contract.Seconds(s.redone),
		Restore: contract.Seconds(s.restore), Ran: ran, Began: min(s.began, ran), Saved: min(s.saved, ran),
	}
	if s.waits {
		a.Began = ran
	}
	return a
}
