// Livelock detects runs that would never end: their jobs are paused and resumed without
// progress, or their engine returns without notices.

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLivelock is returned when jobs are paused and resumed endlessly, and no
// job gets nearer to its end.
var ErrLivelock = errors.New("no job gets nearer to its end")

// livelockDetector is a record of the latest progress. The zero value is the state at the start.
type livelockDetector struct {
	// Pauses counts the pauses since the last check.
	Pauses int
	left   float64 // the remaining work of the engine then
	looked bool    // nothing but pauses and resumes has happened since
	idle   int     // times in a row that the engine came back with nothing
	starve int     // consecutive looks at which nothing ran and no job was to arrive
}

// maxIdle is how often an engine may come back at the same instant with
// nothing before it is taken to be broken. The run ends with an error then; no schedule depends on it.
const maxIdle = 10_000

// Progressed resets the detector: an event happened that can change the course of the run.
func (d *livelockDetector) Progressed() { d.Pauses, d.looked = 0, false }

// Stalls returns an error when the run makes no progress any more. Between two looks
// every open job has been paused several times. If the remaining work of all of them,
// in seconds, is unchanged and nothing else has happened, it will be unchanged at the
// next look too. left is nil for an engine that does not know it.
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
		return fmt.Errorf("%w: at %s, %d jobs have been paused %d times since the last one started or ended, "+
			"and have %.6g s left as before; pausing and resuming takes as long as their turns last: choose a longer quantum",
			ErrLivelock, now, open-yielding, d.Pauses, rest)
	}
	d.Pauses, d.left, d.looked = 0, rest, true
	return nil
}

// Idles returns an error when the engine comes back again and again at the
// same instant although nothing has ended and nothing is due.
func (d *livelockDetector) Idles(now time.Duration, came bool) error {
	if came {
		d.idle = 0
		return nil
	}
	if d.idle++; d.idle > maxIdle {
		return fmt.Errorf("engine: at %s it has returned %d times without news", now, maxIdle)
	}
	return nil
}

// maxStarve is the number of times that a policy may look at waiting jobs and start none, while nothing runs and no job
// is to arrive. A policy that decides by waiting times may do so for long. A run that exceeds it ends with an error; no
// schedule depends on it.
const maxStarve = 100_000

// Starves reports whether the waiting jobs will never start. idle says that nothing runs and no job will arrive.
func (d *livelockDetector) Starves(idle bool) bool {
	if d.starve++; !idle {
		d.starve = 0
	}
	return d.starve > maxStarve
}

// stalled lets an extension change that waiting jobs can never start, or says why they cannot.
func (l *loop) stalled() error {
	if changed, err := l.extensions.stalled(); changed || err != nil {
		return err
	}
	return l.stuck()
}

// closeDown ends a run that has reached its horizon with open jobs: those that
// have started are stopped by the engine, those that wait are stopped where
// they are, and those that have not arrived stay pending.
func (l *loop) closeDown(ctx context.Context) error {
	if err := l.breakOff(ctx); err != nil {
		return err
	}
	for j, f := range l.states.All() {
		if f.state == Queued {
			l.settleTime(l.state(j))
			l.queue.Remove(j)
			f.state = Stopped
			l.close(l.state(j), Stop, fmt.Sprintf("the cell was closed at %s", l.Until))
		}
	}
	l.tally.open -= l.outcomes.Missed(l.jobs.Len() - l.input.arrived)
	l.ending.closed = l.Until
	return nil
}

// checkProgress returns an error when the run would never end. came says that the engine returned with something.
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
