package validate

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// renting is what a policy that rents servers for its jobs may do.
type renting struct {
	markets, regions []string
	asked            bool // a server was rented at the present instant
}

// Renting says that the policy rents the servers of jobs itself, from these markets and in these regions (none: in
// all). A job is then on rented servers of one market and region at a time, and none is rented that no waiting job
// has a use for: never from two markets at once for the same job. Without markets it does nothing.
func (v *Validator) Renting(markets, regions []string) {
	if len(markets) > 0 {
		v.renting = &renting{markets: markets, regions: regions}
	}
}

// rents checks where a server is rented.
func (v *Validator) rents(e *scheduler.Event) {
	n := &v.cluster.Nodes[e.Node]
	if v.renting == nil || n.Supply != scheduler.OnRequest {
		return
	}
	if !v.renting.may(n) {
		v.report(e.At, -1, "a server is rented for node %d, of the market %q in %q, where the policy rents none", e.Node,
			n.Market, n.Region)
		return
	}
	v.renting.asked = true
}

// rented checks, when an instant is over, that the servers on their way are for jobs that wait.
func (v *Validator) rented() {
	if v.renting == nil || !v.renting.asked {
		return
	}
	v.renting.asked = false
	coming, wanted := 0, 0
	for i := range v.servers {
		if s := &v.servers[i]; s.asked && !s.up && v.renting.may(&v.cluster.Nodes[i]) {
			coming++
		}
	}
	for j := range v.jobs {
		if v.life(j).state == scheduler.Queued {
			wanted += max(1, v.jobs[j].Nodes)
		}
		for _, r := range v.jobs[j].Roles() {
			wanted += r.Most()
		}
	}
	if coming > wanted {
		v.report(v.last, -1, "%d servers are on their way for waiting jobs that need %d", coming, wanted)
	}
}

// may reports whether the policy rents servers for a node.
func (r *renting) may(n *scheduler.Node) bool {
	return slices.Contains(r.markets, n.Market) && (len(r.regions) == 0 || slices.Contains(r.regions, n.Region))
}

// onOneMarket checks on which rented servers a job is.
func (v *Validator) onOneMarket(e *scheduler.Event, nodes []int) {
	if v.renting == nil {
		return
	}
	var first *scheduler.Node
	for _, i := range nodes {
		n := &v.cluster.Nodes[i]
		switch {
		case n.Supply != scheduler.OnRequest:
		case first == nil:
			first = n
		case n.Market != first.Market || n.Region != first.Region:
			v.report(e.At, e.Job, "job %q is on servers of %q in %q and of %q in %q at once", v.name(e.Job), first.Market,
				first.Region, n.Market, n.Region)
		}
	}
}
