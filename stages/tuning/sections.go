package tuning

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// rowsOf returns the rows of tunings.csv. They are read from the file, because computing their ranks takes long.
func rowsOf(e *record.Experiment) []TuningRow {
	rows, err := Tunings.Read(e.Dir)
	if err != nil || len(rows) == 0 {
		_, rows = Rows(e)
	}
	return rows
}

// mostShownTrials is the greatest number of trials in a table of the report.
const mostShownTrials = 200

// searchesOf returns a table of the searches, and sentences about their results; both are empty if there are no searches.
func searchesOf(e *record.Experiment, rows []TuningRow) (t table.Table, said []string) {
	if len(rows) == 0 {
		return table.Table{}, nil
	}
	t = table.New(2, "tuning", "method", "runs", "within 10% of the best", "trials until then "+
		"(median, 95%)", "found", "best", "behind the best",
		"time spent", "spent, cost", "cost to within 10%", "rank of the predicted best")
	for _, r := range rows {
		spent := "–"
		if stats.Finite(r.SpentTime) {
			spent = table.WithUnit(r.SpentTime, "s")
		}
		t.Add(
			tuningLabel(r, rows), r.Method, fmt.Sprint(r.Runs), fmt.Sprintf("%d of %d", r.Reached, r.Runs), trialsTo(r),
			significant(r.Found), significant(r.Best), behindBest(r), spent, significant(r.SpentCost),
			significant(r.CostToBest), significant(r.PredictedRank))
	}
	return t, append(needsFewest(rows), tuningSentences(e, rows)...)
}

// behindBest returns how far the best settings that a search found are behind the best known ones: "39.1%".
func behindBest(r TuningRow) string {
	if math.IsNaN(r.RegretPct) {
		return "–"
	}
	return table.Number(r.RegretPct) + "%"
}

// tuningSentences returns a sentence about the result of each tuning, in the order of the rows.
func tuningSentences(e *record.Experiment, rows []TuningRow) (said []string) {
	next := 0
	for i := range trial.Asked.Of(&e.Plan) {
		t := &trial.Asked.Of(&e.Plan)[i]
		if next == len(rows) || rows[next].Tuning != t.Name || rows[next].Method != t.Method ||
			rows[next].Hardware != t.Hardware || rows[next].Axes != record.AxesLabel(t.Axes) {
			continue // the tuning has no runs, so it has no row
		}
		r := rows[next]
		next++
		if a, ok := Fixed(e, i); ok {
			said = append(said, againstFixed(tuningLabel(r, rows), r, t, &a))
			continue
		}
		if t.Mode != "" && !math.IsNaN(r.Found) {
			said = append(said, fmt.Sprintf("Tuning %s by %s: its %s was %s at the median of %s.", tuningLabel(r, rows),
				titleOf(r.Method), strings.ReplaceAll(t.Objective, "_", " "), t.Text(r.Found), schema.Plural(r.Runs, "run")))
			continue
		}
		said = append(said, tuningSentence(e, t, r, tuningLabel(r, rows)))
		if names := Without(e, i); len(names) > 0 {
			said = append(said, fmt.Sprintf("Tuning %s: %s made no difference in any trial, neither to the losses nor, beyond "+
				"5%%, to the times: here it does not matter, or the program does not read it.", tuningLabel(r, rows),
				strings.Join(names, ", ")))
		}
	}
	return said
}

// againstFixed returns sentences about a job that was tuned while it trained.
func againstFixed(label string, r TuningRow, t *trial.Tuning, a *AgainstFixed) string {
	how := "changed in place where possible"
	if t.Mode == trial.ByRestart {
		how = "changed by restarts"
	}
	interval := ""
	if !math.IsNaN(a.Low) {
		interval = fmt.Sprintf(" (%.3g to %.3g with a confidence of 95%%, %d replicates)", a.Low, a.High, a.Runs)
	} else if a.Runs == 1 {
		interval = " (one run: no interval)"
	}
	text := fmt.Sprintf("Tuning %s by %s, %s: its %s was %s, tuning included, %.3g times that of the best of %d fixed "+
		"settings%s: %s (%s).",
		label, titleOf(r.Method), how, strings.ReplaceAll(t.Objective, "_", " "), t.Text(a.Value), a.Ratio, a.Measured,
		interval, a.Settings, t.Text(a.Best))
	if !math.IsNaN(a.Initial) {
		text += fmt.Sprintf(" Against the settings that it began with it was %.3g times as much.", a.Initial)
	}
	return text
}

func titleOf(method string) string {
	if m, ok := tuner.Find(method); ok && m.Title != "" {
		return m.Title
	}
	return method
}

// tuningLabel names a tuning with its axes, and with its hardware where the rows have several.
func tuningLabel(r TuningRow, rows []TuningRow) string {
	label := r.Tuning
	if slices.ContainsFunc(rows, func(o TuningRow) bool { return o.Hardware != r.Hardware }) {
		label += " on " + r.Hardware
	}
	if r.Axes != "" {
		label += " " + r.Axes
	}
	return label
}

// trialsTo returns the median number of trials until one was near the best, with its interval: "11 (8 to 15)". "more"
// in place of the upper end means that it was not reached.
func trialsTo(r TuningRow) string {
	if math.IsNaN(r.Median) {
		return "more"
	}
	high := "more"
	if !math.IsNaN(r.High) && !math.IsInf(r.High, 0) {
		high = fmt.Sprintf("%g", r.High)
	}
	if r.Runs < 6 { // too few runs for a 95% interval
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

// tuningSentence returns a sentence about the result of one method.
func tuningSentence(e *record.Experiment, t *trial.Tuning, r TuningRow, label string) string {
	who := fmt.Sprintf("Tuning %s by %s", label, titleOf(r.Method))
	crashed := ""
	if r.Crashed > 0 {
		crashed = fmt.Sprintf(" %d of its %d trials crashed.", r.Crashed, r.Trials)
	}
	if math.IsNaN(r.Best) {
		return fmt.Sprintf("%s found nothing: no trial of %s %s.%s", who, r.Tuning, unsatisfied(e, r), crashed)
	}
	if math.IsNaN(r.Median) {
		text := fmt.Sprintf("%s: only %d of %d runs came within 10%% of the best known value (%s)", who, r.Reached, r.Runs,
			t.Text(r.Best))
		if !math.IsNaN(r.RegretPct) {
			text += fmt.Sprintf("; the best that a run found was %.3g%% behind it at the median", r.RegretPct)
		}
		return text + "." + crashed
	}
	median := " at the median"
	if r.Runs == 1 {
		median = ""
	}
	return fmt.Sprintf("%s needs %s%s%s to come within 10%% of the best (%s).%s", who, trialsOf(r), costOf(r), median,
		t.Text(r.Best), crashed)
}

// costOf returns a phrase with the cost of the trials until one was near the best; "" if the cost is unknown.
func costOf(r TuningRow) string {
	if math.IsNaN(r.CostToBest) || r.CostToBest == 0 {
		return ""
	}
	return ", which cost " + table.WithUnit(r.CostToBest, trial.MoneyUnit()) + ","
}

// needsFewest names the search that needs the fewest trials until one is within 10% of the best, and the search with
// the lowest cost until then. It compares searches among the same settings. It returns nothing for a single search.
func needsFewest(rows []TuningRow) (said []string) {
	var known []TuningRow
	for _, r := range rows {
		if !math.IsNaN(r.Best) && math.IsNaN(r.ToFixed) && r.Best == rows[0].Best && r.Hardware == rows[0].Hardware {
			known = append(known, r)
		}
	}
	if len(known) < len(rows) || len(rows) < 2 || rows[0].Runs < stats.MinPairs {
		return nil
	}
	least := func(of func(TuningRow) float64) (best TuningRow, ok bool) {
		for i, r := range known {
			if v := of(r); math.IsNaN(v) || r.Reached < r.Runs {
				continue
			} else if !ok || v < of(best) {
				best, ok = known[i], true
			}
		}
		return best, ok
	}
	best, ok := least(func(r TuningRow) float64 { return r.Median })
	if !ok {
		return nil
	}
	var alike []string
	for _, r := range known {
		if label := tuningLabel(r, rows); label != tuningLabel(best, rows) && !math.IsNaN(r.Median) && !(r.Low > best.High) {
			alike = append(alike, label)
		}
	}
	text := fmt.Sprintf("%s comes within 10%% of the best after %s, the fewest", tuningLabel(best, rows), trialsOf(best))
	if len(alike) > 0 {
		text += "; no difference from " + table.Listed(alike) + " is known"
	}
	text += "."
	if cheapest, ok := least(func(r TuningRow) float64 { return r.CostToBest }); ok {
		text += fmt.Sprintf(" Until then, %s spends the least: %s.", tuningLabel(cheapest, rows),
			table.WithUnit(cheapest.CostToBest, trial.MoneyUnit()))
	}
	return []string{text}
}

// trialsOf is trialsTo followed by the noun: "11 (8 to 15) trials".
func trialsOf(r TuningRow) string {
	if n := trialsTo(r); n != "1" {
		return n + " trials"
	}
	return "1 trial"
}

// unsatisfied returns the constraints that no trial satisfied, as the end of a sentence.
func unsatisfied(e *record.Experiment, r TuningRow) string {
	for i := range trial.Asked.Of(&e.Plan) {
		t := &trial.Asked.Of(&e.Plan)[i]
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

// In the terminal, the table of trials shows the first search, its best trials first.
var _ = analysis.ForPeople(Trials.Name(), func(e *record.Experiment) (table.Table, error) {
	tunings := trial.Asked.Of(&e.Plan)
	if len(tunings) == 0 {
		return table.Table{}, nil
	}
	list := findings(e, &tunings[0])
	return trialsTable(&tunings[0], list, len(list)), nil
})

// unsaid returns sentences without those that only repeat the headline. The headline of a single run says how soon it
// found the best.
func unsaid(e *record.Experiment, rows []TuningRow, said []string) []string {
	if len(rows) == 1 && rows[0].Runs == 1 && rows[0].Crashed == 0 && rows[0].Median > 0 &&
		trial.Asked.Of(&e.Plan)[0].Mode == "" {
		return said[1:]
	}
	return said[len(needsFewest(rows)):]
}

var _ = analysis.Register(analysis.Part{
	Name: "tunings", Title: "Tunings", InReport: 10, OnTerminal: 10,
	Tell: func(e *record.Experiment) (table.Section, error) {
		rows := rowsOf(e)
		t, said := searchesOf(e, rows)
		s := table.Section{
			Headline: headline(e, rows, needsFewest(rows)), Answers: said,
			Terminal: []table.Item{{Sentences: unsaid(e, rows, said)}},
			Report: []table.Item{{Table: t, Folded: true, Note: "All trials are in trials.csv. Intervals have a confidence of 95% " +
				"and are of the median, by order statistics. A run without a trial within 10% of the best counts as infinite."}},
		}
		for i, one := range trial.Asked.Of(&e.Plan) {
			if slices.ContainsFunc(trial.Asked.Of(&e.Plan)[:i], func(o trial.Tuning) bool { return o.Same(&one) }) {
				continue // their trials are in the same table
			}
			if view := trialsTable(&one, findings(e, &one), mostShownTrials); len(view.Rows) > mostTrialRows {
				s.Report = append(s.Report, table.Item{Table: view, Folded: true,
					Note: fmt.Sprintf("The trials of %q, the best first.", one.Name)})
			}
			if list := importances(e, &one); len(list) > 1 {
				s.Report = append(s.Report, table.Item{Table: importanceTable(list),
					Note: fmt.Sprintf("Importance of the settings of %q: how much the predictions of a model change if only this "+
						"setting is changed, relative to the sum "+
						"over all settings. The model is fitted to the trials of the first replicate.", one.Name)})
			}
		}
		return s, nil
	},
})
