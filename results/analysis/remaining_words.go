package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
)

// shownPart is the part of the run whose predictions are put into a sentence.
const shownPart = 0.4

// RemainingSentence says how well models predicted the time to the target loss, the best first: "The time to the target loss was
// predicted best by combined: after 40% of the run it was off by 14% on average (12 runs), and 93% of 48 predictions
// after 10% to 60% of the run had the true time in their 90% interval. The others were off by 20% (trend) and 150%
// (selftf)." It is empty where nothing was predicted.
func RemainingSentence(all []RemainingSummary) string {
	var shown []RemainingSummary
	covered := map[string]RemainingSummary{}
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
	slices.SortStableFunc(shown, func(a, b RemainingSummary) int { return cmp.Compare(a.MeanAbs, b.MeanAbs) })
	best, c := shown[0], covered[shown[0].Model]
	text := fmt.Sprintf("The time to the target loss was predicted best by %s: after %s of the run it was off by %s%% on "+
		"average (%s), and %s of %s after 10%% to 60%% of the run had the true time in their %s interval.",
		best.Model, tell.Share(best.Part), tell.Number(best.MeanAbs), tell.Plural(best.Runs, "run"), tell.Share(c.Covered),
		tell.Plural(c.Runs, "prediction"), tell.Share(c.Level))
	var others []string
	for _, s := range shown[1:] {
		others = append(others, fmt.Sprintf("%s%% (%s)", tell.Number(s.MeanAbs), s.Model))
	}
	if len(others) > 0 {
		text += " The others were off by " + tell.Listed(others) + "."
	}
	return text
}

// RemainingErrors lists the mean errors after a part of the run: " Mean absolute
// errors, in epochs or steps: combined 14%, selftf 150%."
func RemainingErrors(all []RemainingSummary, part float64) string {
	var list []string
	for _, s := range all {
		if s.Part == part {
			list = append(list, s.Model+" "+tell.Number(s.MeanAbs)+"%")
		}
	}
	return " Mean absolute errors, in epochs or steps: " + strings.Join(list, ", ") + "."
}

// unreachedSentence says that a job ended without its target loss.
func unreachedSentence(r record.RemainingRow) string {
	return fmt.Sprintf("The job %s of cell %s did not reach its target loss of %s: it ended at its limit with a loss "+
		"of %s.",
		r.Job, r.Cell, tell.Number(r.Target), tell.Number(r.Loss))
}

// remainingTable has a row for each model and part of the run.
func remainingTable(all []RemainingSummary) tell.Table {
	t := tell.NewTable(2, "model", "after", "predictions", "mean absolute error", "in their interval")
	for _, s := range all {
		after := tell.Share(s.Part) + " of the run"
		if s.Part == 0 {
			after = "all parts"
		}
		t.Add(s.Model, after, fmt.Sprint(s.Runs), tell.Number(s.MeanAbs)+"%", tell.Share(s.Covered))
	}
	return t
}
