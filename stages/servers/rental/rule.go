package rental

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/ledger"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// rule checks the trace of a policy that rents servers for its jobs. It implements validate.Rule.
type rule struct {
	markets, regions []string
	cluster          scheduler.Cluster
	jobs             scheduler.JobSet
	parts            map[int]int // by job with roles: the greatest number of its parts
	states           *ledger.Ledger
	coming           []bool // by node: its server is on its way
	asked            bool   // a server was rented at the last time
	last             time.Duration
}

// Rule checks three things. The policy rents only in these markets and regions (no regions: in all). A job is on rented
// servers of only one market and region at a time. No server is rented that no waiting job can use.
func Rule(c scheduler.Cluster, jobs scheduler.JobSet, markets, regions []string) validate.Rule {
	r := &rule{markets: markets, regions: regions, cluster: c, jobs: jobs, parts: map[int]int{},
		states: ledger.New(jobs.Len()), coming: make([]bool, len(c.Nodes))}
	for j := range jobs.Len() {
		r.count(j, jobs.At(j).Roles())
	}
	return r
}

// count records the number of a job's parts.
func (r *rule) count(job int, roles []scheduler.Role) {
	delete(r.parts, job)
	for _, role := range roles {
		r.parts[job] += role.Most()
	}
}

// Event implements validate.Rule.
func (r *rule) Event(e *scheduler.Event, to *validate.Validator) {
	if e.At > r.last {
		r.over(to)
	}
	r.last = max(r.last, e.At)
	switch {
	case e.Kind.OfNode():
		if e.Node >= 0 && e.Node < len(r.coming) {
			r.node(e, to)
		}
		return
	case !r.states.Takes(e):
		return
	case e.Kind == scheduler.Reconfigure:
		r.count(e.Job, e.Roles)
	}
	if step := r.states.Event(e); step.Began {
		r.onOneMarket(e, to)
	}
}

// node handles an event of a node.
func (r *rule) node(e *scheduler.Event, to *validate.Validator) {
	r.coming[e.Node] = e.Kind == scheduler.NodeRequest
	n := &r.cluster.Nodes[e.Node]
	switch {
	case e.Kind != scheduler.NodeRequest || n.Supply != cluster.OnRequest:
	case !r.may(n):
		to.Report(e.At, -1, "a server is rented for node %d, of the market %q in %q, where the policy rents none", e.Node,
			n.Market, n.Region)
	default:
		r.asked = true
	}
}

// over checks, after the last event of a time, that no more servers are on their way than waiting jobs need.
func (r *rule) over(to *validate.Validator) {
	if !r.asked {
		return
	}
	r.asked = false
	coming, wanted := 0, 0
	for i := range r.coming {
		if r.coming[i] && r.may(&r.cluster.Nodes[i]) {
			coming++
		}
	}
	for j := range r.jobs.Len() {
		if r.states.Job(j).State() == scheduler.Queued {
			wanted += max(1, r.jobs.At(j).Nodes)
		}
		wanted += r.parts[j]
	}
	if coming > wanted {
		to.Report(r.last, -1, "%d servers are on their way for waiting jobs that need %d", coming, wanted)
	}
}

// may reports whether the policy may rent a server for a node.
func (r *rule) may(n *scheduler.Node) bool {
	return slices.Contains(r.markets, n.Market) && (len(r.regions) == 0 || slices.Contains(r.regions, n.Region))
}

// onOneMarket checks that a job's rented servers are of one market and region.
func (r *rule) onOneMarket(e *scheduler.Event, to *validate.Validator) {
	var first *scheduler.Node
	core := 0
	for i := range r.cluster.Nodes {
		n := &r.cluster.Nodes[i]
		lo, hi := core, core+n.Threads
		core = hi
		there := slices.ContainsFunc(e.Cores, func(p cluster.Span) bool { return int(p.Lo) < hi && int(p.Hi) > lo })
		switch {
		case !there || n.Supply != cluster.OnRequest:
		case first == nil:
			first = n
		case n.Market != first.Market || n.Region != first.Region:
			to.Report(e.At, e.Job, "job %q is on servers of %q in %q and of %q in %q at once", r.jobs.At(e.Job).Name,
				first.Market, first.Region, n.Market, n.Region)
		}
	}
}
