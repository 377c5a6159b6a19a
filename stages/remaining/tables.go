package remaining

import (
	"math"
	"reflect"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// Remaining is a table that exists only if jobs have a target loss.
var Remaining = table.Register[RemainingRow]("remaining.csv", nil)

// RemainingRow is a row of remaining.csv: a model's prediction, after a fraction of the run, of when a job reaches its
// target loss. Units are epochs or steps.
type RemainingRow struct {
	Cell   string  `csv:"cell"`
	Job    string  `csv:"job"`
	Class  string  `csv:"class"`
	Target float64 `csv:"target_loss"`
	// Reached reports whether the job reached the target; Loss is its last loss.
	Reached bool    `csv:"reached"`
	Loss    float64 `csv:"last_loss"`
	Model   string  `csv:"model"`
	// Part is the fraction of the run after which the prediction was made. Done is the number of units until then.
	Part float64 `csv:"part"`
	Done int     `csv:"done"`
	// Predicted and Actual are the units from Done to the target; Low to High is the interval of Predicted. High is NaN
	// if the target may never be reached, and Actual is NaN if it was not.
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Level     float64 `csv:"level"` // level of the interval
	// Never is the predicted probability that the job ends before its target.
	Never  float64 `csv:"never"`
	Actual float64 `csv:"actual"`
	// ErrorPct is 100 × (predicted − actual) / actual.
	ErrorPct float64 `csv:"error_pct"`
	Covered  bool    `csv:"covered"` // whether Actual is in the interval
	// PredictedSeconds and ActualSeconds are Predicted and Actual in seconds of service time.
	PredictedSeconds float64 `csv:"predicted_s,time"`
	ActualSeconds    float64 `csv:"actual_s,time"`
}

// Seconds converts units to predicted service time in seconds. NaN units, which mean without end, become the largest
// float64.
func (r RemainingRow) Seconds(units float64) float64 {
	if math.IsNaN(units) {
		return math.MaxFloat64
	}
	return units * r.PredictedSeconds / r.Predicted
}

// Target is the target loss of a class of jobs. Units is their largest work, in epochs or, with Steps, in optimizer
// steps. Losses are the recorded losses of simulated jobs.
type Target struct {
	Class string  `json:"class"`
	Loss  float64 `json:"loss"`
	Units int     `json:"units"`
	Steps bool    `json:"steps,omitempty"`

	Losses []float64 `json:"losses,omitempty"`
}

// Targets is the member of plan.json with the targets of all jobs, each once.
var Targets = stages.RegisterPlanMember("targets", 10, func(x stages.PlanMemberInput) (all []Target) {
	for _, c := range x.Cells {
		for _, s := range c.Workload.Submits {
			j := s.Job
			t := Target{Class: j.Name, Loss: targetOf(j), Units: j.Length(), Steps: j.Steps > 0}
			if j.Runtime != nil {
				t.Losses = j.Runtime.Losses
			}
			if t.Loss > 0 && !slices.ContainsFunc(all, func(o Target) bool { return reflect.DeepEqual(o, t) }) {
				all = append(all, t)
			}
		}
	}
	return all
})

// Jobs with a target may end before all their work is done.
var _ = analysis.EndEarly(func(p *record.Plan, class string) bool {
	return slices.ContainsFunc(Targets.Of(p), func(t Target) bool { return t.Class == class })
})
