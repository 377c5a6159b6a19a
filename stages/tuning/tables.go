// Package tuning makes the results of searches for settings: the tables of trials and of methods, their text, and
// their pictures.
package tuning

import (
	"errors"
	"math"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/tuning/search"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// TrialRow is a row of trials.csv. Unknown values are NaN, an empty field.
type TrialRow struct {
	Tuning    string `csv:"tuning"`
	Method    string `csv:"method"`
	Hardware  string `csv:"hardware"`
	Axes      string `csv:"axes"`
	Replicate int    `csv:"replicate"`
	Trial     int    `csv:"trial"`
	// State is done, infeasible, not reached, diverged, crashed, imported or partial.
	State string `csv:"state"`
	// Settings are as text "workers=8 type=t2.small".
	Settings string  `csv:"settings"`
	Time     float64 `csv:"time_s"`
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	Cost     float64 `csv:"cost"`
	// Objective is the value of the objective, Best the best feasible one so far.
	Objective float64 `csv:"objective"`
	Best      float64 `csv:"best"`
	// RegretPct is the distance of Best from the best known value, in percent.
	RegretPct float64 `csv:"regret_pct"`
	ModelledTrial
	// SpentTime and SpentCost add up all trials so far.
	SpentTime float64 `csv:"spent_s"`
	SpentCost float64 `csv:"spent_cost"`
	// Epoch is the time of an epoch (or step), at the median of a stretch; Change is the
	// cost of the change before a stretch. Remaining is the predicted remaining time of the
	// job at its beginning, and ActualRemaining the actual one.
	Epoch           float64 `csv:"epoch_s"`
	Change          float64 `csv:"change_s"`
	Remaining       float64 `csv:"remaining_s"`
	ActualRemaining float64 `csv:"actual_remaining_s"`
	Cell            string  `csv:"cell"`
	Reason          string  `csv:"reason"`
}

// ModelledTrial has the expectations of a model, with an interval; NaN without a model.
type ModelledTrial struct {
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Feasible  float64 `csv:"feasible"`
}

// noModel are the expectations of a trial that no model has chosen.
var noModel = ModelledTrial{math.NaN(), math.NaN(), math.NaN(), math.NaN()}

// TuningRow is a row of tunings.csv: the results of a method over its replicates.
type TuningRow struct {
	Tuning   string `csv:"tuning"`
	Method   string `csv:"method"`
	Hardware string `csv:"hardware"`
	Axes     string `csv:"axes"`
	// Runs is the number of its replicates, Trials their total number of trials.
	Runs    int `csv:"runs"`
	Trials  int `csv:"trials"`
	Crashed int `csv:"crashed"`
	// Reached counts the runs that came within 10% of the best, Median the median
	// number of trials until then; Low and High bound the median with a confidence
	// of 95%. A run that did not get there counts as infinite.
	Reached int     `csv:"reached"`
	Median  float64 `csv:"trials_to_10pct"`
	Low     float64 `csv:"trials_low"`
	High    float64 `csv:"trials_high"`
	// Best is the best known value, or the best of any trial; Found the median of
	// the runs' best values, RegretPct its distance from Best.
	Best      float64 `csv:"best"`
	Found     float64 `csv:"found"`
	RegretPct float64 `csv:"regret_pct"`
	// SpentTime and SpentCost are of a whole run, at the mean; CostToBest the cost
	// until within 10% of the best, at the median over the runs that got there.
	SpentTime  float64 `csv:"spent_s"`
	SpentCost  float64 `csv:"spent_cost"`
	CostToBest float64 `csv:"cost_to_10pct"`
	// PredictedRank is the rank of the setting that a model of a run's trials predicts to
	// be the best, among all that were tried, at the median over the runs.
	PredictedRank float64 `csv:"rank_of_predicted_best"`
	// ToFixed is the result of a job that was tuned during training, tuning included,
	// relative to the best constant settings, below 1 where it is better, with an interval of
	// 95%; NaN for other tunings.
	ToFixed     float64 `csv:"to_best_fixed"`
	ToFixedLow  float64 `csv:"to_best_fixed_low"`
	ToFixedHigh float64 `csv:"to_best_fixed_high"`
}

// The tables of tunings.
var (
	Trials  = table.Register[TrialRow]("trials.csv", nil)
	Tunings = table.Register[TuningRow]("tunings.csv", nil)
)

var (
	_ = stages.ComputePlanMember(trial.Asked, func(x stages.PlanMemberInput) (all []trial.Tuning) {
		for _, t := range search.Of(x.Spec) {
			all = append(all, t.Tuning)
		}
		return all
	})
	_ = analysis.AddTables([]string{Trials.File, Tunings.File}, func(e *record.Experiment) error {
		trials, tunings := Rows(e)
		Rank(e, tunings)
		return errors.Join(Trials.Replace(e.Dir, trials), Tunings.Replace(e.Dir, tunings))
	})
)
