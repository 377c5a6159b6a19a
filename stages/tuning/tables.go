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

// TrialRow is a row of trials.csv. NaN means unknown, and is an empty field.
type TrialRow struct {
	Tuning    string `csv:"tuning"`
	Method    string `csv:"method"`
	Hardware  string `csv:"hardware"`
	Axes      string `csv:"axes"`
	Replicate int    `csv:"replicate"`
	Trial     int    `csv:"trial"`
	// State is done, infeasible, not reached, diverged, crashed, imported or partial.
	State string `csv:"state"`
	// Settings is text such as "workers=8 type=t2.small".
	Settings string  `csv:"settings"`
	Time     float64 `csv:"time_s"`
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	Cost     float64 `csv:"cost"`
	// Objective is the trial's value of the objective. Best is the best value of a feasible trial so far.
	Objective float64 `csv:"objective"`
	Best      float64 `csv:"best"`
	// RegretPct is the distance of Best from the best known value, in percent.
	RegretPct float64 `csv:"regret_pct"`
	ModelledTrial
	// SpentTime and SpentCost are the sums over all trials so far.
	SpentTime float64 `csv:"spent_s"`
	SpentCost float64 `csv:"spent_cost"`
	// Epoch is the time of an epoch (or step): the median in this stretch. Change is the time that the change before
	// the stretch took. Remaining is the job's remaining time as predicted when the stretch began, and ActualRemaining
	// the true one. All are in seconds.
	Epoch           float64 `csv:"epoch_s"`
	Change          float64 `csv:"change_s"`
	Remaining       float64 `csv:"remaining_s"`
	ActualRemaining float64 `csv:"actual_remaining_s"`
	Cell            string  `csv:"cell"`
	Reason          string  `csv:"reason"`
}

// ModelledTrial has a model's prediction of a trial's objective, with an interval; NaN without a model.
type ModelledTrial struct {
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Feasible  float64 `csv:"feasible"`
}

// noModel are the predictions of a trial without a model.
var noModel = ModelledTrial{math.NaN(), math.NaN(), math.NaN(), math.NaN()}

// TuningRow is a row of tunings.csv: the results of one method over its replicates.
type TuningRow struct {
	Tuning   string `csv:"tuning"`
	Method   string `csv:"method"`
	Hardware string `csv:"hardware"`
	Axes     string `csv:"axes"`
	// Runs is the number of replicates of the search, and Trials the total number of their trials.
	Runs    int `csv:"runs"`
	Trials  int `csv:"trials"`
	Crashed int `csv:"crashed"`
	// Reached is the number of runs with a trial within 10% of the best. Median is the median number of trials until
	// then, and Low to High its 95% confidence interval. A run without such a trial counts as infinite.
	Reached int     `csv:"reached"`
	Median  float64 `csv:"trials_to_10pct"`
	Low     float64 `csv:"trials_low"`
	High    float64 `csv:"trials_high"`
	// Best is the best known value, or else the best of any trial. Found is the median of the best values of the runs.
	// RegretPct is the distance of Found from Best, in percent.
	Best      float64 `csv:"best"`
	Found     float64 `csv:"found"`
	RegretPct float64 `csv:"regret_pct"`
	// SpentTime and SpentCost are the mean time and cost of a whole run. CostToBest is the cost until a trial is within
	// 10% of the best: the median over the runs with such a trial.
	SpentTime  float64 `csv:"spent_s"`
	SpentCost  float64 `csv:"spent_cost"`
	CostToBest float64 `csv:"cost_to_10pct"`
	// PredictedRank is the true rank of the settings that a model of a run's trials predicts to be the best, among all
	// settings that were tried. It is the median over the runs.
	PredictedRank float64 `csv:"rank_of_predicted_best"`
	// ToFixed is the objective of a job that was tuned while it trained, divided by the objective at the best constant
	// settings. It is below 1 if tuning is better; it includes the time of tuning. The interval has a confidence of
	// 95%. NaN for other tunings.
	ToFixed     float64 `csv:"to_best_fixed"`
	ToFixedLow  float64 `csv:"to_best_fixed_low"`
	ToFixedHigh float64 `csv:"to_best_fixed_high"`
}

// Trials and Tunings are the tables of a search's trials and of its results.
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
