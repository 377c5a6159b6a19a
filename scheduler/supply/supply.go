// Package supply is the extension of the scheduler for nodes that come and go. It requests servers that jobs need,
// takes jobs from lost nodes, and gives idle servers back. A program that imports it can schedule clusters with such
// nodes.
package supply

import (
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

func init() {
	scheduler.RegisterSupply(func(r *scheduler.Run, m *cluster.Machine, k scheduler.Kernel) (scheduler.Extension, error) {
		return New(r, m, k)
	})
}

// Provider is an engine whose nodes come and go, such as rented servers. It also implements scheduler.Migrator. A
// run needs a Provider if any node of its cluster is not Standing.
//
// The engine reports its nodes through Next: NodeUp when a requested server can be used, NodeWarned when it learns
// that a server will be taken away (at Notice.Until), and NodeDown when it was. At NodeDown all programs on the node
// have ended, and the engine does not report their ends. Before it calls Next again, the scheduler calls Revoke or
// Reshape for each job with a part on the node.
type Provider interface {
	Source
	// Revoke ends the attempt of a job that has lost a vital part. It ends the other parts of the job, and does not
	// report their ends. The next Start continues from the last checkpoint.
	Revoke(job int) (scheduler.Attempt, error)
	// Move ends the attempt of a job that is to continue on other servers. It is like Revoke, but the job first
	// writes a checkpoint if it can.
	Move(job int) (scheduler.Attempt, error)
	// Attempt returns the progress in the present attempt of a running job.
	Attempt(job int) scheduler.Attempt
}

// Source rents servers.
type Source interface {
	// Acquire requests a server for a node that has none. The notice NodeUp follows. It returns nil if no server
	// will be available for the node any more.
	Acquire(node int) (*scheduler.Server, error)
	// Release gives the server of a node back. No job runs on it, or it is not up yet. No notice of the node
	// follows.
	Release(node int) error
	// From returns the first instant, not before at, at which a server is available for a node without one, or Never.
	From(node int, at time.Duration) time.Duration
}

// Renter decides from where the servers of each job are rented. A job that waits for servers then does not make the
// jobs behind it wait. Servers are requested only if they are available at once.
type Renter interface {
	// Served is called for each waiting job. served says whether the nodes that it needs are up or requested.
	Served(job int32, served bool)
	// Lost is called when a job loses its attempt with a node.
	Lost(job, node int32)
}

// Servers is the extension of runs whose nodes come and go.
type Servers struct {
	scheduler.Kernel
	// Engine is the engine of the run.
	Engine  Provider
	nodes   serverNodes
	cluster cluster.Cluster
	renter  Renter // nil: cluster.Node.Supply says when to rent
}

// New returns the extension of a run. It closes all nodes that are not up yet, and requests servers for Fixed nodes.
func New(r *scheduler.Run, m *cluster.Machine, k scheduler.Kernel) (*Servers, error) {
	engine, ok := r.Engine.(Provider)
	if !ok {
		return nil, errors.New("cluster: some nodes come and go, but the engine cannot request servers for them")
	}
	s := &Servers{Kernel: k, Engine: engine, cluster: r.Cluster}
	var err error
	s.nodes, err = newServerNodes(r.Cluster, m, engine, k.Emit)
	return s, err
}

// RentBy makes a Renter decide from where servers are rented.
func (s *Servers) RentBy(r Renter) {
	s.renter = r
	s.nodes.Ready = func(v int32) bool { return s.nodes.ServerFrom(v, s.Now()) <= s.Now() }
}

// From returns the earliest instant from now on at which a node can run a job with the need, or Never.
func (s *Servers) From(v int32, need cluster.Room) time.Duration {
	return s.nodes.From(v, need, s.Now())
}

// Arrived, Started, Requeued, Ended and Limit implement scheduler.JobExtension.
func (s *Servers) Arrived(int32)                                 {}
func (s *Servers) Started(int32)                                 {}
func (s *Servers) Requeued(int32, time.Duration)                 {}
func (s *Servers) Ended(int32)                                   {}
func (s *Servers) Limit(_ int32, need cluster.Room) cluster.Room { return need }

// Placed implements scheduler.JobExtension.
func (s *Servers) Placed(j scheduler.JobView) { s.nodes.Occupy(j.Number(), j.Held().Cores) }

// Leaves implements scheduler.JobExtension.
func (s *Servers) Leaves(j scheduler.JobView) { s.nodes.Vacate(j.Number(), j.Held().Cores, s.Now()) }

// NextInstant implements scheduler.Extension.
func (s *Servers) NextInstant() time.Duration { return s.nodes.NextIdle() }

// Reached implements scheduler.Extension.
func (s *Servers) Reached(time.Duration) { s.nodes.Rest() }

// BeforeDispatch implements scheduler.Extension.
func (s *Servers) BeforeDispatch() error { return nil }

// Pending implements scheduler.Extension.
func (s *Servers) Pending() bool { return s.nodes.Pending() }

// Finish implements scheduler.Extension.
func (s *Servers) Finish() error { return s.nodes.DismissAll() }

// Notice handles a notice of a node, or of a job whose attempt has ended because of a node.
func (s *Servers) Notice(n *scheduler.Notice) (taken bool, err error) {
	switch n.Kind {
	case scheduler.JobEnded:
		return true, s.depart(n)
	case scheduler.NodeUp, scheduler.NodeWarned, scheduler.NodeDown:
	default:
		return false, nil
	}
	lost, err := s.nodes.Notice(n, s.Now())
	if err != nil || !lost {
		return true, err
	}
	return true, s.lose(int32(n.Node))
}

// lose removes a lost node, and handles the jobs on it.
func (s *Servers) lose(v int32) error {
	why := fmt.Sprintf("node %q was lost", s.cluster.Nodes[v].Name)
	for _, j := range s.nodes.Lose(v) {
		spared, err := s.ContinueWithout(j, v, why)
		if err == nil && !spared {
			err = s.revoke(j, v, s.Engine.Revoke, why)
		}
		if err != nil {
			return err
		}
	}
	if s.Stopping() {
		return nil
	}
	return s.nodes.Replace(v)
}

// depart handles the notice that a job has ended its attempt early because its node will be taken away.
func (s *Servers) depart(n *scheduler.Notice) error {
	if n.Node < 0 || n.Node >= len(s.cluster.Nodes) || n.Attempt == nil {
		return fmt.Errorf("engine reported that job %q ended for the loss of node %d, which cannot come and go", s.Job(int32(n.Job)).Job().Name, n.Node)
	}
	ended := func(int) (scheduler.Attempt, error) { return *n.Attempt, nil }
	return s.revoke(int32(n.Job), int32(n.Node), ended,
		fmt.Sprintf("node %q is to be taken away", s.cluster.Nodes[n.Node].Name))
}

// revoke ends the attempt of a job that has lost a node. The job waits again, with the work in its last checkpoint.
// This does not count as a failure or a retry.
func (s *Servers) revoke(j, v int32, end func(job int) (scheduler.Attempt, error), reason string) error {
	if s.renter != nil {
		s.renter.Lost(j, v)
	}
	return s.EndAttempt(j, end, scheduler.Event{Kind: scheduler.Revoke, Node: int(v), Reason: reason})
}

// AfterDispatch requests the nodes that jobs at the head of the queue need. After a job whose nodes are up or
// requested, it considers the next one, so that servers for several jobs start at the same time.
func (s *Servers) AfterDispatch() error {
	if !s.nodes.Orders() {
		return nil
	}
	rooms, waiting := s.nodes.Rooms(), s.Waiting()
	for j := waiting.Peek(queue.Front, queue.Anyone); j != queue.Nobody; {
		served, err := s.order(s.Job(j), rooms)
		if err != nil {
			return err
		}
		if s.renter != nil {
			s.renter.Served(j, served)
		} else if !served {
			break
		}
		j = waiting.Peek(waiting.KeyOf(j), queue.Anyone)
	}
	for need := range s.MissingParts() { // parts get what waiting jobs leave over
		if _, err := s.nodes.Serve(need, 1, nil, rooms); err != nil {
			return err
		}
	}
	return s.nodes.GiveBack()
}

// order requests the nodes that a waiting job needs, and subtracts its need from rooms. It reports whether the nodes
// are up or requested.
func (s *Servers) order(j scheduler.JobView, rooms []cluster.Room) (bool, error) {
	now := j.Alternative()
	defer s.Choose(j.Number(), now)
	for _, k := range append([]int32{now}, j.Choices()...) {
		s.Choose(j.Number(), k)
		need, count := j.Needs(j.Least())
		if served, err := s.nodes.Serve(need, count, j.Home(), rooms); served || err != nil {
			return served, err
		}
	}
	return false, nil
}

// Stalled fails the first waiting job for which no server will be available any more. The jobs behind it can then
// start.
func (s *Servers) Stalled() (changed bool, err error) {
	waiting := s.Waiting()
	j := waiting.Peek(queue.Front, queue.Anyone)
	for j != queue.Nobody && s.Job(j).State() != scheduler.Queued {
		j = waiting.Peek(waiting.KeyOf(j), queue.Anyone)
	}
	if j == queue.Nobody {
		return false, nil
	}
	if err := s.Fail(j, "no server is available for it any more"); err != nil {
		return true, err
	}
	return true, s.AfterDispatch()
}
