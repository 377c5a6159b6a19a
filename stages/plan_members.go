package stages

import (
	"time"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/results/record"
)

// PlanMemberInput is the experiment from which features compute their members of plan.json.
type PlanMemberInput struct {
	*experiment.Spec
	// RunTime returns how long a job runs alone on its request, according to its runtime block.
	RunTime func(*experiment.Job) time.Duration
}

var asked []func(PlanMemberInput, *record.Plan)

// RegisterPlanMember registers a member of plan.json with data that a feature needs later (see
// record.RegisterPlanMember).
func RegisterPlanMember[T any](name string, rank int, of func(PlanMemberInput) T) record.PlanMember[T] {
	return ComputePlanMember(record.RegisterPlanMember[T](name, rank), of)
}

// ComputePlanMember sets the function that computes a member of plan.json.
func ComputePlanMember[T any](a record.PlanMember[T], of func(PlanMemberInput) T) record.PlanMember[T] {
	asked = append(asked, func(x PlanMemberInput, p *record.Plan) { a.Set(p, of(x)) })
	return a
}

// FillPlan sets the members of all features in a plan.
func FillPlan(x PlanMemberInput, p *record.Plan) {
	for _, ask := range asked {
		ask(x, p)
	}
}

// PlannedCompare converts a comparison to its form in the plan.
func PlannedCompare(c experiment.Compare) record.Compare {
	return record.Compare{Metric: c.Metric, Baseline: c.Baseline, At: c.At, Level: c.Level, By: c.By, Block: c.Block.Seconds(),
		Looks: c.Looks, Planned: c.Planned}
}
