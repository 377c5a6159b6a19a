package report

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

// estimates is the part of the page about predicted and actual run times.
type estimates struct {
	Answers  []string
	Table    prose.Table
	Accuracy prose.Table
	// Remaining is how well the time to a target loss was predicted.
	Remaining prose.Table
	Pictures  []shownPicture
	More      []string // of pictures that are not shown
}

// estimates fills in what was predicted, how good that was, and what it cost.
func (v *view) estimates(e *record.Experiment) error {
	rows, err := e.Estimates()
	if err != nil {
		return err
	}
	accuracy, err := e.Accuracy()
	if err != nil {
		return err
	}
	profiling, err := e.Profiling()
	if err != nil {
		return err
	}
	for _, a := range accuracy {
		if a.By == record.ByAll {
			v.Estimates.Answers = append(v.Estimates.Answers, prose.Accuracy(a))
		}
	}
	for _, p := range profiling[:min(len(profiling), mostAnswers)] {
		v.Estimates.Answers = append(v.Estimates.Answers, prose.Profiling(p))
	}
	drift, err := analysis.Drift(e)
	if err != nil {
		return err
	}
	for _, d := range drift {
		v.Estimates.Answers = append(v.Estimates.Answers, prose.Drift(d))
	}
	remaining, err := e.Remaining()
	if err != nil {
		return err
	}
	summary := analysis.Remaining(remaining)
	if said := prose.Remaining(summary); said != "" {
		v.Estimates.Answers = append([]string{said}, v.Estimates.Answers...)
	}
	unreached := analysis.Unreached(remaining)
	for _, r := range unreached[:min(len(unreached), mostAnswers)] {
		v.Estimates.Answers = append(v.Estimates.Answers, prose.Unreached(r))
	}
	if n := len(unreached) - mostAnswers; n > 0 {
		v.Estimates.Answers = append(v.Estimates.Answers, fmt.Sprintf("%d more jobs did not reach theirs: see remaining.csv.",
			n))
	}
	v.Estimates.Remaining = prose.RemainingTable(summary)
	v.Estimates.Table = estimateTable(rows)
	v.Estimates.Accuracy = accuracyTable(accuracy)
	return nil
}

func estimateTable(rows []record.EstimateRow) prose.Table {
	t := prose.Table{Left: 4, Header: []string{"job", "hardware", "model", "axes", "threads", "samples", "sampled",
		"start-up (s)", "an epoch or step (s)", "predicted (s)", "interval (s)", "actual (s)", "runs", "error"}}
	n := prose.Number
	seconds := func(s float64) string {
		if s < 0 {
			return "–"
		}
		return n(s)
	}
	for _, r := range rows {
		errorText := "–"
		if text := n(r.ErrorPct); text != "–" {
			errorText = text + "%"
		}
		model := r.Model
		if r.Chosen != "" && r.Chosen != r.Model {
			model += " (" + r.Chosen + ")"
		}
		t.Rows = append(t.Rows, []string{
			r.Job, r.Hardware, model, r.Axes, fmt.Sprint(r.Threads), fmt.Sprint(r.Samples), n(100*r.SampleFraction) + "%",
			n(r.Intercept), n(r.Slope), seconds(r.Predicted), seconds(r.Low) + " to " + seconds(r.High), seconds(r.Actual),
			fmt.Sprint(r.Runs), errorText,
		})
	}
	const axes = 3
	if !slices.ContainsFunc(rows, func(r record.EstimateRow) bool { return r.Axes != "" }) {
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], axes, axes+1)
		}
		t.Header, t.Left = slices.Delete(t.Header, axes, axes+1), t.Left-1
	}
	return t
}

func accuracyTable(rows []record.AccuracyRow) prose.Table {
	t := prose.Table{Left: 2, Header: []string{"model", "over", "estimates", "runs", "mean absolute error",
		"standard deviation", "bias", "in their interval", "choices",
		"place of the one predicted best", "slower than the fastest"}}
	n := prose.Number
	percent := func(v float64) string {
		if text := n(v); text != "–" {
			return text + "%"
		}
		return "–"
	}
	for _, r := range rows {
		over := r.Group
		if r.By == record.ByAll {
			over = "all runs"
		}
		t.Rows = append(t.Rows, []string{
			r.Estimator(), over, fmt.Sprint(r.Estimates), fmt.Sprint(r.Runs), percent(r.MeanAbs), percent(r.SD), percent(r.Bias),
			percent(100 * r.Coverage), fmt.Sprint(r.Choices), n(r.BestRank), percent(r.Regret),
		})
	}
	return t
}
