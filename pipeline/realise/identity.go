package realise

import (
	"slices"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/describe"
	"github.com/tfexp/tfexp/pipeline/store"
)

// usesHistory reports whether a model looks at past runs.
func usesHistory(model string) bool { return model == "auto" || model == "history" }

// UsesHistory reports whether a model of the experiment looks at past runs.
func (x *Experiment) UsesHistory() bool {
	return len(x.units) > 0 && slices.ContainsFunc(x.models(), usesHistory)
}

// SetHistory makes past runs known to the estimates.
func (x *Experiment) SetHistory(runs []estimator.Run) {
	x.history = runs
	clear(x.fits)
}

// History returns the past runs that are known.
func (x *Experiment) History() []estimator.Run { return x.history }

// PastHost implements stages.Sampling.
func (*Experiment) PastHost(description string) string { return describe.PastHost(description) }

// PastJob implements stages.Sampling.
func (*Experiment) PastJob(description, block string) (name, kind string, length int) {
	return describe.PastJob(description, block)
}

// identityOf is the identity of a job of the plan.
func (x *Experiment) identityOf(j *experiments.Job) (name, kind string) {
	var k store.Key
	k.Append(x.programs.Describe(j))
	name, kind, _ = describe.PastJob(k.Description(), j.Name)
	return name, kind
}
