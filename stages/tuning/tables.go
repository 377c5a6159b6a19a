// Package tuning is what searches for settings leave: the tables of their trials and of what the methods came to, what is
// told of them, and their pictures.
package tuning

import (
	"errors"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
	results "github.com/tfexp/tfexp/results/tuning"
	"github.com/tfexp/tfexp/stages"
)

// TrialRow is a row of trials.csv. What is not known is NaN, an empty field.
type TrialRow struct {
	Tuning    string `csv:"tuning"`
	Method    string `csv:"method"`
	Hardware  string `csv:"hardware"`
	Axes      string `csv:"axes"`
	Replicate int    `csv:"replicate"`
	Trial     int    `csv:"trial"`
	// State is done, infeasible, crashed, imported or partial.
	State string `csv:"state"`
	// Settings are as text "workers=8 type=t2.small".
	Settings string  `csv:"settings"`
	Time     float64 `csv:"time_s"`
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	Cost     float64 `csv:"cost"`
	// Objective is the value of what is sought, Best the best feasible one so far.
	Objective float64 `csv:"objective"`
	Best      float64 `csv:"best"`
	// RegretPct is by how much Best is behind the best there is, in percent.
	RegretPct float64 `csv:"regret_pct"`
	// Predicted, Low, High and Feasible are what a model expected.
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Feasible  float64 `csv:"feasible"`
	// SpentTime and SpentCost add up all trials so far.
	SpentTime float64 `csv:"spent_s"`
	SpentCost float64 `csv:"spent_cost"`
	// Epoch is the time of an epoch (or step), at the median of a stretch; Change is what
	// the change before a stretch cost. Remaining is how long the job was predicted to go on
	// when it began, and ActualRemaining how long it did.
	Epoch           float64 `csv:"epoch_s"`
	Change          float64 `csv:"change_s"`
	Remaining       float64 `csv:"remaining_s"`
	ActualRemaining float64 `csv:"actual_remaining_s"`
	Cell            string  `csv:"cell"`
	Reason          string  `csv:"reason"`
}

// TuningRow is a row of tunings.csv: what a method came to over its replicates.
type TuningRow struct {
	Tuning   string `csv:"tuning"`
	Method   string `csv:"method"`
	Hardware string `csv:"hardware"`
	Axes     string `csv:"axes"`
	// Runs are its replicates, Trials those of all of them.
	Runs    int `csv:"runs"`
	Trials  int `csv:"trials"`
	Crashed int `csv:"crashed"`
	// Reached counts the runs that came within 10% of the best, Median the trials
	// that it took at the median, Low and High bound the median with a confidence of
	// 95%. A run that did not come there counts as one that takes for ever.
	Reached int     `csv:"reached"`
	Median  float64 `csv:"trials_to_10pct"`
	Low     float64 `csv:"trials_low"`
	High    float64 `csv:"trials_high"`
	// Best is the best value there is, or that any trial found; Found what the runs
	// found at the median, RegretPct how far that is behind.
	Best      float64 `csv:"best"`
	Found     float64 `csv:"found"`
	RegretPct float64 `csv:"regret_pct"`
	// SpentTime and SpentCost are of a whole run, at the mean; CostToBest what had been
	// spent within 10% of the best, at the median over the runs that came there.
	SpentTime  float64 `csv:"spent_s"`
	SpentCost  float64 `csv:"spent_cost"`
	CostToBest float64 `csv:"cost_to_10pct"`
	// PredictedRank is the rank of the setting that a model of a run's trials predicts to
	// be the best, among all that were tried, at the median over the runs.
	PredictedRank float64 `csv:"rank_of_predicted_best"`
	// ToFixed is what a job that was tuned while it trained came to, tuning included, against
	// the best settings that did not change, below 1 where it is better, with an interval
	// of 95%; NaN for other tunings.
	ToFixed     float64 `csv:"to_best_fixed"`
	ToFixedLow  float64 `csv:"to_best_fixed_low"`
	ToFixedHigh float64 `csv:"to_best_fixed_high"`
}

// The tables of tunings.
var (
	Trials  = tell.Register[TrialRow]("trials.csv", nil)
	Tunings = tell.Register[TuningRow]("tunings.csv", nil)
)

var (
	_ = stages.AskFor(results.Asked, func(x stages.Asking) (all []results.Tuning) {
		for _, t := range x.Tunings {
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
