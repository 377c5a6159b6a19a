package simulated

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Checkpoint says when a job saves its work, and what that costs. A checkpoint has the work that was done when its
// writing began. No checkpoint is written at the end of the job.
type Checkpoint struct {
	// Every is the running time from the end of a checkpoint to the next one. If it is 0, Share is the fraction of
	// the whole work between two checkpoints. If that is 0 too, Rule returns the time.
	Every time.Duration
	Share float64
	Rule  IntervalRule
	// Cost is how long the job stops to write a checkpoint. Restore is how long it takes to read one at the start of
	// an attempt.
	Cost, Restore time.Duration
}

// IntervalRule computes the time between two checkpoints. Its types must be registered with encoding/gob.
type IntervalRule interface {
	// Interval returns the running time from the end of a checkpoint to the next one. cost is the cost of a
	// checkpoint, and between the mean time between losses of the job's servers; Never without losses.
	Interval(cost, between time.Duration) time.Duration
}

// saving is the state of a job that writes checkpoints. Work is measured as time at the present speed, like
// task.scaled.
type saving struct {
	every   time.Duration     // work between two checkpoints
	left    time.Duration     // work until the next one begins
	writing time.Duration     // remaining time of the checkpoint that is being written
	kept    time.Duration     // remaining work after the last checkpoint
	from    time.Duration     // remaining work when the attempt began
	spent   time.Duration     // time spent on checkpoints in this attempt
	owed    time.Duration     // time for a checkpoint at the end of the last attempt, which the next one must spend
	restore time.Duration     // time spent on reading a checkpoint in this attempt
	cores   scheduler.CoreSet // cores that the job holds
	nodes   []int             // nodes on which it runs
	lead    []int             // nodes whose warning ends the attempt
}

// begin prepares the checkpoints of an attempt. whole is the work of the job, and between the mean time between
// losses.
func (s *saving) begin(c *Checkpoint, t *task, whole, between time.Duration) {
	switch {
	case c.Every > 0:
		s.every = c.Every
	case c.Share > 0:
		s.every = max(time.Duration(math.Round(c.Share*float64(whole))), 1)
	default:
		s.every = scheduler.Never
		if between < scheduler.Never {
			s.every = max(c.Rule.Interval(c.Cost, between), 1)
		}
	}
	s.left, s.writing, s.spent, s.restore = s.every, 0, 0, 0
	s.kept, s.from = t.scaled, t.scaled
	if t.scaled < whole {
		t.lead += c.Restore
		s.restore = c.Restore
	}
}

// span returns how long an amount of work takes with its checkpoints, each with the given cost.
func (s *saving) span(work, cost time.Duration) time.Duration {
	d := scheduler.Plus(s.writing, work)
	if work > s.left {
		n := 1 + (work-s.left-1)/s.every
		if n > 0 && cost > (scheduler.Never-d)/n {
			return scheduler.Never
		}
		d += n * cost
	}
	return d
}

// pass lets the time d pass, in which the job works and writes checkpoints.
func (s *saving) pass(d, cost time.Duration, t *task) {
	d = s.write(d, t)
	if d < s.left || t.scaled <= s.left {
		s.work(min(d, t.scaled), t)
		return
	}
	d -= s.left
	s.work(s.left, t)
	if cycles := d / scheduler.Plus(s.every, cost); cycles > 0 {
		s.spent += cycles * cost
		t.scaled -= cycles * s.every
		s.kept = t.scaled + s.every
		d -= cycles * (s.every + cost)
	}
	s.writing, s.left = cost, s.every
	s.work(min(s.write(d, t), t.scaled), t)
}

// write continues a checkpoint that is being written for at most d, and returns the time that is left of d.
func (s *saving) write(d time.Duration, t *task) time.Duration {
	w := min(d, s.writing)
	s.writing -= w
	s.spent += w
	if s.writing == 0 && s.left == s.every {
		s.kept = t.scaled
	}
	return d - w
}

func (s *saving) work(d time.Duration, t *task) {
	t.scaled -= d
	s.left -= d
}

// rescale converts the state to another speed of the job. The time between checkpoints stays the same; if byWork is
// true, the work between them does.
func (s *saving) rescale(from, to float64, byWork bool) {
	s.kept, s.from = stretch(s.kept, from, to), stretch(s.from, from, to)
	if byWork {
		s.every, s.left = max(stretch(s.every, from, to), 1), stretch(s.left, from, to)
	}
}

// saving returns the checkpoint state of a job; nil if the job writes no checkpoints.
func (e *Engine) saving(job int) *saving {
	if e.saves == nil || e.opts.Checkpoints[job] == nil {
		return nil
	}
	return &e.saves[job]
}

// span returns how long a job needs for an amount of work at its present speed, with checkpoints.
func (e *Engine) span(job int, work time.Duration) time.Duration {
	if s := e.saving(job); s != nil {
		return s.span(work, e.opts.Checkpoints[job].Cost)
	}
	return work
}

// attempt returns the progress of a job's present attempt, as run time on its full request.
func (e *Engine) attempt(job int) *scheduler.Attempt {
	if e.opts.Fleet == nil && e.saves == nil {
		return nil
	}
	t := e.at(job)
	_, _, rate := e.workOf(job).Times()
	whole := e.whole(job)
	done := func(left time.Duration) time.Duration { return max(whole-stretch(left, t.rate, rate), 0) }
	a := &scheduler.Attempt{Done: done(t.scaled)}
	if s := e.saving(job); s != nil {
		a.From, a.Kept, a.Checkpoints = done(s.from), done(s.kept), s.spent
		a.Restore = max(s.restore-t.lead, 0)
	}
	return a
}

// whole returns the work of a job, as time at the rate of its work.
func (e *Engine) whole(job int) time.Duration {
	var t task
	e.setOut(job, &t, e.workOf(job))
	return t.scaled
}
