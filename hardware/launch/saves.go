package launch

import (
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Saves is what the programs of a job say of their checkpoints: an attempt that was killed cannot
// tell what is lost with it, but the one that goes on can. The zero value is ready for an attempt.
type CheckpointSaves struct {
	tail contract.Tail

	mu                           sync.Mutex // guards what follows
	checkpoints, redone, restore float64    // seconds
	began, saved                 time.Duration
	waits                        bool // there is a checkpoint, from which the program has not gone on yet
	any                          bool // there is a checkpoint, of this attempt or of one before
}

// After makes s that of the attempt after another.
func (s *CheckpointSaves) After(last *CheckpointSaves) {
	last.mu.Lock()
	defer last.mu.Unlock()
	s.any, s.waits = last.any, last.any
}

// GoOn makes s that of the same attempt, whose programs have ended and are started again.
func (s *CheckpointSaves) GoOn(last *CheckpointSaves) {
	last.mu.Lock()
	defer last.mu.Unlock()
	s.any, s.waits = last.any, false
	s.checkpoints, s.redone, s.restore = last.checkpoints, last.redone, last.restore
	s.began, s.saved = last.began, last.saved
}

// Listen returns what takes the output of the program that speaks for the job, and hands it on
// to also, which may be nil. It is called by one goroutine at a time. service is the service time
// of the attempt so far.
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
			s.waits = false // it did not say when it went on
		})
	}
}

// Attempt returns what the attempt came to after so much service time.
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
