package scheduler

import (
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// servers is the extension of runs whose nodes come and go. It keeps the nodes, and where the policy decides that, the
// markets from which the servers of jobs come.
type servers struct {
	noHooks
	*loop
	nodes    serverNodes
	rental   rental
	provider Provider // the engine
}

// newServers closes the nodes that are still to come.
func newServers(l *loop) (*servers, error) {
	engine, ok := l.Engine.(Provider)
	if !ok {
		return nil, errors.New("cluster: there are nodes that come and go, and an engine that cannot acquire them")
	}
	s := &servers{loop: l, provider: engine}
	var err error
	s.nodes, err = newServerNodes(l.Cluster, l.machine, engine, func(e Event) {
		l.detector.Progressed()
		l.emit(e)
	})
	if err != nil {
		return nil, err
	}
	s.rental, err = newRental(l.rules.Rental, l.Cluster, l.machine, l.jobs.Len())
	if s.rental.Rents() {
		s.nodes.Ready = func(v int32) bool { return s.nodes.ServerFrom(v, l.now) <= l.now }
	}
	return s, err
}

func (l *servers) arrived(j *jobState) error {
	l.rental.Arrive(j.number, j.job.Arrival)
	return nil
}

func (l *servers) changed(j *jobState, c change, work time.Duration) {
	switch c {
	case attemptStarts:
		l.rental.Served(j.number, true, l.now)
	case placed:
		l.nodes.Occupy(j.number, j.grant.Cores)
	case leaves:
		l.nodes.Vacate(j.number, j.grant.Cores, l.now)
	case requeued:
		l.rental.Keep(j.number, work)
	case ends:
		l.rental.End(j.number)
	}
}

func (l *servers) nextInstant() time.Duration { return min(l.nodes.NextIdle(), l.rental.Next()) }

func (l *servers) reached(now time.Duration) {
	if l.rental.Next() <= l.nodes.NextIdle() {
		l.rental.Ring(now)
	} else {
		l.nodes.Rest()
	}
}

func (l *servers) limit(j *jobState, need *cluster.Room) { need.Market = l.rental.Bars(j.number) }
func (l *servers) beforeDispatch() error                 { return l.rent() }
func (l *servers) afterDispatch() error                  { return l.order() }
func (l *servers) pending() bool                         { return l.nodes.Pending() }
func (l *servers) finish() error                         { return l.nodes.DismissAll() }

// notice takes the notice of a node, or of a job that has ended its attempt because of one.
func (l *servers) notice(n *Notice) (taken bool, err error) {
	switch n.Kind {
	case JobEnded:
		return true, l.depart(n)
	case NodeUp, NodeWarned, NodeDown:
	default:
		return false, nil
	}
	l.detector.Progressed()
	lost, err := l.nodes.Notice(n, l.now)
	if err != nil || !lost {
		return true, err
	}
	return true, l.lose(int32(n.Node))
}

// lose takes a node away, with the jobs on it.
func (l *servers) lose(v int32) error {
	for _, j := range l.nodes.Lose(v) {
		take := l.revoke
		if l.survives(l.state(j), on(v)) {
			take = l.shrink
		}
		if err := take(l.state(j), v); err != nil {
			return err
		}
	}
	if l.ending.stopping {
		return nil
	}
	return l.nodes.Replace(v)
}

// revoke ends the attempt of a job that has lost a node. It waits again, with the work
// of its last checkpoint, in the order of the policy; this is no failure and takes no
// retry.
func (l *servers) revoke(j *jobState, v int32) error {
	return l.revokeBy(j, v, l.provider.Revoke, fmt.Sprintf("node %q was lost", l.Cluster.Nodes[v].Name))
}

// depart takes the notice that a job has ended its attempt because a node will be taken away: it need
// not wait for that.
func (l *servers) depart(n *Notice) error {
	if n.Node < 0 || n.Node >= len(l.Cluster.Nodes) || n.Attempt == nil {
		return fmt.Errorf("engine: end of job %q for node %d, which cannot be", l.job(int32(n.Job)).Name, n.Node)
	}
	ended := func(int) (Attempt, error) { return *n.Attempt, nil }
	why := fmt.Sprintf("node %q is to be taken away", l.Cluster.Nodes[n.Node].Name)
	return l.revokeBy(l.state(int32(n.Job)), int32(n.Node), ended, why)
}

func (l *servers) revokeBy(j *jobState, v int32, end func(job int) (Attempt, error), reason string) error {
	attempt, err := l.endAttempt(j, end)
	if err != nil {
		return fmt.Errorf("revoke job %q: %w", j.job.Name, err)
	}
	l.result(j).Revocations++
	if l.ending.stopping {
		j.state = Stopped
		l.close(j, Stop, reason)
		return nil
	}
	l.rental.Lost(j.number, v)
	l.requeue(j, &attempt, Event{Kind: Revoke, Job: int(j.number), Node: int(v), Reason: reason, Attempt: &attempt})
	return nil
}

// rent has the policy choose the source of servers for jobs whose tick has begun, or
// which have lost their servers.
func (l *servers) rent() error {
	if !l.rental.Rents() {
		return nil
	}
	for _, j := range l.rental.Due() {
		j := l.state(j)
		need, _ := l.needs(j, l.atLeast(j))
		need.Market = 0
		from := func(v int32) time.Duration { return l.nodes.From(v, need, l.now) }
		leave, where := l.rental.Decide(j.number, l.now, rentalCase{
			Deadline: j.job.Within(), Work: l.predicted(j), Done: l.doneOf(j), Changeover: j.job.Changeover(), From: from,
		})
		if !leave || j.state != Running && j.state != Paused || !l.rental.Any(l.machine.NodesOf(j.grant.Cores, nil)) {
			continue
		}
		l.detector.Progressed()
		if err := l.move(j, where); err != nil {
			return err
		}
	}
	return nil
}

// doneOf returns the finished work of a job, in run time on its full request. It comes
// from the engine, or from the job's run time less the start of the attempt.
func (l *servers) doneOf(j *jobState) time.Duration {
	if j.state != Running && j.state != Paused {
		return l.rental.Kept(j.number)
	}
	a := l.provider.Attempt(int(j.number))
	if a.Ran > 0 {
		return l.ProgressModel.Past(j.job, l.measured(j, &a, a.Ran))
	}
	return a.Done
}

// move ends the attempt of a job that is to continue on other servers. The job waits
// again, and keeps its work.
func (l *servers) move(j *jobState, where string) error {
	done := l.doneOf(j)
	attempt, err := l.endAttempt(j, l.provider.Move)
	if attempt.Done == 0 && attempt.Ran == 0 { // the engine does not know
		attempt.Done, attempt.Kept = done, done
	}
	if err != nil {
		return fmt.Errorf("move job %q: %w", j.job.Name, err)
	}
	l.requeue(j, &attempt, Event{Kind: Move, Job: int(j.number), Reason: "is to have " + where, Attempt: &attempt})
	return nil
}

// order asks for the nodes that the jobs at the head of the queue need. A job whose
// nodes are up or on their way leaves the head to the next one: servers for several
// jobs start at the same time.
func (l *servers) order() error {
	if !l.nodes.Orders() {
		return nil
	}
	rooms := l.nodes.Rooms()
	for j := l.queue.Next(queue.Front, queue.Anyone); j != noJob; {
		served, err := l.orderFor(l.state(j), rooms)
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
func (l *servers) orderFor(j *jobState, rooms []cluster.Room) (bool, error) {
	now := j.alternative
	defer func() { l.adopt(j, now) }()
	for _, k := range append([]int32{now}, l.choices(j)...) {
		l.adopt(j, k)
		if served, err := l.orderAs(j, rooms); served || err != nil {
			return served, err
		}
	}
	return false, nil
}

func (l *servers) orderAs(j *jobState, rooms []cluster.Room) (bool, error) {
	need, count := l.needs(j, l.atLeast(j))
	return l.nodes.Serve(need, count, l.home(j), rooms)
}

// stalled fails the first job that waits to start when no server will be available for
// it any more, and lets those after it have their turn.
func (l *servers) stalled() (changed bool, err error) {
	j := l.queue.Next(queue.Front, queue.Anyone)
	for j != noJob && l.state(j).state != Queued {
		j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone)
	}
	if j == noJob {
		return false, nil
	}
	l.settleTime(l.state(j))
	l.queue.Remove(j)
	l.state(j).state = Failed
	l.close(l.state(j), Fail, "no server is available for it any more")
	if err := l.dispatch(); err != nil {
		return true, err
	}
	return true, l.order()
}

// orderParts asks for nodes for the parts that running jobs lack. rooms are the
// resources that waiting jobs leave.
func (l *servers) orderParts(rooms []cluster.Room) error {
	for _, j := range l.roles.Amiss() {
		j := l.state(j)
		if !j.booked || j.state != Running {
			continue
		}
		for _, p := range l.lacks(j) {
			need := l.needOf(j, p.Role)
			if need.Cores == 0 && need.GPUs == 0 {
				continue // another part is there too
			}
			if _, err := l.nodes.Serve(need, 1, nil, rooms); err != nil {
				return err
			}
		}
	}
	return nil
}
