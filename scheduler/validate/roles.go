package validate

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// roles checks what a job with roles holds from an event on: all parts of its roles, or
// those that a loss has left; each on its node, with the threads and GPUs of its role.
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
		roles := v.jobs[e.Job].Roles()
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
	v.onOneMarket(e, t.nodes)
	v.together(e, "cores", e.Cores, onCores)
	v.together(e, "GPUs", e.GPUs, onGPUs)
	for _, r := range v.jobs[e.Job].Roles() {
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
