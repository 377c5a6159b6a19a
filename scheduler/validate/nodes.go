package validate

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// server is the state of the server of a node, from the events so far.
type server struct {
	stands, asked, up, warned bool
	elsewhere                 bool          // others decide when it is taken away
	until                     time.Duration // from its last warning
	tenants                   []int32       // jobs that hold resources on the node, running or paused
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
			v.report(e.At, -1, "the server of node %d is created before it is requested", e.Node)
		}
	case scheduler.NodeStart:
		ok = s.asked && !s.up
		s.up = true
	case scheduler.NodeWarning:
		ok = s.up && !s.warned
		s.warned, s.until = true, e.Until
	case scheduler.NodeEnd:
		ok = s.asked && (s.up || !e.Revoked)
		if e.Revoked && s.warned && e.At < s.until && !s.elsewhere {
			v.report(e.At, -1, "node %d is taken away before %s, the instant in its warning", e.Node, s.until)
		}
		if !e.Revoked && len(s.tenants) > 0 {
			v.report(e.At, -1, "node %d is given back while job %q is on it", e.Node, v.name(int(s.tenants[0])))
		}
		v.orphans = append(v.orphans, s.tenants...)
		*s = server{}
	}
	if !ok {
		v.report(e.At, -1, "%q happens to node %d, whose state does not allow it", e.Kind, e.Node)
	}
}

// handled checks that the next events after the loss of a node end the attempts of the jobs on it, or remove their
// parts.
func (v *Validator) handled(e *scheduler.Event) {
	i := slices.Index(v.orphans, int32(e.Job))
	if i >= 0 && (e.Kind == scheduler.Revoke || e.Kind == scheduler.Stop ||
		e.Kind == scheduler.ResizeJob && len(v.job(e.Job).Roles()) > 0) {
		v.orphans = slices.Delete(v.orphans, i, i+1)
		return
	}
	v.report(e.At, int(v.orphans[0]), "job %q continues, but its node was taken away", v.name(int(v.orphans[0])))
	v.orphans = v.orphans[:0]
}

// usable checks that a node on which a job gets cores has a server that will not be taken away.
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

// leaves records that a job has left its nodes.
func (v *Validator) leaves(job int, t *traced) {
	for _, node := range t.nodes {
		s := &v.servers[node]
		if i := slices.Index(s.tenants, int32(job)); i >= 0 {
			s.tenants = slices.Delete(s.tenants, i, i+1)
		}
	}
}

// rounding is the greatest error of work that was converted from one speed to another.
const rounding = time.Microsecond

// attempt checks the work in an attempt that has ended.
func (v *Validator) attempt(e *scheduler.Event, t *traced) {
	a := e.Attempt
	if a == nil {
		return
	}
	if a.From > t.kept+rounding {
		v.report(e.At, e.Job, "job %q started an attempt with %s of finished work, but its last checkpoint has %s",
			v.name(e.Job), a.From, t.kept)
	}
	if a.Done+rounding < a.From || a.Kept > a.Done+rounding || a.Kept+rounding < min(a.From, t.kept) ||
		min(a.Checkpoints, a.Restore) < 0 {
		v.report(e.At, e.Job, "job %q: an attempt started with %s of finished work, ended with %s and keeps %s",
			v.name(e.Job), a.From, a.Done, a.Kept)
	}
	t.kept = a.Kept
}

// roles checks the resources of a job with roles after an event. It must have all parts of its roles, or after a
// loss the remaining ones. Each part is on one node, with the threads and GPUs of its role.
func (v *Validator) roles(e *scheduler.Event, t *traced) {
	if e.Layout == nil {
		v.report(e.At, e.Job, "job %q has roles, but no parts", v.name(e.Job))
		return
	}
	v.hold(&v.cores, e, e.Cores)
	v.hold(&v.gpus, e, e.GPUs)
	before := slices.Clone(t.nodes)
	t.nodes = t.nodes[:0]
	onCores, onGPUs := map[int]int{}, map[int]int{}
	type place struct {
		role string
		task int
	}
	seen := map[place]bool{}
	for i, p := range e.Layout.Parts {
		roles := v.job(e.Job).Roles()
		r := slices.IndexFunc(roles, func(r scheduler.Role) bool { return r.Name == p.Role })
		if r < 0 || p.Task < 0 || p.Task >= roles[r].Most() || seen[place{p.Role, p.Task}] {
			v.report(e.At, e.Job, "job %q has no part %s-%d, or has it twice", v.name(e.Job), p.Role, p.Task)
			continue
		}
		seen[place{p.Role, p.Task}] = true
		if c, g := p.Cores.Count(), p.GPUs.Count(); c != roles[r].Threads || g != roles[r].GPUs {
			v.report(e.At, e.Job, "part %s-%d of job %q has %d cores and %d GPUs", p.Role, p.Task, v.name(e.Job), c, g)
		}
		v.within(e, &v.cores, p.Cores, i, p.Node, onCores)
		v.within(e, &v.gpus, p.GPUs, i, p.Node, onGPUs)
		if !slices.Contains(t.nodes, p.Node) {
			t.nodes = append(t.nodes, p.Node)
			v.usable(e, p.Node)
		}
		if has := v.cluster.Nodes[p.Node].GPU; roles[r].GPU != "" && has != roles[r].GPU {
			v.report(e.At, e.Job, "part %s-%d of job %q is on node %d, whose GPUs are of the type %q instead of %q",
				p.Role, p.Task, v.name(e.Job), p.Node, has, roles[r].GPU)
		}
	}
	for _, node := range before {
		if s := &v.servers[node]; !slices.Contains(t.nodes, node) {
			s.tenants = slices.DeleteFunc(s.tenants, func(job int32) bool { return int(job) == e.Job })
		}
	}
	slices.Sort(t.nodes)
	v.together(e, "cores", e.Cores, onCores)
	v.together(e, "GPUs", e.GPUs, onGPUs)
	for _, r := range v.job(e.Job).Roles() {
		left := 0
		for task := range r.Most() {
			if seen[place{r.Name, task}] {
				left++
			}
		}
		least := r.Count
		if r.Elastic && (e.Kind != scheduler.Start || t.asked) {
			least = r.Min
		}
		if left < least {
			v.report(e.At, e.Job, "job %q has %d parts of role %q, less than %d", v.name(e.Job), left, r.Name, least)
		}
	}
}
