package prose

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// shownPart is the part of the run whose predictions are put into a sentence.
const shownPart = 0.4

// Remaining says how well models predicted the time to the target loss: "The epochs
// to the target loss, as combined predicted them after 40% of the run, were off by
// 14% on average over 12 runs; 93% of all runs and parts fell inside the 90%
// interval."
func Remaining(all []analysis.RemainingSummary) []string {
	var out []string
	covered := map[string]analysis.RemainingSummary{}
	for _, s := range all {
		if s.Part == 0 {
			covered[s.Model] = s
		}
		if s.Part != shownPart {
			continue
		}
		c := covered[s.Model]
		out = append(out, fmt.Sprintf("The time to the target loss, as %s predicted it after %s of the run, was off by %s%% "+
			"on average over %s; "+
			"%s of %s after 10%% to 60%% of the run had the true time in their %s interval.",
			s.Model, percent(s.Part), Number(s.MeanAbs), plural(s.Runs, "run"), percent(c.Covered), plural(c.Runs, "prediction"),
			percent(c.Level)))
	}
	return out
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
