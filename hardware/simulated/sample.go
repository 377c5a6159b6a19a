package simulated

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Sample implements scheduler.Simulator. After its start-up, the job does a fraction of its work.
func (e *Engine) Sample(job int, g scheduler.Grant, part float64) error {
	t, err := e.task("sample", job, running)
	if err != nil {
		return err
	}
	if e.course(job) != nil || e.units != nil || e.attended != nil {
		return fmt.Errorf("sample job %d: a job whose progress is reported cannot run as a sample", job)
	}
	e.halt(job, t)
	t.scaled = time.Duration(math.Round(part * float64(t.scaled)))
	if e.samples == nil {
		e.samples = map[int]bool{}
	}
	e.samples[job] = true
	e.run(job, t, g.Cores)
	return nil
}

// sampled resets a job to all of its work if its sample has ended. It reports whether one has.
func (e *Engine) sampled(job int, t *task) bool {
	if !e.samples[job] {
		return false
	}
	delete(e.samples, job)
	e.setOut(job, t, e.work(job))
	t.phase = idle
	return true
}
