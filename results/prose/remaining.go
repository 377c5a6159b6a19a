package prose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// shownPart is the part of the run whose predictions are put into a sentence.
const shownPart = 0.4

// Remaining says how well models predicted the time to the target loss, the best first: "The time to the target loss was
// predicted best by combined: after 40% of the run it was off by 14% on average (12 runs), and 93% of 48 predictions
// after 10% to 60% of the run had the true time in their 90% interval. The others were off by 20% (trend) and 150%
// (selftf)." It is empty where nothing was predicted.
func Remaining(all []analysis.RemainingSummary) string {
	var shown []analysis.RemainingSummary
	covered := map[string]analysis.RemainingSummary{}
	for _, s := range all {
		switch s.Part {
		case 0:
			covered[s.Model] = s
		case shownPart:
			shown = append(shown, s)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	slices.SortStableFunc(shown, func(a, b analysis.RemainingSummary) int { return cmp.Compare(a.MeanAbs, b.MeanAbs) })
	best, c := shown[0], covered[shown[0].Model]
	text := fmt.Sprintf("The time to the target loss was predicted best by %s: after %s of the run it was off by %s%% on "+
		"average (%s), and %s of %s after 10%% to 60%% of the run had the true time in their %s interval.",
		best.Model, percent(best.Part), Number(best.MeanAbs), plural(best.Runs, "run"), percent(c.Covered),
		plural(c.Runs, "prediction"), percent(c.Level))
	var others []string
	for _, s := range shown[1:] {
		others = append(others, fmt.Sprintf("%s%% (%s)", Number(s.MeanAbs), s.Model))
	}
	if len(others) > 0 {
		text += " The others were off by " + listed(others) + "."
	}
	return text
}

// RemainingErrors lists the mean errors after a part of the run: " Mean absolute
// errors, in epochs or steps: combined 14%, selftf 150%."
func RemainingErrors(all []analysis.RemainingSummary, part float64) string {
	var list []string
	for _, s := range all {
		if s.Part == part {
			list = append(list, s.Model+" "+Number(s.MeanAbs)+"%")
		}
	}
	return " Mean absolute errors, in epochs or steps: " + strings.Join(list, ", ") + "."
}

// Unreached says that a job ended without its target loss.
func Unreached(r record.RemainingRow) string {
	return fmt.Sprintf("The job %s of cell %s did not reach its target loss of %s: it ended at its limit with a loss "+
		"of %s.",
		r.Job, r.Cell, Number(r.Target), Number(r.Loss))
}

// RemainingTable has a row for each model and part of the run.
func RemainingTable(all []analysis.RemainingSummary) Table {
	t := Table{Left: 2, Header: []string{"model", "after", "predictions", "mean absolute error", "in their interval"}}
	for _, s := range all {
		after := percent(s.Part) + " of the run"
		if s.Part == 0 {
			after = "all parts"
		}
		t.Rows = append(t.Rows, []string{s.Model, after, fmt.Sprint(s.Runs), Number(s.MeanAbs) + "%", percent(s.Covered)})
	}
	return t
}
