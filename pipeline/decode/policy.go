package decode

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func policyBlock() *schema.Block {
	b := &schema.Block{
		Name: "policy", Label: "name, read as `policy.<name>`", Unique: true,
		Doc: "How jobs are scheduled: which job is next, how many cores it gets, and whether running jobs are paused for it. An argument that the " +
			"others make meaningless is an error, not ignored.",
		Example: `policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}

policy "urgent" {
  order      = "priority"
  preemption = "pause"
  victims    = "longest_run"
  feedback   = "10s"
}`,
		Args: append(policy.Arguments(), estimatesArg()),
	}
	for _, p := range schema.AllBrought(b.Name) {
		b.Blocks = append(b.Blocks, p.Block)
	}
	return language.Extended(language.Policy, b)
}

// estimatesArg returns the argument that chooses which run times the policy uses.
func estimatesArg() schema.Arg {
	var names, docs []string
	for _, s := range estimator.RunTimeSources() {
		if !s.Call {
			names = append(names, s.Name)
		}
		docs = append(docs, s.Doc)
	}
	return schema.Arg{
		Name: "estimates", Type: schema.Estimates, Default: `"fitted"`, Allowed: names,
		Doc: "The source of the run times by which the policy decides:\n- " + strings.Join(docs, "\n- ") + "\n\n" +
			"Only where something reads them: " + strings.ReplaceAll(policy.EstimateReaders(), `"`, "`") + ".",
		Example: `noisy(0.2)`,
	}
}

// Policy decodes a policy block. The registry of policies decides which settings fit together, and which arguments
// they read.
func (d *Decoder) Policy(n *eval.Node, e *eval.Env) (*experiment.Policy, bool) {
	a := d.EvalArgs(n, e)
	est := eval.Get[eval.Estimates](a, "estimates")
	p := &experiment.Policy{
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
	d.DecodeInto(p, language.Policy, language.Block{Args: a, Env: e})
	p.Blocks = d.brought(n, e)
	for _, b := range schema.AllBrought(n.Schema.Name) {
		for _, one := range n.All(b.Block.Name) {
			p.BlocksAt = append(p.BlocksAt, eval.RangeOf(one.Header))
		}
	}
	for _, problem := range p.Problems(a.IsSet) {
		switch {
		case problem.Missing && !a.Lacks(problem.Arg):
		case a.IsWrong(string(problem.Of)):
			a.OK = false // the mistake has been reported
		case problem.Missing:
			a.Fail(n.Header, "Missing argument", "%s", problem.Detail)
		case problem.Unread:
			a.Unread(problem.Detail, problem.Arg)
		default:
			a.Excludes(problem.Detail, problem.Arg)
		}
	}
	if !a.IsSet("estimates") {
		return p, a.OK
	}
	switch known := a.Has("backfill") && a.Has("placement"); {
	case known && !p.Policy.Estimates():
		a.Unread("{} is only for "+policy.EstimateReaders()+".", "estimates")
	case p.Corrected() && !p.FollowsProgress():
		a.Unread(fmt.Sprintf("These estimates are corrected while jobs run, but this policy does not use the estimates of "+
			"running jobs. Only the orders %s with preemption, and the backfills %s, do.",
			policy.EstimatingOrders(), policy.EstimatingBackfills()), "estimates")
	}
	return p, a.OK
}
