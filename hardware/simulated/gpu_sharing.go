package simulated

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler"
)

// shared is a running job whose GPUs another job also holds.
type shared struct {
	with  int
	alone float64 // its rate without the other job
}

// together slows a job that starts or continues with a grant, and the job whose GPUs it shares. Each keeps a
// fraction of its speed (Special.Beside).
func (e *Engine) together(job int, t *task, g *scheduler.Grant) error {
	if g.Beside == nil {
		return nil
	}
	with := g.Beside.Job
	other, err := e.task("share GPUs with", with, running)
	if err != nil {
		return err
	}
	if _, ok := e.mates[with]; ok || e.crowd != nil { // the speed of a pair is not known
		return fmt.Errorf("job %d cannot share GPUs with job %d", job, with)
	}
	mine, its := e.beside(job, with), e.beside(with, job)
	if !(mine > 0) || !(its > 0) {
		return fmt.Errorf("job %d shares GPUs with job %d, and it is not known how fast they are beside each other", job,
			with)
	}
	if e.mates == nil {
		e.mates = map[int]shared{}
	}
	e.mates[job] = shared{with, t.rate}
	e.mates[with] = shared{job, other.rate}
	e.rescale(job, t, t.rate*mine)
	e.change(with, other, other.rate*its)
	return nil
}

// beside returns the fraction of its speed that a job keeps while it shares GPUs with another job.
func (e *Engine) beside(job, with int) float64 {
	w, ok := e.workOf(job).(neighbor)
	if !ok {
		return 0
	}
	return w.keeps(e.jobs.At(with).Class)
}

// apart restores the full speed of a job when the other job leaves its GPUs.
func (e *Engine) apart(leaving int) {
	s, ok := e.mates[leaving]
	if !ok {
		return
	}
	stays := e.mates[s.with]
	delete(e.mates, leaving)
	delete(e.mates, s.with)
	e.change(s.with, e.at(s.with), stays.alone)
}

// change changes the rate of a running job.
func (e *Engine) change(job int, t *task, rate float64) {
	e.halt(job, t)
	e.rescale(job, t, rate)
	e.run(job, t, nil)
}
