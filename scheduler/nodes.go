package scheduler

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Server is what a node runs on from its creation to its end: the machine that is
// rented for it.
type Server struct {
	// Created is when its life begins. It can be used from the notice NodeUp on.
	Created time.Duration
	// Market is where it was rented: "spot", "on_demand".
	Market string
}

// Provider is an engine whose nodes come and go, as rented servers do. A run whose
// cluster has nodes that are not Standing needs one.
//
// The engine gives notice of its nodes through Next: NodeUp when a server that was
// acquired can be used, NodeWarned when it knows that one will be taken away (at
// Notice.Until), and NodeDown when it was. At NodeDown all that ran on the node is
// gone already, and nothing of it gives notice of an end. The scheduler then calls
// Revoke or Reshape, before Next, for each job that had a part there.
type Provider interface {
	// Acquire asks for a server for a node that has none. NodeUp follows. It returns
	// nil when no server can be had for this node any more.
	Acquire(node int) (*Server, error)
	// Release gives the server of a node back: nothing runs on it, or it is not up yet.
	// No notice of the node follows.
	Release(node int) error
	// Revoke ends the attempt of a job that has lost a part it cannot do without:
	// the parts that are left are ended before it returns, and no notice of their end
	// follows. Start begins the next attempt, with what the last checkpoint holds.
	Revoke(job int) (Attempt, error)
	// Reshape lets a running job go on with the parts of a grant: those that it lacks
	// are gone, and those that are new are started beside the others.
	Reshape(job int, grant Grant) error
}

// Attempt is what an engine knows of an attempt of a job. Work is told as the run time
// that it takes on the job's full request.
type Attempt struct {
	// From is the work that was done when the attempt began, Done when it ended, and
	// Kept what the last checkpoint holds of it.
	From, Done, Kept time.Duration
	// Checkpoints and Restore are the time spent in writing checkpoints and in
	// reading one.
	Checkpoints, Restore time.Duration
	// Redone is work of attempts before that this one found lost: an engine that runs
	// programs learns it from the one that goes on.
	Redone time.Duration
}

// Lost returns the work that has to be done again.
func (a Attempt) Lost() time.Duration { return a.Done - a.Kept }

// nodes are what a run knows of nodes that come and go; the zero value is that of a
// cluster whose nodes all stand.
type nodes struct {
	engine  Provider
	all     []nodeLife
	absent  int // nodes on request that can be asked for
	coming  int // nodes that are asked for and not up
	leaving int // nodes that are up, and will be taken away
	idle    timers
	rested  []int32 // nodes whose idle time is over
	rooms   []Room  // scratch
}

type nodePhase uint8

const (
	nodeAbsent nodePhase = iota
	nodeComing
	nodeUp
	nodeWarned
	nodeOver // there will be no server for it any more
)

// nodeLife is the state of a node.
type nodeLife struct {
	phase   nodePhase
	tenants []int32       // jobs that have started and not ended on it
	idleAt  time.Duration // the instant of the timer that counts, or Never
	wanted  bool          // a job at the head of the queue waits for it and for others
}

// newNodes closes the nodes that are still to come.
func (l *loop) newNodes() error {
	if !l.Cluster.Changes() {
		return nil
	}
	engine, ok := l.Engine.(Provider)
	if !ok {
		return fmt.Errorf("cluster: there are nodes that come and go, and an engine that cannot acquire them")
	}
	l.nodes.engine = engine
	l.nodes.all = make([]nodeLife, len(l.Cluster.Nodes))
	for v := range l.nodes.all {
		n := &l.nodes.all[v]
		n.idleAt = Never
		if l.Cluster.Nodes[v].Supply == Standing {
			n.phase = nodeUp
			continue
		}
		l.machine.Close(int32(v))
		if l.Cluster.Nodes[v].Supply == OnRequest {
			l.nodes.absent++
			continue
		}
		if err := l.acquire(int32(v)); err != nil {
			return err
		}
	}
	return nil
}

// acquire asks for a server for a node.
func (l *loop) acquire(v int32) error {
	n := &l.nodes.all[v]
	if n.phase == nodeAbsent && l.Cluster.Nodes[v].Supply == OnRequest {
		l.nodes.absent--
	}
	server, err := l.nodes.engine.Acquire(int(v))
	if err != nil {
		return fmt.Errorf("acquire node %q: %w", l.Cluster.Nodes[v].Name, err)
	}
	if server == nil {
		n.phase = nodeOver
		return nil
	}
	n.phase = nodeComing
	l.nodes.coming++
	l.guard.news()
	l.emit(Event{Kind: NodeRequest, Job: -1, Node: int(v), Server: server})
	return nil
}

// nodeNotice takes the notice of a node.
func (l *loop) nodeNotice(e *Notice) error {
	if e.Node < 0 || e.Node >= len(l.nodes.all) || l.Cluster.Nodes[e.Node].Supply == Standing {
		return fmt.Errorf("engine: %s: node %d does not come and go", e.Kind, e.Node)
	}
	v := int32(e.Node)
	n := &l.nodes.all[v]
	l.guard.news()
	switch {
	case e.Kind == NodeUp && n.phase == nodeComing:
		n.phase = nodeUp
		l.nodes.coming--
		l.machine.Open(v)
		l.restIfIdle(v)
		l.emit(Event{Kind: NodeStart, Job: -1, Node: e.Node})
	case e.Kind == NodeWarned && n.phase == nodeUp:
		n.phase, n.idleAt = nodeWarned, Never
		l.nodes.leaving++
		l.machine.Close(v)
		l.emit(Event{Kind: NodeWarning, Job: -1, Node: e.Node, Until: e.Until})
	case e.Kind == NodeDown && (n.phase == nodeUp || n.phase == nodeWarned):
		return l.lose(v)
	default:
		return fmt.Errorf("engine: %s: not so for node %q as it stands", e.Kind, l.Cluster.Nodes[v].Name)
	}
	return nil
}

// lose takes a node away, and what ran on it.
func (l *loop) lose(v int32) error {
	n := &l.nodes.all[v]
	if n.phase == nodeWarned {
		l.nodes.leaving--
	} else {
		l.machine.Close(v)
	}
	n.phase, n.idleAt = nodeAbsent, Never
	if l.Cluster.Nodes[v].Supply == OnRequest {
		l.nodes.absent++
	}
	l.emit(Event{Kind: NodeEnd, Job: -1, Node: int(v), Revoked: true})
	lost := slices.Clone(n.tenants)
	slices.Sort(lost)
	for _, j := range lost {
		take := l.revoke
		if l.survives(j, v) {
			take = l.shrink
		}
		if err := take(j, v); err != nil {
			return err
		}
	}
	if l.Cluster.Nodes[v].Supply == Fixed && !l.stopping {
		return l.acquire(v)
	}
	return nil
}

// revoke ends the attempt of a job that has lost a node. It waits again, with what its
// last checkpoint holds, in the order of the policy; this is no failure and takes no
// retry.
func (l *loop) revoke(j, v int32) error {
	f := &l.lives[j]
	switch {
	case f.State == Running && !f.yields:
		l.release(j)
	case f.State == Running: // its turn is over, its cores are given back already
		l.settleTime(j)
		l.turns.drop(j, f)
		l.leave(j)
		l.queue.Remove(j)
	default:
		l.settleTime(j)
		l.queue.Remove(j)
	}
	attempt, err := l.nodes.engine.Revoke(int(j))
	if err != nil {
		return fmt.Errorf("revoke job %q: %w", l.Jobs[j].Name, err)
	}
	l.started--
	l.guard.news()
	f.Revocations++
	f.add(&attempt)
	f.LostWork += attempt.Lost()
	reason := fmt.Sprintf("node %q was lost", l.Cluster.Nodes[v].Name)
	if l.stopping {
		f.State = Stopped
		l.close(j, Stop, reason)
		return nil
	}
	l.vacate(j)
	l.unbook(j)
	f.State, f.grant, f.timer = Queued, Grant{}, Never
	f.request, f.level = f.asked, int32(max(l.Jobs[j].Priority, 0))
	l.restore(j, &attempt)
	l.emit(Event{Kind: Revoke, Job: int(j), Node: int(v), Reason: reason, Attempt: &attempt})
	l.wait(j)
	return nil
}

// add adds what an attempt spent beside the work.
func (r *Result) add(a *Attempt) {
	r.Checkpoints += a.Checkpoints
	r.Restore += a.Restore
	r.LostWork += a.Redone
}

// restore makes what a job has done what its last checkpoint holds of it.
func (l *loop) restore(j int32, a *Attempt) {
	done, kept := l.doneBy(j, l.now), time.Duration(0)
	if a.Done > 0 {
		kept = time.Duration(float64(done) * float64(a.Kept) / float64(a.Done))
	}
	if l.lost == nil {
		l.lost = make([]time.Duration, len(l.lives))
	}
	l.lost[j] = l.lives[j].CoreTime - kept
	if l.done != nil {
		l.done[j] = kept
	}
	l.forget(j)
}

// occupy and vacate note that a job has started, and that it is over, on the nodes of
// its grant.
func (l *loop) occupy(j int32) {
	if l.nodes.all == nil {
		return
	}
	for _, v := range l.machine.NodesOf(l.lives[j].grant.Cores, nil) {
		n := &l.nodes.all[v]
		n.tenants, n.idleAt = append(n.tenants, j), Never
	}
}

func (l *loop) vacate(j int32) {
	if l.nodes.all == nil {
		return
	}
	for _, v := range l.machine.NodesOf(l.lives[j].grant.Cores, nil) {
		n := &l.nodes.all[v]
		if i := slices.Index(n.tenants, j); i >= 0 {
			n.tenants = slices.Delete(n.tenants, i, i+1)
			l.restIfIdle(v)
		}
	}
}

// restIfIdle sets the timer at which a node is given back that nothing runs on.
func (l *loop) restIfIdle(v int32) {
	n := &l.nodes.all[v]
	if n.phase != nodeUp || len(n.tenants) > 0 || l.Cluster.Nodes[v].Supply != OnRequest {
		return
	}
	if idle := l.Cluster.Nodes[v].Idle; idle < Never-l.now {
		n.idleAt = l.now + idle
		l.nodes.idle.push(timer{n.idleAt, v})
	}
}

// nextIdle returns the next instant at which a node is to be given back.
func (l *loop) nextIdle() time.Duration {
	h := &l.nodes.idle
	for len(*h) > 0 && l.nodes.all[(*h)[0].job].idleAt != (*h)[0].at {
		h.pop()
	}
	if len(*h) == 0 {
		return Never
	}
	return (*h)[0].at
}

// rest notes that the idle time of a node is over. It is given back when dispatch has
// found no use for it.
func (l *loop) rest() {
	v := l.nodes.idle[0].job
	l.nodes.idle.pop()
	l.nodes.all[v].idleAt = Never
	l.nodes.rested = append(l.nodes.rested, v)
}

// giveBack gives the nodes back whose idle time is over, but for those that a job waits
// for together with others.
func (l *loop) giveBack() error {
	keep := l.nodes.rested[:0]
	for _, v := range l.nodes.rested {
		n := &l.nodes.all[v]
		switch {
		case n.phase != nodeUp || len(n.tenants) > 0 || n.idleAt != Never:
		case n.wanted:
			keep = append(keep, v)
		default:
			n.phase = nodeAbsent
			l.nodes.absent++
			l.machine.Close(v)
			if err := l.dismiss(v); err != nil {
				return err
			}
		}
	}
	l.nodes.rested = keep
	return nil
}

func (l *loop) dismiss(v int32) error {
	if err := l.nodes.engine.Release(int(v)); err != nil {
		return fmt.Errorf("give node %q back: %w", l.Cluster.Nodes[v].Name, err)
	}
	l.emit(Event{Kind: NodeEnd, Job: -1, Node: int(v)})
	return nil
}

// dismissAll gives all servers back at the end of a run.
func (l *loop) dismissAll() error {
	for v := range l.nodes.all {
		n := &l.nodes.all[v]
		if l.Cluster.Nodes[v].Supply == Standing || n.phase == nodeAbsent || n.phase == nodeOver {
			continue
		}
		n.phase = nodeOver
		if err := l.dismiss(int32(v)); err != nil {
			return err
		}
	}
	return nil
}

// order asks for the nodes that the jobs at the head of the queue need. A job whose
// nodes are up or on their way leaves the head to the next one: servers for several
// jobs start at the same time.
func (l *loop) order() error {
	if l.nodes.absent == 0 && len(l.nodes.rested) == 0 {
		return nil
	}
	for v := range l.nodes.all {
		l.nodes.all[v].wanted = false
	}
	if err := l.orderForAll(); err != nil {
		return err
	}
	return l.giveBack()
}

func (l *loop) orderForAll() error {
	rooms := append(l.nodes.rooms[:0], l.machine.Free...)
	l.nodes.rooms = rooms
	for v := range l.nodes.all {
		if l.nodes.all[v].phase == nodeComing {
			rooms[v] = l.machine.Whole[v]
		}
	}
	for j := l.queue.Next(queue.Front, queue.Anyone); j != nobody; {
		served, err := l.orderFor(j, rooms)
		if err != nil || !served {
			return err
		}
		j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone)
	}
	return nil
}

// orderFor reports whether the nodes that a waiting job needs are up or on their way,
// and takes its part of them out of rooms.
func (l *loop) orderFor(j int32, rooms []Room) (bool, error) {
	choices := l.choices(j)
	if len(choices) == 0 {
		return l.orderAs(j, rooms)
	}
	now := int32(l.lives[j].Alternative)
	defer func() { l.adopt(j, now) }()
	for _, k := range append([]int32{now}, choices...) {
		l.adopt(j, k)
		if served, err := l.orderAs(j, rooms); served || err != nil {
			return served, err
		}
	}
	return false, nil
}

func (l *loop) orderAs(j int32, rooms []Room) (bool, error) {
	need, count := l.needs(j, l.atLeast(j))
	home := l.home(j)
	chosen, ok := cluster.Fit(rooms, need, count, home, nil)
	if !ok && home == nil {
		for v := range l.nodes.all { // as few as will do, the first that do
			if l.nodes.all[v].phase != nodeAbsent || !l.machine.Whole[v].Holds(need) {
				continue
			}
			rooms[v] = l.machine.Whole[v]
			if chosen, ok = cluster.Fit(rooms, need, count, nil, chosen[:0]); ok {
				break
			}
		}
		l.hideAbsent(rooms, chosen, ok)
	}
	if !ok {
		return false, nil
	}
	for _, v := range chosen {
		if l.nodes.all[v].phase == nodeAbsent {
			if err := l.acquire(v); err != nil {
				return false, err
			}
			if l.nodes.all[v].phase == nodeOver { // another one may do
				rooms[v].Cores = 0
				return l.orderAs(j, rooms)
			}
		}
	}
	for i, v := range chosen {
		rooms[v].Sub(need.At(i))
		l.nodes.all[v].wanted = true
	}
	return true, nil
}

// hideAbsent takes the room of absent nodes back that were looked at and not chosen.
func (l *loop) hideAbsent(rooms []Room, chosen []int32, ok bool) {
	for v := range l.nodes.all {
		if l.nodes.all[v].phase == nodeAbsent && !(ok && slices.Contains(chosen, int32(v))) {
			rooms[v].Cores = 0
		}
	}
}

// giveUp fails the first job that waits to start when no server can be had for it any
// more, and lets those after it have their turn.
func (l *loop) giveUp() (bool, error) {
	if l.nodes.all == nil {
		return false, nil
	}
	j := l.queue.Next(queue.Front, queue.Anyone)
	for j != nobody && l.lives[j].State != Queued {
		j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone)
	}
	if j == nobody {
		return false, nil
	}
	l.settleTime(j)
	l.queue.Remove(j)
	l.lives[j].State = Failed
	l.close(j, Fail, "no server can be had for it any more")
	if err := l.dispatch(); err != nil {
		return true, err
	}
	return true, l.order()
}
