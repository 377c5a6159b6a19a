package scheduler

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// survives reports whether a job goes on without its parts on a node.
func (l *loop) survives(j, v int32) bool {
	f := &l.lives[j]
	if f.State != Running || f.yields || len(l.Jobs[j].Roles) == 0 || l.stopping {
		return false
	}
	return l.Jobs[j].Survives(f.grant.Layout.Parts, int(v))
}

// shrink lets a job go on without its parts on a node that is lost, until there is room
// for them again.
func (l *loop) shrink(j, v int32) error {
	var left, lost []Part
	for _, p := range l.lives[j].grant.Layout.Parts {
		if p.Node == int(v) {
			lost = append(lost, p)
		} else {
			left = append(left, p)
		}
	}
	l.noteAmiss(j)
	why := fmt.Sprintf("node %q was lost", l.Cluster.Nodes[v].Name)
	return l.reshape(j, cluster.Together(left), cluster.Together(lost), why)
}
