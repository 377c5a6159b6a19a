package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// rank returns the policy's sort key of a job; less is better. For a running
// job it is the key that compares it with waiting jobs now.
func (l *loop) rank(j int32) int64 { return l.rules.Order.Rank(JobView{l, j}) }

// place returns the place in the queue of a job that begins to wait.
func (l *loop) place(j int32) queue.Key {
	k := queue.Key{Rank: l.rank(j), Second: int64(l.life(j).arrival), Job: j}
	if l.second != nil {
		k.Second = l.second.Second(JobView{l, j})
	}
	return k
}

// least returns the least that a waiting job can start with.
func (l *loop) least(j int32) queue.Ask {
	choices, now := l.choices(j), l.life(j).alternative
	if len(choices) == 1 {
		return l.leastAs(j)
	}
	least := queue.AnyAsk
	for _, k := range choices {
		l.adopt(j, k)
		ask := l.leastAs(j)
		least = queue.Ask{Cores: min(least.Cores, ask.Cores), Length: min(least.Length, ask.Length)}
	}
	l.adopt(j, now)
	return least
}

// leastAs is least with the present alternative.
func (l *loop) leastAs(j int32) queue.Ask {
	ask := queue.Ask{Cores: l.atLeast(j)}
	if !l.life(j).plain {
		need, _ := l.job(j).Needs(l.atLeast(j))
		ask.Cores = need.Cores
	}
	if l.rules.Ends { // otherwise no limit on the queue has a window
		ask.Length = l.length(j, l.life(j).request)
	}
	return ask
}

// atLeast returns the least number of cores that a waiting job can start
// with. Gangs start whole, and a rigid job that has started keeps its size.
func (l *loop) atLeast(j int32) int32 {
	f, job := l.life(j), l.job(j)
	if !l.rules.Partial || l.sized(j) {
		return f.request
	}
	return min(int32(max(job.MinThreads, 1)), f.request)
}

// sized reports whether the number of cores of a job is not to be chosen: it is
// a gang, or rigid and has started.
func (l *loop) sized(j int32) bool {
	if l.life(j).plain {
		return l.life(j).booked
	}
	return l.job(j).Nodes > 1 || l.job(j).Divided || len(l.job(j).Roles()) > 0 || !l.job(j).Malleable && l.life(j).booked
}

// RoundStarts implements View.
func (l *loop) RoundStarts() bool { return l.roundStarts }

// nextRound returns when the present round ends.
func (l *loop) nextRound() time.Duration {
	return l.rounds.Next(l.now, len(l.running) > 0, l.queue.Len() > 0)
}

// admitRound asks a policy of rounds which jobs run in the round that starts now, if one
// does.
func (l *loop) admitRound() error {
	runs, waits := len(l.running) > 0, l.queue.Len() > 0
	starts := l.rounds.Starts(runs)
	if !runs && !waits || !starts && !(l.rules.AtOnce && waits && l.machine.Idle > 0) {
		return nil
	}
	l.roundStarts = starts
	err := l.rules.Admission.Admit(l, l)
	l.roundStarts, l.gaveBack = false, false // freed resources are decided about
	if starts {
		l.rounds.Begin(l.now)
	}
	return err
}

// turnOver puts a running job at its place among the waiting ones.
func (l *loop) turnOver(j int32) {
	f := l.life(j)
	l.settleTime(j)
	l.machine.Give(f.grant)
	f.yields = true
	l.turns.Add(j, f.grant)
	l.arrivals++
	l.queue.Insert(l.place(j), l.least(j))
}

func (l *loop) dropTurn(j int32) {
	l.life(j).yields = false
	l.turns.Drop(j, l.life(j).grant)
}

// endTurn pauses a job whose turn is over, because its cores are wanted or
// dispatch has not given it any.
func (l *loop) endTurn(j int32) error {
	if err := l.halt(j); err != nil {
		return err
	}
	l.settleTime(j)
	l.dropTurn(j)
	l.leave(j)
	l.paused(j, "its quantum is over and others wait")
	return nil
}

// goOn lets a job whose turn is over keep its resources, for a new quantum.
func (l *loop) goOn(j int32) {
	f := l.life(j)
	l.dropTurn(j)
	l.queue.Remove(j)
	l.machine.Take(f.grant)
	if l.follower != nil {
		l.follower.Served(j)
	}
	l.setTimer(j, l.now+l.quantum(j))
}

// quantum returns how long a job that runs now does so before dispatch looks at it again;
// 0 for to its end.
func (l *loop) quantum(j int32) time.Duration {
	if l.quanta != nil {
		return l.quanta.Quantum(JobView{l, j})
	}
	return l.rules.Quantum
}

// clear pauses the jobs that still run on resources of a grant.
func (l *loop) clear(g Grant) error {
	for len(l.turns.Jobs) > 0 {
		owner, some := l.turns.Of(g)
		if !some {
			return nil
		}
		if err := l.endTurn(owner); err != nil {
			return err
		}
	}
	return nil
}
