package scheduler

import (
	"fmt"
	"time"
)

// rent has the policy decide where the servers of jobs come from whose tick has begun, or
// who have lost theirs.
func (l *loop) rent() error {
	if !l.rental.Rents() {
		return nil
	}
	for _, j := range l.rental.Due() {
		f := l.life(j)
		need, _ := l.needs(j, l.atLeast(j))
		need.Market = 0
		from := func(v int32) time.Duration { return l.nodes.From(v, need, l.now) }
		leave, where := l.rental.Decide(j, l.now, RentalCase{
			Deadline: l.Jobs[j].Within(), Work: l.predicted(j), Done: l.doneOf(j), Changeover: l.Jobs[j].Changeover(), From: from,
		})
		if !leave || f.state != Running && f.state != Paused || !l.rental.Any(l.machine.NodesOf(f.grant.Cores, nil)) {
			continue
		}
		l.guard.News()
		if err := l.move(j, where); err != nil {
			return err
		}
	}
	return nil
}

// doneOf returns what is done of a job, in run time on its full request: as the engine
// knows it, or by the time that it has run, less the start of the attempt.
func (l *loop) doneOf(j int32) time.Duration {
	f := l.life(j)
	if f.state != Running && f.state != Paused {
		return l.rental.Kept(j)
	}
	if t, ok := l.provider.(Teller); ok {
		a := t.Attempt(int(j))
		if a.Ran > 0 {
			return l.Outlook.Past(&l.Jobs[j], l.measured(j, &a, a.Ran))
		}
		return a.Done
	}
	ran := l.Outlook.Done(&l.Jobs[j], l.allotment(j), max(l.now-f.since-l.Jobs[j].Changeover(), 0))
	return l.rental.Kept(j) + l.Outlook.Past(&l.Jobs[j], ran)
}

// move ends the attempt of a job that is to go on elsewhere. It waits again, with what it
// has done.
func (l *loop) move(j int32, where string) error {
	end := l.provider.Revoke
	if m, ok := l.provider.(Mover); ok {
		end = m.Move
	}
	done := l.doneOf(j)
	attempt, err := l.cut(j, end)
	if attempt.Done == 0 && attempt.Ran == 0 { // the engine does not know
		attempt.Done, attempt.Kept = done, done
	}
	if err != nil {
		return fmt.Errorf("move job %q: %w", l.Jobs[j].Name, err)
	}
	l.anew(j, &attempt, Event{Kind: Move, Job: int(j), Reason: "is to have " + where, Attempt: &attempt})
	return nil
}
