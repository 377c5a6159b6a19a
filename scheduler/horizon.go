package scheduler

import (
	"cmp"
	"context"
	"fmt"
)

// closeDown ends a run that has reached its horizon with open jobs: those that
// have started are stopped by the engine, those that wait are stopped where
// they are, and those that have not arrived stay pending.
func (l *loop) closeDown(ctx context.Context) error {
	if err := l.breakOff(ctx); err != nil {
		return err
	}
	for j, f := range l.lives.All() {
		if f.state == Queued {
			l.settleTime(j)
			l.queue.Remove(j)
			f.state = Stopped
			l.close(j, Stop, fmt.Sprintf("the cell was closed at %s", l.Until))
		}
	}
	l.open -= l.fates.Missed(len(l.byArrival) - l.arrived)
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

// stuckForever returns an error when the run would never end.
func (l *loop) stuckForever(came bool) error {
	if l.guard.Starves(len(l.running) == 0 && l.open > 0 && l.arrived == len(l.byArrival) && !l.nodes.Pending()) {
		return l.stuck()
	}
	return cmp.Or(l.guard.Stalls(l.now, l.queue.Len()+len(l.running), len(l.turns.Jobs), l.left), l.guard.Idles(l.now, came))
}
