// Package supply keeps the nodes of a run that come and go, as an extension of the kernel: it asks for the servers that
// jobs need, takes jobs from nodes that are lost, and gives idle servers back. Importing it lets clusters have such nodes.
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

// Provider is an engine whose nodes come and go, as rented servers do. A run whose
// cluster has nodes that are not Standing needs one, which is a scheduler.Migrator as well.
//
// The engine gives notice of its nodes through Next: NodeUp when a server that was
// acquired can be used, NodeWarned when it knows that one will be taken away (at
// Notice.Until), and NodeDown when it was. At NodeDown all that ran on the node is
// gone already, and nothing of it gives notice of an end. The scheduler then calls
// Revoke or Reshape, before Next, for each job that had a part there.
type Provider interface {
	Source
	// Revoke ends the attempt of a job that has lost a vital part. The remaining
	// parts are ended before it returns, and no notice of their end follows. Start
	// begins the next attempt, from the last checkpoint.
	Revoke(job int) (scheduler.Attempt, error)
	// Move ends the attempt of a job that is to continue on other servers: the job writes
	// a checkpoint, if it can. Otherwise it is like Revoke.
	Move(job int) (scheduler.Attempt, error)
	// Attempt returns the progress of the attempt of a running job so far.
	Attempt(job int) scheduler.Attempt
}

// Source has servers to rent.
type Source interface {
	// Acquire asks for a server for a node that has none. NodeUp follows. It returns
	// nil when no server will be available for this node any more.
	Acquire(node int) (*scheduler.Server, error)
	// Release gives the server of a node back: nothing runs on it, or it is not up yet.
	// No notice of the node follows.
	Release(node int) error
	// From returns the earliest time from an instant on at which a server is available for
	// a node that has none; Never if there is no such time.
	From(node int, at time.Duration) time.Duration
}

// Renter decides where the servers of each job come from. Jobs then do not hold up others, and servers are asked for
// only where one is available at once.
type Renter interface {
	// Served says whether the nodes that a waiting job needs are up or on their way.
	Served(job int32, served bool)
	// Lost says that a job is losing its attempt with a node.
	Lost(job, node int32)
}

// Servers is the extension of runs whose nodes come and go.
type Servers struct {
	scheduler.Kernel
	// Engine is the engine of the run.
	Engine  Provider
	nodes   serverNodes
	cluster cluster.Cluster
	renter  Renter // nil: the nodes decide
}

// New closes the nodes that are still to come, and asks for those that are always wanted.
func New(r *scheduler.Run, m *cluster.Machine, k scheduler.Kernel) (*Servers, error) {
	engine, ok := r.Engine.(Provider)
	if !ok {
		return nil, errors.New("cluster: there are nodes that come and go, and an engine that cannot acquire them")
	}
	s := &Servers{Kernel: k, Engine: engine, cluster: r.Cluster}
	var err error
	s.nodes, err = newServerNodes(r.Cluster, m, engine, k.Emit)
	return s, err
}

// RentBy has a renter decide where servers come from.
func (s *Servers) RentBy(r Renter) {
	s.renter = r
	s.nodes.Ready = func(v int32) bool { return s.nodes.ServerFrom(v, s.Now()) <= s.Now() }
}

// From returns the earliest time from now on at which a node can take a job; Never if there is no such time.
func (s *Servers) From(v int32, need cluster.Room) time.Duration {
	return s.nodes.From(v, need, s.Now())
}

// Arrived, Started, Requeued, Ended and Limit implement scheduler.JobExtension.
func (s *Servers) Arrived(int32)                 {}
func (s *Servers) Started(int32)                 {}
func (s *Servers) Requeued(int32, time.Duration) {}
func (s *Servers) Ended(int32)                   {}
func (s *Servers) Limit(int32, *cluster.Room)    {}

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

// Notice takes the notice of a node, or of a job that has ended its attempt because of one.
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

// lose takes a node away, with the jobs on it.
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

// depart takes the notice that a job has ended its attempt because a node will be taken away: it need
// not wait for that.
func (s *Servers) depart(n *scheduler.Notice) error {
	if n.Node < 0 || n.Node >= len(s.cluster.Nodes) || n.Attempt == nil {
		return fmt.Errorf("engine: end of job %q for node %d, which cannot be", s.Job(int32(n.Job)).Job().Name, n.Node)
	}
	ended := func(int) (scheduler.Attempt, error) { return *n.Attempt, nil }
	return s.revoke(int32(n.Job), int32(n.Node), ended,
		fmt.Sprintf("node %q is to be taken away", s.cluster.Nodes[n.Node].Name))
}

// revoke ends the attempt of a job that has lost a node. It waits again, with the work
// of its last checkpoint, in the order of the policy; this is no failure and takes no
// retry.
func (s *Servers) revoke(j, v int32, end func(job int) (scheduler.Attempt, error), reason string) error {
	if s.renter != nil {
		s.renter.Lost(j, v)
	}
	return s.EndAttempt(j, end, scheduler.Event{Kind: scheduler.Revoke, Node: int(v), Reason: reason})
}

// AfterDispatch asks for the nodes that the jobs at the head of the queue need. A job whose
// nodes are up or on their way leaves the head to the next one: servers for several
// jobs start at the same time.
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
	for need := range s.MissingParts() { // in the resources that waiting jobs leave
		if _, err := s.nodes.Serve(need, 1, nil, rooms); err != nil {
			return err
		}
	}
	return s.nodes.GiveBack()
}

// order reports whether the nodes that a waiting job needs are up or on their way,
// and takes its part of them out of rooms.
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

// Stalled fails the first job that waits to start when no server will be available for
// it any more, and lets those after it have their turn.
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
