package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// rounds are the rounds of a policy that decides at their starts.
type rounds struct {
	queue.Rounds
	starting bool // this decision starts a round
}

// roundStarts names the instants at which rounds start.
type roundStarts struct {
	noHooks
	l *loop
}

func (r roundStarts) nextInstant() time.Duration { return r.l.nextRound() }
func (r roundStarts) reached(time.Duration)      { r.l.rounds.Over() }

// RoundStarts implements View.
func (l *loop) RoundStarts() bool { return l.rounds.starting }

// nextRound returns when the present round ends.
func (l *loop) nextRound() time.Duration {
	return l.rounds.Next(l.now, len(l.running.all) > 0, l.queue.Len() > 0)
}

// admitRound asks a policy of rounds which jobs run in the round that starts now, if one
// does.
func (l *loop) admitRound() error {
	runs, waits := len(l.running.all) > 0, l.queue.Len() > 0
	starts := l.rounds.Starts(runs)
	if !runs && !waits || !starts && !(l.rules.ConsultOnRelease && waits && l.machine.Idle > 0) {
		return nil
	}
	l.rounds.starting = starts
	err := l.rules.Admission.Admit(l, l)
	l.rounds.starting, l.dispatching.freed = false, false // freed resources are decided about
	if starts {
		l.rounds.Begin(l.now)
	}
	return err
}
