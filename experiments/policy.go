package experiments

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/scheduler"
)

// policy decodes a policy block.
func (d *decoder) policy(n *node, e *env) (*Policy, bool) {
	a := d.evalArgs(n, e)
	order, backfill := get[string](a, "order"), get[string](a, "backfill")
	est := get[estimates](a, "estimates")
	p := &Policy{
		Policy: scheduler.Policy{
			Order: scheduler.Order(order), Backfill: scheduler.Backfill(backfill),
			Allocation: scheduler.Allocation(get[string](a, "allocation")), Preemption: scheduler.Preemption(get[string](a, "preemption")),
			Victims: scheduler.VictimRule(get[string](a, "victims")), Quantum: get[time.Duration](a, "quantum"),
			FeedbackInterval: get[time.Duration](a, "feedback"),
			Placement:        scheduler.Placement(get[string](a, "placement")), Alpha: get[float64](a, "alpha"),
		},
		Name: n.label, Range: rangeOf(n.header), At: a.ranges(), Estimates: est.name, Sigma: est.sigma,
	}
	if order == "" {
		return p, false
	}
	implied := slices.Contains(language.ImpliedPreemption, order)
	if implied {
		if a.isSet("preemption") && p.Preemption == scheduler.NoPreemption {
			a.fail(a.at("preemption"), "Contradicting arguments", "The order %q implies preemption.", order)
		}
		p.Preemption = scheduler.PausePreemption
	}
	unread := func(name, readers string) {
		if a.isSet(name) {
			a.fail(a.at(name), "Argument that nothing reads", "%s is read only by %s.", name, readers)
		}
	}
	switch wants := slices.Contains(language.QuantumOrders, order); {
	case wants && a.lacks("quantum"):
		a.fail(n.header, "Missing argument", "The order %q needs a quantum, for example quantum = \"1s\".", order)
	case !wants:
		unread("quantum", "the orders "+oneOf(language.QuantumOrders))
	}
	if order != "priority" {
		unread("feedback", `the order "priority"`)
	}
	if p.Preemption == scheduler.NoPreemption {
		unread("victims", "policies with preemption")
	}
	a.placement(p)
	backfill = string(p.Backfill)
	if a.has("backfill") && a.has("placement") && !slices.Contains(language.EstimateOrders, order) && !slices.Contains(language.EstimateBackfills, backfill) {
		unread("estimates", "the orders "+oneOf(language.EstimateOrders)+", the backfills "+oneOf(language.EstimateBackfills)+" and the placement \"earliest_finish\"")
	}
	if est.name == "online" && a.isSet("estimates") && !followsProgress(p) {
		a.fail(a.at("estimates"), "Argument that nothing reads", "Online estimates are about jobs that have started, which this policy does not look at again: only the order \"srtf\", \"sjf\" with preemption, and the backfills %s do.", oneOf(language.EstimateBackfills))
	}
	return p, a.ok
}

// followsProgress tells whether a policy reads the predictions of jobs that
// have started.
func followsProgress(p *Policy) bool {
	return p.Order == scheduler.SRTF || p.Order == scheduler.SJF && p.Preemption == scheduler.PausePreemption ||
		slices.Contains(language.EstimateBackfills, string(p.Backfill))
}
