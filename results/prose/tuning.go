package prose

import (
	"fmt"
	"math"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tuning"
	"github.com/tfexp/tfexp/scheduler/control/tuner"
)

// Tunings are the searches for settings as a table, and what they came to in
// sentences; both are empty for an experiment without any.
func Tunings(e *record.Experiment) (Table, []string) {
	rows, err := e.TuningRows() // which has ranks, that take long to find
	if err != nil || len(rows) == 0 {
		_, rows = tuning.Rows(e)
	}
	if len(rows) == 0 {
		return Table{}, nil
	}
	t := Table{Left: 2, Header: []string{
		"tuning", "method", "runs", "within 10% of the best", "trials to it (median, 95%)", "found", "best", "behind the best",
		"spent, s", "spent, cost", "cost to within 10%", "rank of the predicted best",
	}}
	var said []string
	for _, r := range rows {
		behind := "–"
		if !math.IsNaN(r.RegretPct) {
			behind = fmt.Sprintf("%.3g%%", r.RegretPct)
		}
		t.Rows = append(t.Rows, []string{
			tuningLabel(r), r.Method, fmt.Sprint(r.Runs), fmt.Sprintf("%d of %d", r.Reached, r.Runs), trialsTo(r),
			significant(r.Found), significant(r.Best), behind, significant(r.SpentTime), significant(r.SpentCost),
			significant(r.CostToBest), significant(r.PredictedRank),
		})
		said = append(said, tuningSentence(e, r))
	}
	return t, said
}

// tuningLabel names a tuning with its axes and hardware.
func tuningLabel(r record.TuningRow) string {
	label := r.Tuning + " on " + r.Hardware
	if r.Axes != "" {
		label += " " + r.Axes
	}
	return label
}

// trialsTo is "11 (8 to 15)"; an end that was not reached is "more".
func trialsTo(r record.TuningRow) string {
	if math.IsNaN(r.Median) {
		return "more"
	}
	high := "more"
	if !math.IsNaN(r.High) && !math.IsInf(r.High, 0) {
		high = fmt.Sprintf("%g", r.High)
	}
	if r.Runs < 6 { // no interval of 95%
		return fmt.Sprintf("%g", r.Median)
	}
	return fmt.Sprintf("%g (%g to %s)", r.Median, r.Low, high)
}

func significant(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

// tuningSentence says what a method came to.
func tuningSentence(e *record.Experiment, r record.TuningRow) string {
	title := r.Method
	if m, ok := tuner.Find(r.Method); ok && m.Title != "" {
		title = m.Title
	}
	who := fmt.Sprintf("Tuning %s by %s", tuningLabel(r), title)
	crashed := ""
	if r.Crashed > 0 {
		crashed = fmt.Sprintf(" %d of its %d trials crashed.", r.Crashed, r.Trials)
	}
	if math.IsNaN(r.Best) {
		return fmt.Sprintf("%s found nothing: no trial of %s %s.%s", who, r.Tuning, unsatisfied(e, r), crashed)
	}
	if math.IsNaN(r.Median) {
		return fmt.Sprintf("%s: only %d of %d runs came within 10%% of the best there is (%s).%s", who, r.Reached, r.Runs,
			significant(r.Best), crashed)
	}
	return fmt.Sprintf("%s needs %s trials at the median to come within 10%% of the best (%s).%s", who, trialsTo(r),
		significant(r.Best), crashed)
}

// unsatisfied says which constraints no trial satisfied.
func unsatisfied(e *record.Experiment, r record.TuningRow) string {
	for i := range e.Plan.Tunings {
		t := &e.Plan.Tunings[i]
		if t.Name != r.Tuning || t.Method != r.Method || record.AxesLabel(t.Axes) != r.Axes {
			continue
		}
		var parts []string
		for _, c := range t.AllConstraints() {
			what := c.Outcome
			if t.IsTarget(c) {
				what = "the target " + what
			}
			if c.Min != nil {
				parts = append(parts, fmt.Sprintf("%s of at least %g", what, *c.Min))
			}
			if c.Max != nil {
				parts = append(parts, fmt.Sprintf("%s of at most %g", what, *c.Max))
			}
		}
		if len(parts) > 0 {
			return "reached " + strings.Join(parts, " and ")
		}
	}
	return "has an outcome"
}
