package scheduler

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// newNodes closes the nodes that are still to come.
func (l *loop) newNodes() error {
	if !l.Cluster.Changes() {
		return nil
	}
	engine, ok := l.Engine.(Provider)
	if !ok {
		return fmt.Errorf("cluster: there are nodes that come and go, and an engine that cannot acquire them")
	}
	l.provider = engine
	var err error
	l.nodes, err = NewServerNodes(l.Cluster, l.machine, engine, func(e Event) {
		l.guard.News()
		l.emit(e)
	})
	if err != nil {
		return err
	}
	l.rental, err = New(l.rules.Rental, l.Cluster, l.machine, l.jobs.Len())
	if l.rental.Rents() {
		l.nodes.Ready = func(v int32) bool { return l.nodes.ServerFrom(v, l.now) <= l.now }
	}
	return err
}

// nodeNotice takes the notice of a node.
func (l *loop) nodeNotice(e *Notice) error {
	l.guard.News()
	lost, err := l.nodes.Notice(e, l.now)
	if err != nil || !lost {
		return err
	}
	return l.lose(int32(e.Node))
}

// lose takes a node away, with the jobs on it.
func (l *loop) lose(v int32) error {
	for _, j := range l.nodes.Lose(v) {
		take := l.revoke
		if l.survives(j, on(v)) {
			take = l.shrink
		}
		if err := take(j, v); err != nil {
			return err
		}
	}
	if l.stopping {
		return nil
	}
	return l.nodes.Replace(v)
}

// revoke ends the attempt of a job that has lost a node. It waits again, with the work
// of its last checkpoint, in the order of the policy; this is no failure and takes no
// retry.
func (l *loop) revoke(j, v int32) error {
	return l.revokeBy(j, v, l.provider.Revoke, fmt.Sprintf("node %q was lost", l.Cluster.Nodes[v].Name))
}

// depart takes the notice that a job has ended its attempt because a node will be taken away: it need
// not wait for that.
func (l *loop) depart(n *Notice) error {
	if n.Node < 0 || n.Node >= len(l.Cluster.Nodes) || n.Attempt == nil || l.provider == nil {
		return fmt.Errorf("engine: end of job %q for node %d, which cannot be", l.job(int32(n.Job)).Name, n.Node)
	}
	ended := func(int) (Attempt, error) { return *n.Attempt, nil }
	why := fmt.Sprintf("node %q is to be taken away", l.Cluster.Nodes[n.Node].Name)
	return l.revokeBy(int32(n.Job), int32(n.Node), ended, why)
}

func (l *loop) revokeBy(j, v int32, end func(job int) (Attempt, error), reason string) error {
	f := l.life(j)
	attempt, err := l.cut(j, end)
	if err != nil {
		return fmt.Errorf("revoke job %q: %w", l.job(j).Name, err)
	}
	l.result(j).Revocations++
	if l.stopping {
		f.state = Stopped
		l.close(j, Stop, reason)
		return nil
	}
	l.rental.Lost(j, v)
	l.anew(j, &attempt, Event{Kind: Revoke, Job: int(j), Node: int(v), Reason: reason, Attempt: &attempt})
	return nil
}

// cut takes a job that has started from its nodes, and has the engine end its attempt.
func (l *loop) cut(j int32, end func(int) (Attempt, error)) (Attempt, error) {
	l.takeOff(j)
	attempt, err := end(int(j))
	if err != nil {
		return attempt, err
	}
	l.started--
	l.guard.News()
	l.result(j).Add(&attempt)
	l.result(j).LostWork += attempt.Lost()
	return attempt, nil
}

// anew lets a job whose attempt was cut wait again, with the work that it kept.
func (l *loop) anew(j int32, attempt *Attempt, e Event) {
	f := l.life(j)
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.unbook(j)
	f.state, f.grant, f.timer = Queued, Grant{}, Never
	f.request, f.level = f.asked, int32(max(l.job(j).Priority, 0))
	l.rental.Keep(j, l.restore(j, attempt))
	l.emit(e)
	l.wait(j)
}

// restore resets the progress of a job to its last checkpoint, and returns it in run time
// on the job's full request.
func (l *loop) restore(j int32, a *Attempt) time.Duration {
	done, kept, work := l.doneBy(j, l.now), time.Duration(0), max(a.Kept, a.From)
	switch {
	case a.Ran > 0:
		kept = l.measured(j, a, a.Saved)
		work = l.Outlook.Past(l.job(j), kept)
	case a.Done > 0:
		kept = time.Duration(float64(done) * float64(a.Kept) / float64(a.Done))
	}
	l.keepOnly(j, kept)
	return work
}

// measured returns the progress of a job, in the unit of the outlook, after the service time at
// of its attempt. The program of the attempt must report when it resumed and when it saved its
// work.
func (l *loop) measured(j int32, a *Attempt, at time.Duration) time.Duration {
	base := l.done.Base(j)
	return base + time.Duration(a.Share(at)*float64(l.doneBy(j, l.now)-base))
}

// order asks for the nodes that the jobs at the head of the queue need. A job whose
// nodes are up or on their way leaves the head to the next one: servers for several
// jobs start at the same time.
func (l *loop) order() error {
	if !l.nodes.Orders() {
		return nil
	}
	rooms := l.nodes.Rooms()
	for j := l.queue.Next(queue.Front, queue.Anyone); j != nobody; {
		served, err := l.orderFor(j, rooms)
		if err != nil {
			return err
		}
		l.rental.Served(j, served, l.now)
		if !served && !l.rental.Rents() { // whoever rents for itself does not hold up others
			break
		}
		j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone)
	}
	if err := l.orderParts(rooms); err != nil {
		return err
	}
	return l.nodes.GiveBack()
}

// orderFor reports whether the nodes that a waiting job needs are up or on their way,
// and takes its part of them out of rooms.
func (l *loop) orderFor(j int32, rooms []Room) (bool, error) {
	now := l.life(j).alternative
	defer func() { l.adopt(j, now) }()
	for _, k := range append([]int32{now}, l.choices(j)...) {
		l.adopt(j, k)
		if served, err := l.orderAs(j, rooms); served || err != nil {
			return served, err
		}
	}
	return false, nil
}

func (l *loop) orderAs(j int32, rooms []Room) (bool, error) {
	need, count := l.needs(j, l.atLeast(j))
	return l.nodes.Serve(need, count, l.home(j), rooms)
}

// giveUp fails the first job that waits to start when no server will be available for
// it any more, and lets those after it have their turn.
func (l *loop) giveUp() (bool, error) {
	if !l.nodes.Change() {
		return false, nil
	}
	j := l.queue.Next(queue.Front, queue.Anyone)
	for j != nobody && l.life(j).state != Queued {
		j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone)
	}
	if j == nobody {
		return false, nil
	}
	l.settleTime(j)
	l.queue.Remove(j)
	l.life(j).state = Failed
	l.close(j, Fail, "no server is available for it any more")
	if err := l.dispatch(); err != nil {
		return true, err
	}
	return true, l.order()
}
