package scheduler

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// survives reports whether a job goes on without some of its parts.
func (l *loop) survives(j int32, gone func(p *Part) bool) bool {
	f := l.life(j)
	if f.state != Running || f.yields || len(l.Jobs[j].Roles()) == 0 || l.stopping {
		return false
	}
	return l.Jobs[j].Spares(f.grant.Layout.Parts, gone)
}

// on is the parts on a node.
func on(v int32) func(p *Part) bool {
	return func(p *Part) bool { return p.Node == int(v) }
}

// shrink lets a job go on without its parts on a node that is lost, until there is room
// for them again.
func (l *loop) shrink(j, v int32) error {
	l.parts.Note(j, l.byFirstStart)
	return l.without(j, on(v), fmt.Sprintf("node %q was lost", l.Cluster.Nodes[v].Name))
}

// without lets a running job go on without some of its parts.
func (l *loop) without(j int32, gone func(p *Part) bool, why string) error {
	left, lost := cluster.Split(l.life(j).grant.Layout.Parts, gone)
	return l.reshape(j, cluster.Together(left), cluster.Together(lost), why)
}

// partEnded takes the notice that a part of a job failed by itself. The job goes on without
// it where it could spare it after the loss of a node, but it does not get it again in this
// attempt: a program that fails would fail again. Otherwise the attempt fails.
func (l *loop) partEnded(n *Notice) error {
	if n.Job < 0 || n.Job >= len(l.Jobs) {
		return fmt.Errorf("engine: end of a part of a job with number %d, which does not exist", n.Job)
	}
	j := int32(n.Job)
	if s := l.life(j).state; s != Running && s != Paused {
		return nil // the end of the job came before
	}
	failed := func(p *Part) bool { return p.Role == n.Role && p.Task == n.Task }
	l.guard.News()
	if _, can := l.Engine.(Reshaper); !can || !l.survives(j, failed) {
		if err := l.Engine.Stop(int(j)); err != nil {
			return fmt.Errorf("stop job %q: %w", l.Jobs[j].Name, err)
		}
		return nil
	}
	l.parts.Failed(j, n.Role, n.Task)
	return l.without(j, failed, n.Reason)
}
