package scheduler

import (
	"context"
	"errors"
	"fmt"
)

// closeDown ends a run that has reached its horizon with open jobs: those that
// have started are stopped by the engine, those that wait are stopped where
// they are, and those that have not arrived stay pending.
func (l *loop) closeDown(ctx context.Context) error {
	if err := l.breakOff(ctx); err != nil {
		return err
	}
	reason := fmt.Sprintf("the cell was closed at %s", l.Until)
	for i := range l.lives {
		j := int32(i)
		switch f := &l.lives[j]; f.State {
		case Queued:
			l.settleTime(j)
			l.queue.Remove(j)
			f.State = Stopped
			l.close(j, Stop, reason)
		case Pending:
			l.open--
		}
	}
	l.closed = l.Until
	return nil
}

// Progress is what an engine may also be able to tell: how far its jobs are.
// With it, a run in which no job gets nearer to its end is found out.
type Progress interface {
	// Left returns the run time in seconds, on their full requests, that all
	// jobs which have started and not ended have left together. Overheads that
	// are charged to them count.
	Left() float64
}

// ErrLivelock is returned when jobs are paused and resumed for ever, and none
// gets nearer to its end.
var ErrLivelock = errors.New("no job gets nearer to its end")

// guard looks out for a run that goes on for ever.
type guard struct {
	pauses int     // since the last look
	left   float64 // what the engine had left then
	looked bool    // nothing but pauses and resumes has happened since
	idle   int     // times in a row that the engine came back with nothing
}

// maxIdle is how often an engine may come back at the same instant with
// nothing before it is taken to be broken.
const maxIdle = 10_000

// news starts the guard again: something happened that can change what follows.
func (g *guard) news() { g.pauses, g.looked = 0, false }

// stalls returns an error when the run has stopped to get anywhere. Between two
// looks every job that is there has been paused several times; if all of them
// together have as much left as before, and nothing else has happened, they
// will have it again at the next look.
func (l *loop) stalls() error {
	g := &l.guard
	if g.pauses < 4*(l.queue.Len()+len(l.running))+256 {
		return nil
	}
	engine, ok := l.Engine.(Progress)
	if !ok {
		g.news()
		return nil
	}
	left := engine.Left()
	if g.looked && left >= g.left {
		return fmt.Errorf("%w: at %s, %d jobs have been paused %d times since the last one started or ended, "+
			"and have %.6g s left as before; pausing and resuming takes as long as their turns last: choose a longer quantum",
			ErrLivelock, l.now, l.queue.Len()+len(l.running)-len(l.turns.jobs), g.pauses, left)
	}
	g.pauses, g.left, g.looked = 0, left, true
	return nil
}

// idles returns an error when the engine comes back again and again at the
// same instant although nothing has ended and nothing is due.
func (l *loop) idles(came bool) error {
	if came {
		l.guard.idle = 0
		return nil
	}
	if l.guard.idle++; l.guard.idle > maxIdle {
		return fmt.Errorf("engine: at %s it has come back %d times with nothing", l.now, maxIdle)
	}
	return nil
}
