package scheduler

import "time"

// RoundStarts implements View.
func (l *loop) RoundStarts() bool { return l.roundStarts }

// nextRound returns when the present round ends.
func (l *loop) nextRound() time.Duration {
	return l.rounds.Next(l.now, len(l.running) > 0, l.queue.Len() > 0)
}

// admitRound asks a policy of rounds what runs in the round that starts now, if one does.
func (l *loop) admitRound() error {
	runs, waits := len(l.running) > 0, l.queue.Len() > 0
	starts := l.rounds.Starts(runs)
	if !runs && !waits || !starts && !(l.rules.AtOnce && waits && l.machine.Idle > 0) {
		return nil
	}
	l.roundStarts = starts
	err := l.rules.Admission.Admit(l, l)
	l.roundStarts, l.gaveBack = false, false // what was given back is decided about
	if starts {
		l.rounds.Begin(l.now)
	}
	return err
}
