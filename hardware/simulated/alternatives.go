package simulated

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// choose gives a starting job the work of its alternative. The job has the same noise with all alternatives.
func (e *Engine) choose(job int, t *task, g scheduler.Grant) (Work, error) {
	if e.held != nil && e.chosen != nil && e.chosen[job] != nil {
		return e.chosen[job], nil // set by its controller
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
		e.chosen = make([]Work, e.jobs.Len())
	}
	if e.ways == nil {
		e.ways = make([]int32, e.jobs.Len())
	}
	e.chosen[job], e.ways[job] = w, int32(g.Alternative)
	e.setOut(job, t, w)
	return w, nil
}

// workOf returns the work of a job, with the alternative with which it has started.
func (e *Engine) workOf(job int) Work {
	if e.chosen != nil && e.chosen[job] != nil {
		return e.chosen[job]
	}
	return e.work(job)
}

// inFirst returns the ratio of a job's run times with its first and its present alternative. Remaining work is
// multiplied by it, so that it does not grow when a job continues on a slower device.
func (e *Engine) inFirst(job int) float64 {
	if e.ways == nil || e.chosen[job] == nil || e.ways[job] == 0 {
		return 1
	}
	first, err := e.work(job).In(0)
	if err != nil {
		return 1
	}
	_, whole, _ := first.Times()
	_, now, _ := e.chosen[job].Times()
	if now == 0 {
		return 1
	}
	return whole.Seconds() / now.Seconds()
}

// setOut sets a job's remaining work to all of its work, with noise.
func (e *Engine) setOut(job int, t *task, w Work) {
	t.lead, t.scaled, t.rate = w.Times()
	if e.opts.Noise > 0 && t.lead|t.scaled != 0 {
		f := noise(e.opts, e.jobs.At(job).Name)
		t.lead = time.Duration(math.Round(f * float64(t.lead)))
		t.scaled = time.Duration(math.Round(f * float64(t.scaled)))
	}
}

// switchTo gives a paused job the work of another of its alternatives. The finished fraction stays the same, and the
// start-up is not repeated.
func (e *Engine) switchTo(job int, t *task, alternative int) error {
	if e.ways == nil || e.chosen[job] == nil || e.held != nil || e.ways[job] == int32(alternative) {
		return nil // nothing to change, or the controller decides
	}
	w, err := e.work(job).In(alternative)
	if err != nil {
		return fmt.Errorf("resume job %d: %w", job, err)
	}
	left := 1 - e.done(job, t)
	e.chosen[job], e.ways[job] = w, int32(alternative)
	var fresh task
	e.setOut(job, &fresh, w)
	t.scaled, t.rate = time.Duration(math.Round(left*float64(fresh.scaled))), fresh.rate
	if e.units != nil {
		e.marks.jobs[job].whole = fresh.scaled
	}
	return nil
}
