package validate

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// server is what the trace has said of the server of a node so far.
type server struct {
	stands, asked, up, warned bool
	elsewhere                 bool          // others decide when it goes
	until                     time.Duration // of a warning
	tenants                   []int32       // jobs that have started and not ended on it, of nodes that come and go
}

// node checks an event of a node.
func (v *Validator) node(e *scheduler.Event) {
	if e.Node < 0 || e.Node >= len(v.servers) || v.servers[e.Node].stands {
		v.report(e.At, -1, "%q happens to node %d, which does not come and go", e.Kind, e.Node)
		return
	}
	s := &v.servers[e.Node]
	ok := false
	switch e.Kind {
	case scheduler.NodeRequest:
		ok = !s.asked
		s.asked, s.elsewhere = true, e.Server != nil && e.Server.Elsewhere
		if e.Server == nil || e.Server.Created < e.At {
			v.report(e.At, -1, "the server of node %d is created before it is asked for", e.Node)
		}
		v.rents(e)
	case scheduler.NodeStart:
		ok = s.asked && !s.up
		s.up = true
	case scheduler.NodeWarning:
		ok = s.up && !s.warned
		s.warned, s.until = true, e.Until
	case scheduler.NodeEnd:
		ok = s.asked && (s.up || !e.Revoked)
		if e.Revoked && s.warned && e.At < s.until && !s.elsewhere {
			v.report(e.At, -1, "node %d is taken away before %s, which its warning said", e.Node, s.until)
		}
		if !e.Revoked && len(s.tenants) > 0 {
			v.report(e.At, -1, "node %d is given back while job %q is on it", e.Node, v.name(int(s.tenants[0])))
		}
		v.orphans = append(v.orphans, s.tenants...)
		*s = server{}
	}
	if !ok {
		v.report(e.At, -1, "%q happens to node %d, which it cannot", e.Kind, e.Node)
	}
}

// handled checks that the jobs on a node that was taken away lose their attempts, or
// their parts there, before anything else happens.
func (v *Validator) handled(e *scheduler.Event) {
	if len(v.orphans) == 0 {
		return
	}
	i := slices.Index(v.orphans, int32(e.Job))
	if i >= 0 && (e.Kind == scheduler.Revoke || e.Kind == scheduler.Stop ||
		e.Kind == scheduler.ResizeJob && len(v.jobs[e.Job].Roles()) > 0) {
		v.orphans = slices.Delete(v.orphans, i, i+1)
		return
	}
	v.report(e.At, int(v.orphans[0]), "job %q goes on, but a node of it was taken away", v.name(int(v.orphans[0])))
	v.orphans = v.orphans[:0]
}

// usable checks that there is a server for a node on which a job is given cores, and that
// it stays.
func (v *Validator) usable(e *scheduler.Event, node int) {
	s := &v.servers[node]
	if s.stands {
		return
	}
	switch {
	case !s.up:
		v.report(e.At, e.Job, "job %q is on node %d, which has no server", v.name(e.Job), node)
	case s.warned && (e.Kind != scheduler.ResizeJob || !slices.Contains(s.tenants, int32(e.Job))):
		v.report(e.At, e.Job, "job %q starts on node %d, which is to be taken away", v.name(e.Job), node)
	}
	if !slices.Contains(s.tenants, int32(e.Job)) {
		s.tenants = append(s.tenants, int32(e.Job))
	}
}

// leaves notes that a job is not on its nodes any more.
func (v *Validator) leaves(job int, t *traced) {
	for _, node := range t.nodes {
		s := &v.servers[node]
		if i := slices.Index(s.tenants, int32(job)); i >= 0 {
			s.tenants = slices.Delete(s.tenants, i, i+1)
		}
	}
}

// rounding is by how much work that is converted from one speed to another may differ.
const rounding = time.Microsecond

// attempt checks the work of an attempt that has ended.
func (v *Validator) attempt(e *scheduler.Event, t *traced) {
	a := e.Attempt
	if a == nil {
		return
	}
	if a.From > t.kept+rounding {
		v.report(e.At, e.Job, "job %q began an attempt with %s of work, but its last checkpoint held %s",
			v.name(e.Job), a.From, t.kept)
	}
	if a.Done+rounding < a.From || a.Kept > a.Done+rounding || a.Kept+rounding < min(a.From, t.kept) ||
		min(a.Checkpoints, a.Restore) < 0 {
		v.report(e.At, e.Job, "job %q: an attempt went from %s to %s of work and keeps %s",
			v.name(e.Job), a.From, a.Done, a.Kept)
	}
	t.kept = a.Kept
}
