package scheduler

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// turns are the running jobs whose quantum is over while others wait. Their
// cores count as free and they stand in the queue, but they run on until
// dispatch has decided, so that one that gets its own cores back is never
// touched.
type turns struct {
	jobs   []int32
	owners cluster.Owners
}

func (t *turns) add(j int32, f *life) {
	f.yields = true
	t.jobs = append(t.jobs, j)
	t.owners.Set(f.grant, j)
}

func (t *turns) drop(j int32, f *life) {
	f.yields = false
	i := slices.Index(t.jobs, j)
	t.jobs = slices.Delete(t.jobs, i, i+1)
	t.owners.Clear(f.grant)
}

// turnOver puts a running job at its place among the waiting ones.
func (l *loop) turnOver(j int32) {
	f := &l.lives[j]
	l.settleTime(j)
	l.machine.Give(f.grant)
	l.turns.add(j, f)
	l.arrivals++
	l.queue.Insert(l.place(j), l.least(j))
}

// endTurn pauses a job whose turn is over, because its cores are wanted or
// dispatch has not given it any.
func (l *loop) endTurn(j int32) error {
	if err := l.halt(j); err != nil {
		return err
	}
	l.settleTime(j)
	l.turns.drop(j, &l.lives[j])
	l.leave(j)
	l.paused(j, "its quantum is over and others wait")
	return nil
}

// goOn lets a job whose turn is over keep what it has, for a new quantum.
func (l *loop) goOn(j int32) {
	f := &l.lives[j]
	l.turns.drop(j, f)
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

// clear pauses the jobs that still run on what a grant takes.
func (l *loop) clear(g Grant) error {
	for len(l.turns.jobs) > 0 {
		owner, some := l.turns.owners.Of(g)
		if !some {
			return nil
		}
		if err := l.endTurn(owner); err != nil {
			return err
		}
	}
	return nil
}
