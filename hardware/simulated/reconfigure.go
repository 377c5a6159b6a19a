package simulated

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
)

// Reported returns the report of a job after a number of finished units.
type Reported func(job, units int) control.Progress

// Attend makes the engine give a notice of every finished unit, except the last, of the jobs for which jobs[number]
// is true. Each notice is a separate instant. units has the work of each job in epochs or steps. say returns the
// reports. Attend is called before the first job starts, instead of Watch.
func (e *Engine) Attend(jobs []bool, units []int, say Reported) error {
	if len(jobs) != e.jobs.Len() || len(units) != e.jobs.Len() {
		return fmt.Errorf("simulated: the reports of %d and the units of %d of %d jobs", len(jobs), len(units), e.jobs.Len())
	}
	if e.units == nil {
		e.Watch(units)
	}
	e.attended, e.say, e.held = jobs, say, make([]scheduler.Grant, e.jobs.Len())
	return nil
}

// Change gives a job other work. The finished fraction stays the same. A running job continues at once, after the
// overhead of a resize.
func (e *Engine) Change(job int, w Work) error {
	if job < 0 || job >= e.jobs.Len() {
		return fmt.Errorf("change: no job has the number %d", job)
	}
	if e.opts.Checkpoints != nil && e.opts.Checkpoints[job] != nil {
		return errors.New("the settings of a simulated job with checkpoints do not change")
	}
	if err := w.Check(); err != nil {
		return fmt.Errorf("change job %q: %w", e.jobs.At(job).Name, err)
	}
	if e.held == nil {
		return errors.New("change: this run does not follow the progress of jobs")
	}
	if e.chosen == nil {
		e.chosen = make([]Work, e.jobs.Len())
	}
	t := e.at(job)
	if t.phase == running {
		e.halt(job, t)
		t.lead += e.opts.Overheads.Resize
	}
	left := 1 - e.done(job, t)
	e.chosen[job] = w
	var fresh task
	e.setOut(job, &fresh, w)
	if t.phase != idle {
		fresh.lead = t.lead
	}
	t.lead, t.scaled, t.rate = fresh.lead, time.Duration(math.Round(left*float64(fresh.scaled))), fresh.rate
	if e.units != nil {
		e.marks.jobs[job].whole = fresh.scaled
	}
	if t.phase == running || t.phase == paused {
		e.rescale(job, t, w.Rate(e.held[job]))
	}
	if t.phase == running {
		e.run(job, t, e.held[job].Cores)
	}
	return nil
}

// done returns the fraction of its work that a job has finished.
func (e *Engine) done(job int, t *task) float64 {
	if t.phase == idle {
		if e.kept != nil {
			return e.kept[job]
		}
		return 0
	}
	_, _, rate := e.workOf(job).Times()
	whole := e.whole(job)
	if whole == 0 {
		return 0
	}
	return 1 - float64(stretch(t.scaled, t.rate, rate))/float64(whole)
}

// Restart ends the attempt of a job, which keeps its finished work. Start begins the next attempt, with a new
// start-up.
func (e *Engine) Restart(job int) error {
	if job < 0 || job >= e.jobs.Len() {
		return fmt.Errorf("restart: no job has the number %d", job)
	}
	t := e.at(job)
	if t.phase != running && t.phase != paused {
		return nil
	}
	if t.phase == running {
		e.halt(job, t)
		e.leave(job)
	}
	if e.kept == nil {
		e.kept = make([]float64, e.jobs.Len())
	}
	e.kept[job] = e.done(job, t)
	t.phase = idle
	e.stops = append(e.stops, scheduler.Notice{
		Kind: scheduler.JobEnded, Job: job, At: e.now, State: scheduler.Stopped, Reason: launch.Restarted,
	})
	return nil
}

// hold records the grant of a job, if controllers follow some jobs.
func (e *Engine) hold(job int, g *scheduler.Grant) {
	if e.held != nil {
		e.held[job] = *g
	}
}
