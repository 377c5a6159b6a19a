package analysis

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// mostOfEach bounds the sentences about profiling.
const mostOfEach = 20

var estimates = Register(Part{
	Name: "estimates", Title: "Run-time estimates", InReport: Verdicts + 10, OnTerminal: Verdicts + 10,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, err := record.Estimates.Read(e.Dir)
		if err != nil {
			return s, err
		}
		accuracy, err := record.Accuracy.Read(e.Dir)
		if err != nil {
			return s, err
		}
		profiling, err := record.Profiling.Read(e.Dir)
		if err != nil {
			return s, err
		}
		var said []string
		for _, a := range accuracy {
			if a.By == record.ByAll {
				said = append(said, AccuracySentence(a))
			}
		}
		if len(said) > 0 {
			s.Terminal = append(s.Terminal, table.Item{Sentences: said})
		}
		all := slices.Clone(said)
		for _, p := range profiling[:min(len(profiling), mostOfEach)] {
			all = append(all, ProfilingSentence(p))
		}
		s.Report = []table.Item{
			{Sentences: all, Answer: true},
			{Table: estimateTable(rows), Note: "Actual: the mean service time of the finished jobs that held their full " +
				"request throughout. Error: above 0, the estimate was too long."},
			{Pictures: true},
			{Table: accuracyTable(accuracy), Note: "Over real runs, each compared with the estimate made before it. Choices: " +
				"jobs that ran on more than one resource; the estimates predict which is fastest."},
		}
		return s, nil
	},
})

func estimateTable(rows []record.EstimateRow) table.Table {
	t := table.New(4, "job", "hardware", "model", "axes", "threads", "samples", "sampled",
		"start-up (s)", "an epoch or step (s)", "predicted (s)", "interval (s)", "actual (s)", "runs", "error")
	n := table.Number
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
		t.Add(
			r.Job, r.Hardware, model, r.Axes, fmt.Sprint(r.Threads), fmt.Sprint(r.Samples), n(100*r.SampleFraction)+"%",
			n(r.Intercept), n(r.Slope), seconds(r.Predicted), seconds(r.Low)+" to "+seconds(r.High), seconds(r.Actual),
			fmt.Sprint(r.Runs), errorText)
	}
	if slices.ContainsFunc(rows, func(r record.EstimateRow) bool { return r.Axes != "" }) {
		return t
	}
	return t.Without(func(c table.Column) bool { return c.Name == "axes" })
}

func accuracyTable(rows []record.AccuracyRow) table.Table {
	t := table.New(2, "model", "over", "estimates", "runs", "mean absolute error",
		"standard deviation", "bias", "in their interval", "choices",
		"place of the one predicted best", "slower than the fastest")
	n := table.Number
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
		t.Add(
			r.Estimator(), over, fmt.Sprint(r.Estimates), fmt.Sprint(r.Runs), percent(r.MeanAbs), percent(r.SD), percent(r.Bias),
			percent(100*r.Coverage), fmt.Sprint(r.Choices), n(r.BestRank), percent(r.Regret))
	}
	return t
}

// profiling returns the rows of profiling.csv. It compares each variant that decides by estimates with a variant that
// does not: with a baseline of the experiment if possible, else with the first.
func profiling(e *record.Experiment, cost float64) []record.ProfilingRow {
	variants := Variants(e)
	var rows []record.ProfilingRow
	for _, v := range variants {
		if !slices.Contains(e.Plan.Estimating, v.Policy) {
			continue
		}
		base, ok := without(e, v, variants)
		if !ok {
			continue
		}
		b, c, _ := pairs(base, v, Value{Metric: measure.Makespan})
		bj, cj, _ := pairs(base, v, Value{Metric: measure.MeanJCT})
		if len(b) == 0 || len(bj) == 0 {
			continue
		}
		var gain, gainJCT stats.Mean
		for i := range b {
			gain.Add(b[i] - c[i])
		}
		for i := range bj {
			gainJCT.Add(bj[i] - cj[i])
		}
		rows = append(rows, record.ProfilingRow{
			Workload: v.Workload, Hardware: v.Hardware, Policy: v.Label, Baseline: base.Label,
			Pairs: gain.N, Cost: cost, Makespan: gain.Value(), JCT: gainJCT.Value(), Net: gain.Sum - cost,
		})
	}
	return rows
}

// without returns a variant whose policy needs no estimates, with which v is compared; false if there is none.
func without(e *record.Experiment, v Variant, variants []Variant) (Variant, bool) {
	baselines := schema.Each(e.Plan.Compares, func(c record.Compare) string { return c.Baseline })
	var first *Variant
	for i := range variants {
		b := &variants[i]
		if b.Workload != v.Workload || b.Hardware != v.Hardware || !agree(b.Axes, v.Axes) ||
			slices.Contains(e.Plan.Estimating, b.Policy) || len(b.Cells) == 0 {
			continue
		}
		if slices.Contains(baselines, b.Policy) {
			return *b, true
		}
		if first == nil {
			first = b
		}
	}
	if first == nil {
		return Variant{}, false
	}
	return *first, true
}
