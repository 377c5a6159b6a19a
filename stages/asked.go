package stages

import (
	"time"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/results/record"
)

// Asking is an experiment while its plan is made.
type Asking struct {
	*experiment.Spec
	// RunTime is how long a job takes alone on its request, by the run time that the file gives it.
	RunTime func(*experiment.Job) time.Duration
}

var asked []func(Asking, *record.Plan)

// Ask adds a member to plan.json: an experiment's request to a feature (see record.Ask).
func Ask[T any](name string, rank int, of func(Asking) T) record.Asked[T] {
	return AskFor(record.Ask[T](name, rank), of)
}

// AskFor sets the value of a member of plan.json.
func AskFor[T any](a record.Asked[T], of func(Asking) T) record.Asked[T] {
	asked = append(asked, func(x Asking, p *record.Plan) { a.Set(p, of(x)) })
	return a
}

// FillPlan puts the experiment's requests to all features into a plan.
func FillPlan(x Asking, p *record.Plan) {
	for _, ask := range asked {
		ask(x, p)
	}
}
