package remaining

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Summary has the errors of a model's predictions after a fraction Part of the runs; Part 0 means all fractions.
type Summary struct {
	Model   string
	Part    float64
	Runs    int     // runs that reached their target; with Part 0, predictions
	MeanAbs float64 // mean absolute error in percent
	Covered float64 // fraction of actual values inside the interval
	Level   float64 // level of the interval
}

// Summaries summarizes remaining.csv by model and part, in the order of the file. For each model, the summary of all
// parts is first.
func Summaries(rows []RemainingRow) []Summary {
	var models []string
	parts := []float64{0}
	for _, r := range rows {
		if !slices.Contains(models, r.Model) {
			models = append(models, r.Model)
		}
		if !slices.Contains(parts, r.Part) {
			parts = append(parts, r.Part)
		}
	}
	var out []Summary
	for _, m := range models {
		for _, p := range parts {
			if s := summaryOf(rows, m, p); s.Runs > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

func summaryOf(rows []RemainingRow, model string, part float64) Summary {
	s := Summary{Model: model, Part: part}
	for _, r := range rows {
		if r.Model != model || part != 0 && r.Part != part || !stats.Finite(r.ErrorPct) {
			continue
		}
		s.Runs++
		s.Level = r.Level
		s.MeanAbs += math.Abs(r.ErrorPct)
		if r.Covered {
			s.Covered++
		}
	}
	s.MeanAbs /= float64(s.Runs)
	s.Covered /= float64(s.Runs)
	return s
}

// Unreached returns a row for each job that ended without reaching its target loss.
func Unreached(rows []RemainingRow) []RemainingRow {
	type id struct{ cell, job string }
	seen := map[id]bool{}
	var out []RemainingRow
	for _, r := range rows {
		if at := (id{r.Cell, r.Job}); !r.Reached && !seen[at] {
			seen[at] = true
			out = append(out, r)
		}
	}
	return out
}

// shownPart is the fraction of the run whose predictions the sentence is about.
const shownPart = 0.4

// Sentence describes how well models predicted the time to the target loss, the best model first. An example: "The time
// to the target loss was predicted best by combined: after 40% of the run it was off by 14% on average (12 runs), and
// 93% of 48 predictions after 10% to 60% of the run had the true time in their 90% interval. The others were off by 20%
// (trend) and 150% (selftf)." It is empty if nothing was predicted.
func Sentence(all []Summary) string {
	var shown []Summary
	covered := map[string]Summary{}
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
	slices.SortStableFunc(shown, func(a, b Summary) int { return cmp.Compare(a.MeanAbs, b.MeanAbs) })
	best, c := shown[0], covered[shown[0].Model]
	text := fmt.Sprintf("The time to the target loss was predicted best by %s: after %s of the run it was off by %s%% on "+
		"average (%s), and %s of %s after 10%% to 60%% of the run had the true time in their %s interval.",
		best.Model, table.Share(best.Part), table.Number(best.MeanAbs), schema.Plural(best.Runs, "run"), table.Share(c.Covered),
		schema.Plural(c.Runs, "prediction"), table.Share(c.Level))
	var others []string
	for _, s := range shown[1:] {
		others = append(others, fmt.Sprintf("%s%% (%s)", table.Number(s.MeanAbs), s.Model))
	}
	if len(others) > 0 {
		text += " The others were off by " + table.Listed(others) + "."
	}
	return text
}

// Errors lists the mean errors after a fraction of the run: " Mean absolute errors, in epochs or steps: combined 14%,
// selftf 150%."
func Errors(all []Summary, part float64) string {
	var list []string
	for _, s := range all {
		if s.Part == part {
			list = append(list, s.Model+" "+table.Number(s.MeanAbs)+"%")
		}
	}
	return " Mean absolute errors, in epochs or steps: " + strings.Join(list, ", ") + "."
}

// unreachedSentence describes a job that ended without reaching its target loss.
func unreachedSentence(r RemainingRow) string {
	return fmt.Sprintf("The job %s of cell %s did not reach its target loss of %s: it ended at its limit with a loss "+
		"of %s.",
		r.Job, r.Cell, table.Number(r.Target), table.Number(r.Loss))
}

// tableOf returns a table with a row for each model and fraction of the run.
func tableOf(all []Summary) table.Table {
	t := table.New(2, "model", "after", "predictions", "mean absolute error", "in their interval")
	for _, s := range all {
		after := table.Share(s.Part) + " of the run"
		if s.Part == 0 {
			after = "all parts"
		}
		t.Add(s.Model, after, fmt.Sprint(s.Runs), table.Number(s.MeanAbs)+"%", table.Share(s.Covered))
	}
	return t
}

// mostUnreached is the largest number of sentences about jobs that did not reach their target loss.
const mostUnreached = 20

// This text is in the report's section about estimates.
var part = analysis.Register(analysis.Part{
	Name: "remaining", In: "estimates",
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := Remaining.Read(e.Dir)
		if err != nil {
			return s, err
		}
		summary := Summaries(rows)
		var said []string
		if text := Sentence(summary); text != "" {
			said = []string{text}
			s.Terminal = []table.Item{{Sentences: said}}
		}
		unreached := Unreached(rows)
		for _, r := range unreached[:min(len(unreached), mostUnreached)] {
			said = append(said, unreachedSentence(r))
		}
		if n := len(unreached) - mostUnreached; n > 0 {
			said = append(said, fmt.Sprintf("%d more jobs did not reach theirs: see remaining.csv.", n))
		}
		s.Report = []table.Item{{Sentences: said, Answer: true},
			{Table: tableOf(summary), Note: "Epochs (or steps) to the target loss, predicted from the losses until " +
				"then, against those that the job took. Jobs that did not reach their target are left out."},
		}
		return s, nil
	},
})
