package simulated

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// choose gives a job that starts the work of the alternative that it is to run
// with. The noise is the same in all of a job's alternatives.
func (e *Engine) choose(job int, t *task, g scheduler.Grant) (Work, error) {
	if e.held != nil && e.chosen != nil && e.chosen[job] != nil {
		return e.chosen[job], nil // its controller has
	}
	base := e.work(job)
	w, err := base.In(g.Alternative)
	if err != nil {
		return nil, fmt.Errorf("start job %d: %w", job, err)
	}
	if w == base {
		return w, nil
	}
	if e.chosen == nil {
		e.chosen = make([]Work, len(e.tasks))
	}
	e.chosen[job] = w
	e.setOut(job, t, w)
	return w, nil
}

// workOf returns the work of a job, in the alternative that it has started with.
func (e *Engine) workOf(job int) Work {
	if e.chosen != nil && e.chosen[job] != nil {
		return e.chosen[job]
	}
	return e.work(job)
}

// setOut gives a job all of its work, with its noise.
func (e *Engine) setOut(job int, t *task, w Work) {
	t.lead, t.scaled, _ = w.Times()
	if e.opts.Noise > 0 && t.lead|t.scaled != 0 {
		f := noise(e.opts, e.jobs[job].Name)
		t.lead = time.Duration(math.Round(f * float64(t.lead)))
		t.scaled = time.Duration(math.Round(f * float64(t.scaled)))
	}
}
