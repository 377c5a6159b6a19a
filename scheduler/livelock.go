// This file detects runs that would never end: jobs are paused and resumed without progress, or the engine keeps
// returning without notices.

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLivelock is returned when jobs are paused and resumed repeatedly, and no job makes progress.
var ErrLivelock = errors.New("no job makes progress")

// livelockDetector detects that a run makes no progress. The zero value is ready for use.
type livelockDetector struct {
	// Pauses is the number of pauses since the last check.
	Pauses int
	left   float64 // the engine's RemainingWork at the last check
	looked bool    // since the last check, jobs were only paused and resumed
	idle   int     // successive returns of the engine with nothing
	starve int     // successive dispatches with nothing running and no arrival to come
}

// maxIdle limits how often an engine may return with nothing at one instant. A run beyond it ends with an error that
// blames the engine. No schedule depends on the value.
const maxIdle = 10_000

// Progressed records that the run has made progress: an event other than a pause or a resume has happened.
func (d *livelockDetector) Progressed() { d.Pauses, d.looked = 0, false }

// Stalls returns an error if the run makes no progress. It checks only after about four pauses for each open job.
// If the remaining work (seconds) is the same as at the last check, and jobs were only
// paused and resumed since, the run would continue like this without end. left is nil if the engine does not know
// the remaining work.
func (d *livelockDetector) Stalls(now time.Duration, open, yielding int, left func() float64) error {
	if d.Pauses < 4*open+256 {
		return nil
	}
	if left == nil {
		d.Progressed()
		return nil
	}
	rest := left()
	if d.looked && rest >= d.left {
		return fmt.Errorf("%w: until %s, %d jobs were paused %d times since the last start or end of a job, "+
			"and their remaining time is still %.6g s, because pauses and resumes take the whole quantum: choose a longer quantum",
			ErrLivelock, now, open-yielding, d.Pauses, rest)
	}
	d.Pauses, d.left, d.looked = 0, rest, true
	return nil
}

// Idles returns an error if the engine has returned too often at one instant with nothing. came says that the engine
// has returned with something.
func (d *livelockDetector) Idles(now time.Duration, came bool) error {
	if came {
		d.idle = 0
		return nil
	}
	if d.idle++; d.idle > maxIdle {
		return fmt.Errorf("engine returned %[2]d times at %[1]s without a notice", now, maxIdle)
	}
	return nil
}

// maxStarve limits how often a policy may start no waiting job while nothing runs and no job is to arrive. A policy
// that decides by waiting times may do so for long. A run beyond it ends with an error. No schedule depends on the
// value.
const maxStarve = 100_000

// Starves reports whether the waiting jobs will never start. idle says that nothing runs and no job is to arrive.
func (d *livelockDetector) Starves(idle bool) bool {
	if d.starve++; !idle {
		d.starve = 0
	}
	return d.starve > maxStarve
}

// stalled is called when no waiting job can start. It returns nil if an extension changes that, such as by
// requesting a node; else the error says why the jobs cannot start.
func (l *loop) stalled() error {
	if changed, err := l.extensions.stalled(); changed || err != nil {
		return err
	}
	return l.stuck()
}

// closeDown ends a run at its horizon. The engine stops jobs that have started. Jobs that wait are stopped without a
// start. Jobs that have not arrived stay pending.
func (l *loop) closeDown(ctx context.Context) error {
	if err := l.breakOff(ctx); err != nil {
		return err
	}
	for j, f := range l.states.All() {
		if f.state == Queued {
			l.settleTime(l.state(j))
			l.queue.Remove(j)
			f.state = Stopped
			l.close(l.state(j), Stop, fmt.Sprintf("the cell was closed at its time limit, %s", l.Until))
		}
	}
	l.tally.open -= l.outcomes.Missed(l.jobs.Len() - l.input.arrived)
	l.ending.closed = l.Until
	return nil
}

// checkProgress returns an error if the run would never end. came says that the engine has returned with something.
func (l *loop) checkProgress(came bool) error {
	idle := len(l.running.all) == 0 && l.tally.open > 0 && l.input.arrived == l.jobs.Len() && !l.extensions.pending()
	if l.detector.Starves(idle) {
		return l.stuck()
	}
	if l.detector.Pauses > 0 {
		if err := l.detector.Stalls(l.now, l.queue.Len()+len(l.running.all), len(l.turns.Jobs), l.fixed.left); err != nil {
			return err
		}
	}
	return l.detector.Idles(l.now, came)
}
