package supply

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// serverNodes has the state of each node of a run, and rents and returns servers for nodes. It opens a node of the
// machine when a server for it is up, and closes it when the server goes. It decides nothing about jobs.
type serverNodes struct {
	cluster cluster.Cluster
	machine *cluster.Machine
	source  Source
	emit    func(scheduler.Event)
	all     []node
	absent  int // number of nodes on request without a server, which can be requested
	coming  int // number of nodes that are requested and not up
	leaving int // number of nodes that are up, and will be taken away
	idle    queue.Timers
	rested  []int32        // nodes whose idle time is over
	rooms   []cluster.Room // working storage
	// Ready, if not nil, reports whether a server for a node is available at once. Other nodes are not requested.
	Ready func(v int32) bool
}

type phase uint8

const (
	absent phase = iota
	coming
	up
	warned
	over // no server will be available for it any more
)

// node is the state of one node.
type node struct {
	phase   phase
	tenants []int32       // jobs that hold resources on it, running or paused
	idleAt  time.Duration // instant at which it is given back, or Never
	wanted  bool          // a job at the head of the queue waits for it and other nodes
}

// newServerNodes closes all nodes that are not up yet, and requests servers for Fixed nodes. emit is called with the
// events of nodes.
func newServerNodes(c cluster.Cluster, m *cluster.Machine, source Source, emit func(scheduler.Event)) (serverNodes, error) {
	n := serverNodes{cluster: c, machine: m, source: source, emit: emit, all: make([]node, len(c.Nodes))}
	for v := range n.all {
		n.all[v].idleAt = scheduler.Never
		if c.Nodes[v].Supply == cluster.Standing {
			n.all[v].phase = up
			continue
		}
		m.Close(int32(v))
		if c.Nodes[v].Supply == cluster.OnRequest {
			n.absent++
			continue
		}
		if err := n.acquire(int32(v)); err != nil {
			return n, err
		}
	}
	return n, nil
}

// From returns the earliest instant from now on at which a node can run a job with the need; scheduler.Never if the
// node will have no server.
func (n *serverNodes) From(v int32, need cluster.Room, now time.Duration) time.Duration {
	switch {
	case n.all[v].phase == over:
		return scheduler.Never
	case n.all[v].phase == absent:
		return n.ServerFrom(v, now)
	case n.machine.Free[v].Holds(need):
		return now
	}
	return now + 1 // its room is free later; the instant is not known
}

// ServerFrom returns the first instant at which a server is available for a node without one.
func (n *serverNodes) ServerFrom(v int32, now time.Duration) time.Duration {
	return n.source.From(int(v), now)
}

// Pending reports whether any node is requested and not up, or will be taken away.
func (n *serverNodes) Pending() bool { return n.coming+n.leaving > 0 }

// acquire requests a server for a node.
func (n *serverNodes) acquire(v int32) error {
	if n.all[v].phase == absent && n.cluster.Nodes[v].Supply == cluster.OnRequest {
		n.absent--
	}
	server, err := n.source.Acquire(int(v))
	if err != nil {
		return fmt.Errorf("request a server for node %q: %w", n.cluster.Nodes[v].Name, err)
	}
	if server == nil {
		n.all[v].phase = over
		return nil
	}
	n.all[v].phase = coming
	n.coming++
	n.emit(scheduler.Event{Kind: scheduler.NodeRequest, Job: -1, Node: int(v), Server: server})
	return nil
}

// Notice handles a notice of a node. lost says that the node is lost; the caller must then call Lose.
func (n *serverNodes) Notice(e *scheduler.Notice, now time.Duration) (lost bool, err error) {
	if e.Node < 0 || e.Node >= len(n.all) || n.cluster.Nodes[e.Node].Supply == cluster.Standing {
		return false, fmt.Errorf("engine reported %q for node %d, which cannot come and go", e.Kind, e.Node)
	}
	v := int32(e.Node)
	s := &n.all[v]
	switch {
	case e.Kind == scheduler.NodeUp && s.phase == coming:
		s.phase = up
		n.coming--
		n.machine.Open(v)
		n.restIfIdle(v, now)
		n.emit(scheduler.Event{Kind: scheduler.NodeStart, Job: -1, Node: e.Node})
	case e.Kind == scheduler.NodeWarned && s.phase == up:
		s.phase, s.idleAt = warned, scheduler.Never
		n.leaving++
		n.machine.Close(v)
		n.emit(scheduler.Event{Kind: scheduler.NodeWarning, Job: -1, Node: e.Node, Until: e.Until})
	case e.Kind == scheduler.NodeDown && (s.phase == up || s.phase == warned):
		return true, nil
	default:
		return false, fmt.Errorf("engine reported %q for node %q, whose state does not allow it", e.Kind, n.cluster.Nodes[v].Name)
	}
	return false, nil
}

// Lose removes a node, and returns the jobs that held resources on it, by number.
func (n *serverNodes) Lose(v int32) []int32 {
	s := &n.all[v]
	if s.phase == warned {
		n.leaving--
	} else {
		n.machine.Close(v)
	}
	s.phase, s.idleAt = absent, scheduler.Never
	if n.cluster.Nodes[v].Supply == cluster.OnRequest {
		n.absent++
	}
	n.emit(scheduler.Event{Kind: scheduler.NodeEnd, Job: -1, Node: int(v), Revoked: true})
	return slices.Sorted(slices.Values(s.tenants))
}

// Replace requests another server for a lost node, if the node is Fixed.
func (n *serverNodes) Replace(v int32) error {
	if n.cluster.Nodes[v].Supply != cluster.Fixed {
		return nil
	}
	return n.acquire(v)
}

// Occupy records that a job holds resources on the nodes of its cores.
func (n *serverNodes) Occupy(j int32, cores cluster.CoreSet) {
	for _, v := range n.machine.NodesOf(cores, nil) {
		s := &n.all[v]
		s.tenants, s.idleAt = append(s.tenants, j), scheduler.Never
	}
}

// Vacate records that a job has left the nodes of its cores.
func (n *serverNodes) Vacate(j int32, cores cluster.CoreSet, now time.Duration) {
	for _, v := range n.machine.NodesOf(cores, nil) {
		n.Leave(j, v, now)
	}
}

// Leave records that a job has left a node.
func (n *serverNodes) Leave(j, v int32, now time.Duration) {
	s := &n.all[v]
	if i := slices.Index(s.tenants, j); i >= 0 {
		s.tenants = slices.Delete(s.tenants, i, i+1)
		n.restIfIdle(v, now)
	}
}

// restIfIdle starts the idle time of a node without jobs.
func (n *serverNodes) restIfIdle(v int32, now time.Duration) {
	s := &n.all[v]
	if s.phase != up || len(s.tenants) > 0 || n.cluster.Nodes[v].Supply != cluster.OnRequest {
		return
	}
	if idle := n.cluster.Nodes[v].Idle; idle < scheduler.Never-now {
		s.idleAt = now + idle
		n.idle.Push(queue.Timer{At: s.idleAt, Of: v})
	}
}

// NextIdle returns the next instant at which the idle time of a node is over.
func (n *serverNodes) NextIdle() time.Duration {
	for len(n.idle) > 0 && n.all[n.idle[0].Of].idleAt != n.idle[0].At {
		n.idle.Pop()
	}
	if len(n.idle) == 0 {
		return scheduler.Never
	}
	return n.idle[0].At
}

// Rest records that the idle time of the node at NextIdle is over. GiveBack gives the node back, unless dispatch
// starts a job on it first.
func (n *serverNodes) Rest() {
	v := n.idle[0].Of
	n.idle.Pop()
	n.all[v].idleAt = scheduler.Never
	n.rested = append(n.rested, v)
}

// GiveBack gives back nodes whose idle time is over, except nodes for which a job waits together with other nodes.
// If a policy rents servers (Ready is not nil), it also gives back requested nodes that no waiting job needs any
// more, because the job has chosen another source.
func (n *serverNodes) GiveBack() error {
	for v := range n.all {
		if s := &n.all[v]; n.Ready != nil && s.phase == coming && !s.wanted &&
			n.cluster.Nodes[v].Supply == cluster.OnRequest {
			s.phase = absent
			n.absent, n.coming = n.absent+1, n.coming-1
			if err := n.dismiss(int32(v)); err != nil {
				return err
			}
		}
	}
	keep := n.rested[:0]
	for _, v := range n.rested {
		s := &n.all[v]
		switch {
		case s.phase != up || len(s.tenants) > 0 || s.idleAt != scheduler.Never:
		case s.wanted:
			keep = append(keep, v)
		default:
			s.phase = absent
			n.absent++
			n.machine.Close(v)
			if err := n.dismiss(v); err != nil {
				return err
			}
		}
	}
	n.rested = keep
	return nil
}

func (n *serverNodes) dismiss(v int32) error {
	if err := n.source.Release(int(v)); err != nil {
		return fmt.Errorf("give node %q back: %w", n.cluster.Nodes[v].Name, err)
	}
	n.emit(scheduler.Event{Kind: scheduler.NodeEnd, Job: -1, Node: int(v)})
	return nil
}

// DismissAll gives all servers back at the end of a run.
func (n *serverNodes) DismissAll() error {
	for v := range n.all {
		s := &n.all[v]
		if n.cluster.Nodes[v].Supply == cluster.Standing || s.phase == absent || s.phase == over {
			continue
		}
		s.phase = over
		if err := n.dismiss(int32(v)); err != nil {
			return err
		}
	}
	return nil
}

// Orders reports whether there may be nodes to request or to give back.
func (n *serverNodes) Orders() bool {
	return n.absent > 0 || len(n.rested) > 0 || n.Ready != nil && n.coming > 0
}

// Rooms returns the free resources of each node, including nodes that are requested and not up. The caller passes
// them to Serve for each waiting job. The slice is valid until the next call.
func (n *serverNodes) Rooms() []cluster.Room {
	n.rooms = append(n.rooms[:0], n.machine.Free...)
	for v := range n.all {
		n.all[v].wanted = false
		if n.all[v].phase == coming {
			n.rooms[v] = n.machine.Whole[v]
		}
	}
	return n.rooms
}

// Serve requests the nodes that a waiting job needs and that are not up or requested yet. It subtracts the job's
// need from rooms. It returns false if the job cannot get its nodes. If home is not nil, the job needs these nodes.
func (n *serverNodes) Serve(need cluster.Room, count int, home []int32, rooms []cluster.Room) (bool, error) {
	chosen, ok := cluster.Fit(rooms, need, count, home, nil)
	if !ok && home == nil {
		for v := range n.all { // add absent nodes, in order, until the job fits
			if n.all[v].phase != absent || need.Parts == nil && !n.machine.Whole[v].Holds(need) ||
				n.Ready != nil && !n.Ready(int32(v)) {
				continue
			}
			rooms[v] = n.machine.Whole[v]
			if chosen, ok = cluster.Fit(rooms, need, count, nil, chosen[:0]); ok {
				break
			}
		}
		n.hideAbsent(rooms, chosen, ok)
	}
	if !ok {
		return false, nil
	}
	for _, v := range chosen {
		if n.all[v].phase != absent {
			continue
		}
		if err := n.acquire(v); err != nil {
			return false, err
		}
		if n.all[v].phase == over { // no server for this node; try another one
			rooms[v].Cores = 0
			return n.Serve(need, count, home, rooms)
		}
	}
	for i, v := range chosen {
		rooms[v].Sub(need.At(i))
		n.all[v].wanted = true
	}
	return true, nil
}

// hideAbsent removes the room of absent nodes that were not chosen.
func (n *serverNodes) hideAbsent(rooms []cluster.Room, chosen []int32, ok bool) {
	for v := range n.all {
		if n.all[v].phase == absent && !(ok && slices.Contains(chosen, int32(v))) {
			rooms[v].Cores = 0
		}
	}
}
