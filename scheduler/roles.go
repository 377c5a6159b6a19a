package scheduler

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// partsOf returns what the parts of a job need that has started, to go on.
func partsOf(l *Layout) *cluster.Parts {
	p := &cluster.Parts{}
	for _, part := range l.Parts {
		p.Each = append(p.Each, Room{Cores: int32(part.Cores.Count()), GPUs: int32(part.GPUs.Count())})
		p.Names = append(p.Names, Part{Role: part.Role, Task: part.Task})
	}
	return p
}

// survives reports whether a job goes on without its parts on a node: all of them are of
// elastic roles, enough of which remain, and none is the part that ends the job.
func (l *loop) survives(j, v int32) bool {
	f := &l.lives[j]
	if f.State != Running || f.yields || len(l.Jobs[j].Roles) == 0 || l.stopping {
		return false
	}
	lead := cluster.Lead(f.grant.Layout.Parts)
	for _, role := range l.Jobs[j].Roles {
		lost, left := 0, 0
		for i, p := range f.grant.Layout.Parts {
			switch {
			case p.Role != role.Name:
			case p.Node != int(v):
				left++
			case i == lead || !role.Elastic:
				return false
			default:
				lost++
			}
		}
		if lost > 0 && left < role.Min {
			return false
		}
	}
	return true
}

// shrink lets a job go on without its parts on a node that is lost.
func (l *loop) shrink(j, v int32) error {
	f := &l.lives[j]
	g, lost := Grant{Layout: &Layout{}}, Grant{}
	for _, p := range f.grant.Layout.Parts {
		if p.Node == int(v) {
			lost.Cores, lost.GPUs = lost.Cores.Union(p.Cores), lost.GPUs.Union(p.GPUs)
			continue
		}
		g.Layout.Parts = append(g.Layout.Parts, p)
		g.Cores, g.GPUs = g.Cores.Union(p.Cores), g.GPUs.Union(p.GPUs)
	}
	l.settleTime(j)
	if err := l.nodes.engine.Reshape(int(j), g); err != nil {
		return fmt.Errorf("job %q goes on without node %q: %w", l.Jobs[j].Name, l.Cluster.Nodes[v].Name, err)
	}
	f.grant = g
	l.machine.Give(lost)
	n := &l.nodes.all[v]
	n.tenants = slices.DeleteFunc(n.tenants, func(tenant int32) bool { return tenant == j })
	l.unexpect(j)
	l.expect(j)
	f.Resizes++
	l.guard.news()
	l.emit(Event{Kind: ResizeJob, Job: int(j), Cores: g.Cores, GPUs: g.GPUs, Layout: g.Layout})
	return nil
}
