package stages

import (
	"time"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/results/record"
)

// PlanMemberInput is an experiment while its plan is made.
type PlanMemberInput struct {
	*experiment.Spec
	// RunTime is how long a job takes alone on its request, by the run time that the file gives it.
	RunTime func(*experiment.Job) time.Duration
}

var asked []func(PlanMemberInput, *record.Plan)

// RegisterPlanMember adds a member to plan.json: an experiment's request to a feature (see record.RegisterPlanMember).
func RegisterPlanMember[T any](name string, rank int, of func(PlanMemberInput) T) record.PlanMember[T] {
	return ComputePlanMember(record.RegisterPlanMember[T](name, rank), of)
}

// ComputePlanMember sets the value of a member of plan.json.
func ComputePlanMember[T any](a record.PlanMember[T], of func(PlanMemberInput) T) record.PlanMember[T] {
	asked = append(asked, func(x PlanMemberInput, p *record.Plan) { a.Set(p, of(x)) })
	return a
}

// FillPlan puts the experiment's requests to all features into a plan.
func FillPlan(x PlanMemberInput, p *record.Plan) {
	for _, ask := range asked {
		ask(x, p)
	}
}

// PlannedCompare is a comparison in a plan.
func PlannedCompare(c experiment.Compare) record.Compare {
	return record.Compare{Metric: c.Metric, Baseline: c.Baseline, At: c.At, Level: c.Level, By: c.By, Block: c.Block.Seconds(),
		Looks: c.Looks, Planned: c.Planned}
}
