package progress

import (
	"sync"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Saves is what the programs of a job say of their checkpoints: an attempt that was killed cannot
// tell what is lost with it, but the one that goes on can. The zero value is ready for an attempt.
type Saves struct {
	tail contract.Tail

	mu                  sync.Mutex // guards what follows
	checkpoints, redone float64    // seconds
}

// Listen returns what takes the output of the program that speaks for the job, and hands it on
// to also, which may be nil. It is called by one goroutine at a time.
func (s *Saves) Listen(also func([]byte)) func([]byte) {
	s.tail.News = func(p contract.Progress) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.Checkpoint != nil {
			s.checkpoints += p.Checkpoint.Seconds
		}
		if p.Resumed != nil {
			s.redone += p.Resumed.LostSeconds
		}
	}
	return func(output []byte) {
		if also != nil {
			also(output)
		}
		s.tail.Add(output, func(contract.Progress) {})
	}
}

// Attempt returns what the attempt came to.
func (s *Saves) Attempt() scheduler.Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return scheduler.Attempt{Checkpoints: contract.Seconds(s.checkpoints), Redone: contract.Seconds(s.redone)}
}
