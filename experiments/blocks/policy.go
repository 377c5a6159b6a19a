package blocks

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler"
)

// Policy decodes a policy block.
func (d *Decoder) Policy(n *eval.Node, e *eval.Env) (*experiments.Policy, bool) {
	a := d.EvalArgs(n, e)
	order, backfill := eval.Get[string](a, "order"), eval.Get[string](a, "backfill")
	est := eval.Get[eval.Estimates](a, "estimates")
	p := &experiments.Policy{
		Policy: scheduler.Policy{
			Order: scheduler.Order(order), Backfill: scheduler.Backfill(backfill),
			Allocation: scheduler.Allocation(eval.Get[string](a, "allocation")), Preemption: scheduler.Preemption(eval.Get[string](a, "preemption")),
			Victims: scheduler.VictimRule(eval.Get[string](a, "victims")), Quantum: eval.Get[time.Duration](a, "quantum"),
			FeedbackInterval: eval.Get[time.Duration](a, "feedback"),
			Placement:        scheduler.Placement(eval.Get[string](a, "placement")), Alpha: eval.Get[float64](a, "alpha"),
		},
		Name: n.Label, Range: eval.RangeOf(n.Header), At: a.Ranges(), Estimates: est.Name, Sigma: est.Sigma,
	}
	if order == "" {
		return p, false
	}
	implied := slices.Contains(language.ImpliedPreemption, order)
	if implied {
		if a.IsSet("preemption") && p.Preemption == scheduler.NoPreemption {
			a.Fail(a.At("preemption"), "Contradicting arguments", "The order %q implies preemption.", order)
		}
		p.Preemption = scheduler.PausePreemption
	}
	unread := func(name, readers string) {
		if a.IsSet(name) {
			a.Fail(a.At(name), "Argument that nothing reads", "%s is read only by %s.", name, readers)
		}
	}
	switch wants := slices.Contains(language.QuantumOrders, order); {
	case wants && a.Lacks("quantum"):
		a.Fail(n.Header, "Missing argument", "The order %q needs a quantum, for example quantum = \"1s\".", order)
	case !wants:
		unread("quantum", "the orders "+words.OneOf(language.QuantumOrders))
	}
	if order != "priority" {
		unread("feedback", `the order "priority"`)
	}
	if p.Preemption == scheduler.NoPreemption {
		unread("victims", "policies with preemption")
	}
	checkPlacement(a, p)
	backfill = string(p.Backfill)
	if a.Has("backfill") && a.Has("placement") && !slices.Contains(language.EstimateOrders, order) && !slices.Contains(language.EstimateBackfills, backfill) {
		unread("estimates", "the orders "+words.OneOf(language.EstimateOrders)+", the backfills "+words.OneOf(language.EstimateBackfills)+" and the placement \"earliest_finish\"")
	}
	if est.Name == "online" && a.IsSet("estimates") && !followsProgress(p) {
		a.Fail(a.At("estimates"), "Argument that nothing reads", "Online estimates are about jobs that have started, which this policy does not look at again: only the order \"srtf\", \"sjf\" with preemption, and the backfills %s do.", words.OneOf(language.EstimateBackfills))
	}
	return p, a.OK
}

// followsProgress tells whether a policy reads the predictions of jobs that
// have started.
func followsProgress(p *experiments.Policy) bool {
	return p.Order == scheduler.SRTF || p.Order == scheduler.SJF && p.Preemption == scheduler.PausePreemption ||
		slices.Contains(language.EstimateBackfills, string(p.Backfill))
}
