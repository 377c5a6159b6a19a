package scheduler

import "time"

// turnOver puts a running job whose quantum is over into the queue. Its resources count as free, but it runs until
// dispatch has decided.
func (l *loop) turnOver(j *jobState) {
	l.settleTime(j)
	l.machine.Give(j.grant)
	j.yields = true
	l.turns.Add(j.number, j.grant)
	l.tally.enqueued++
	l.queue.Insert(l.place(j), l.least(j))
}

func (l *loop) dropTurn(j *jobState) {
	j.yields = false
	l.turns.Drop(j.number, j.grant)
}

// endTurn pauses a running job whose quantum is over, because another job gets its resources.
func (l *loop) endTurn(j *jobState) error {
	if err := l.halt(j); err != nil {
		return err
	}
	l.settleTime(j)
	l.dropTurn(j)
	l.leave(j)
	l.paused(j, "its quantum is over and others wait")
	return nil
}

// goOn lets a job whose quantum is over keep its resources for a new quantum.
func (l *loop) goOn(j *jobState) {
	l.dropTurn(j)
	l.queue.Remove(j.number)
	l.machine.Take(j.grant)
	if l.policy.observer != nil {
		l.policy.observer.Served(j.number)
	}
	l.setTimer(j, l.now+l.quantum(j))
}

// quantum returns how long a job that starts or continues now runs before dispatch considers it again; 0 means to
// its end.
func (l *loop) quantum(j *jobState) time.Duration {
	if l.rules.QuantumOf != nil {
		return l.rules.QuantumOf(JobView{l, j})
	}
	return l.rules.Quantum
}

// clear pauses jobs whose quantum is over and that hold resources of a grant.
func (l *loop) clear(g Grant) error {
	for len(l.turns.Jobs) > 0 {
		owner, some := l.turns.Of(g)
		if !some {
			return nil
		}
		if err := l.endTurn(l.state(owner)); err != nil {
			return err
		}
	}
	return nil
}
