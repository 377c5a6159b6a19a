package blocks

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Policy decodes a policy block. What its choices need of each other, and which
// arguments they read, is up to the registry of policies.
func (d *Decoder) Policy(n *eval.Node, e *eval.Env) (*experiments.Policy, bool) {
	a := d.EvalArgs(n, e)
	est := eval.Get[eval.Estimates](a, "estimates")
	p := &experiments.Policy{
		Name: n.Label, Range: eval.RangeOf(n.Header), At: a.Ranges(), Estimates: est.Name, Sigma: est.Sigma,
	}
	for _, q := range policy.Questions {
		if a.IsSet(string(q)) {
			p.Set(q, eval.Get[string](a, string(q)))
		}
	}
	if p.Order == "" {
		return p, false
	}
	for _, s := range policy.OwnSettings() {
		if v := eval.Get[any](a, s.Name); v != nil && a.IsSet(s.Name) {
			if p.Settings == nil {
				p.Settings = policy.Settings{}
			}
			p.Settings[s.Name] = v
		}
	}
	p.Policy = p.Complete()
	for _, problem := range p.Problems(a.IsSet) {
		switch {
		case problem.Missing && !a.Lacks(problem.Arg):
		case problem.Missing:
			a.Fail(n.Header, "Missing argument", "%s", problem.Detail)
		case problem.Unread:
			a.Fail(a.At(problem.Arg), "Argument that nothing reads", "%s", problem.Detail)
		case a.Has(problem.Arg):
			a.Fail(a.At(problem.Arg), "Contradicting arguments", "%s", problem.Detail)
		}
	}
	if !a.IsSet("estimates") {
		return p, a.OK
	}
	unread := func(detail string, values ...any) {
		a.Fail(a.At("estimates"), "Argument that nothing reads", detail, values...)
	}
	switch known := a.Has("backfill") && a.Has("placement"); {
	case known && !p.Policy.Estimates():
		unread("estimates is read only by %s.", policy.EstimateReaders())
	case p.Corrected() && !p.FollowsProgress():
		unread("These estimates are corrected while jobs run, but this policy does not use the estimates of running jobs. "+
			"Only the orders %s with preemption, and the backfills %s, do.",
			policy.EstimatingOrders(), policy.EstimatingBackfills())
	}
	return p, a.OK
}
