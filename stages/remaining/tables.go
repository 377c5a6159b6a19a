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

// Remaining exists only where jobs have a target loss.
var Remaining = table.Register[RemainingRow]("remaining.csv", nil)

// RemainingRow is a row of remaining.csv: when a job would reach its target loss, as
// a model predicted after a part of the run. Units are epochs, or steps.
type RemainingRow struct {
	Cell   string  `csv:"cell"`
	Job    string  `csv:"job"`
	Class  string  `csv:"class"`
	Target float64 `csv:"target_loss"`
	// Reached reports whether the job reached it; Loss is its last.
	Reached bool    `csv:"reached"`
	Loss    float64 `csv:"last_loss"`
	Model   string  `csv:"model"`
	// Part is the part of the run after which it was predicted, Done the units
	// until then.
	Part float64 `csv:"part"`
	Done int     `csv:"done"`
	// Predicted, with its interval Low to High, and Actual are the units from there
	// to the target. High is NaN when it may never be reached, Actual when it was
	// not.
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Level     float64 `csv:"level"` // of the interval
	// Never is the predicted chance that the job ends before its target.
	Never  float64 `csv:"never"`
	Actual float64 `csv:"actual"`
	// ErrorPct is (predicted − actual) / actual.
	ErrorPct float64 `csv:"error_pct"`
	Covered  bool    `csv:"covered"` // Actual is in the interval
	// PredictedSeconds and ActualSeconds are the same in service time.
	PredictedSeconds float64 `csv:"predicted_s,time"`
	ActualSeconds    float64 `csv:"actual_s,time"`
}

// Seconds converts units to service time, as it was predicted; NaN units, without
// an end, are the largest number.
func (r RemainingRow) Seconds(units float64) float64 {
	if math.IsNaN(units) {
		return math.MaxFloat64
	}
	return units * r.PredictedSeconds / r.Predicted
}

// Target is the training loss at which the jobs of a class are done. Units is their
// work at most, in epochs or (with Steps) in optimizer steps. Losses are the recorded ones of simulated jobs.
type Target struct {
	Class string  `json:"class"`
	Loss  float64 `json:"loss"`
	Units int     `json:"units"`
	Steps bool    `json:"steps,omitempty"`

	Losses []float64 `json:"losses,omitempty"`
}

// Targets are the targets of the jobs of an experiment, each once.
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

// Jobs are done at their targets.
var _ = analysis.EndEarly(func(p *record.Plan, class string) bool {
	return slices.ContainsFunc(Targets.Of(p), func(t Target) bool { return t.Class == class })
})
