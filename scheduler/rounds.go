package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// rounds is the state of the rounds of a policy that decides once a round.
type rounds struct {
	queue.Rounds
	starting bool // the present decision is at the start of a round
}

// roundStarts is the extension that makes the run stop at the starts of rounds.
type roundStarts struct {
	noHooks
	l *loop
}

func (r roundStarts) nextInstant() time.Duration { return r.l.nextRound() }
func (r roundStarts) reached(time.Duration)      { r.l.rounds.Over() }

// RoundStarts implements View.
func (l *loop) RoundStarts() bool { return l.rounds.starting }

// nextRound returns the instant at which the next round starts; Never if none is due.
func (l *loop) nextRound() time.Duration {
	return l.rounds.Next(l.now, len(l.running.all) > 0, l.queue.Len() > 0)
}

// admitRound asks a policy of rounds which jobs run, if a round starts now. With ConsultOnRelease it also asks when
// devices are free and jobs wait.
func (l *loop) admitRound() error {
	runs, waits := len(l.running.all) > 0, l.queue.Len() > 0
	starts := l.rounds.Starts(runs)
	if !runs && !waits || !starts && !(l.rules.ConsultOnRelease && waits && l.machine.Idle > 0) {
		return nil
	}
	l.rounds.starting = starts
	err := l.rules.Admission.Admit(l, l)
	l.rounds.starting, l.dispatching.freed = false, false // this decision has already considered freed resources
	if starts {
		l.rounds.Begin(l.now)
	}
	return err
}
