package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/tell"
)

// fidelityOf finds the fidelity of a metric.
func fidelityOf(f Fidelity, metric measure.Metric) (FidelityMetric, bool) {
	for _, m := range f.Metrics {
		if m.Metric == metric.Name {
			return m, true
		}
	}
	return FidelityMetric{}, false
}

// FidelitySentence is a line on how far the two are apart: "Simulated from the estimates:
// makespan within 3% and mean JCT within 5% of the real runs, on average over 10
// cells." It is empty when nothing was simulated.
func FidelitySentence(f Fidelity) string {
	makespan, ok := fidelityOf(f, measure.Makespan)
	jct, known := fidelityOf(f, measure.MeanJCT)
	if !ok || !known {
		return ""
	}
	over := "in one cell"
	if f.Cells > 1 {
		over = fmt.Sprintf("on average over %d cells", f.Cells)
	}
	if f.Busy > 0 {
		over += fmt.Sprintf(" (%d of them on a disturbed machine", f.Busy)
		if f.Busy < f.Cells {
			over += fmt.Sprintf("; %s and %s without those", tell.Share(makespan.QuietAbsPct/100), tell.Share(jct.QuietAbsPct/100))
		}
		over += ")"
	}
	return fmt.Sprintf("Simulated from the estimates: makespan within %s and mean JCT within %s of the real runs, %s.",
		tell.Share(makespan.MeanAbsPct/100), tell.Share(jct.MeanAbsPct/100), over)
}

// FidelityRanks says whether simulation ranks the variants as reality does;
// empty when there is but one variant.
func FidelityRanks(f Fidelity) string {
	var sum FidelityMetric
	for _, m := range f.Metrics {
		sum.Pairs += m.Pairs
		sum.Same += m.Same
		sum.Significant += m.Significant
		sum.SameSignificant += m.SameSignificant
	}
	if sum.Pairs == 0 {
		return ""
	}
	s := fmt.Sprintf("Simulation ranks two variants as the real runs do in %d of %s (each pair of variants, by each "+
		"metric)",
		sum.Same, tell.Plural(sum.Pairs, "comparison"))
	switch {
	case sum.Significant == 0:
		return s + "; none of the real differences is significant."
	case sum.SameSignificant == sum.Significant:
		return fmt.Sprintf("%s, and in all %d with a significant real difference.", s, sum.Significant)
	}
	return fmt.Sprintf("%s, and in %d of the %d with a significant real difference.", s, sum.SameSignificant,
		sum.Significant)
}

// FidelityOfJobs is a line on how far the jobs' instants are apart: "Over 80 jobs,
// simulated starts are off by 0.12 s and finishes by 0.15 s on average; the
// furthest finish is that of long-2 in mixed-fcfs-r1, simulated 0.7 s early." It is
// empty without a job that started and finished on both sides.
func FidelityOfJobs(rows []record.FidelityJobRow) string {
	var start, finish stats.Mean
	var worst record.FidelityJobRow
	for _, r := range rows {
		if !stats.Finite(r.StartError) || !stats.Finite(r.FinishError) {
			continue
		}
		start.Add(math.Abs(r.StartError))
		finish.Add(math.Abs(r.FinishError))
		if finish.N == 1 || math.Abs(r.FinishError) > math.Abs(worst.FinishError) {
			worst = r
		}
	}
	if finish.N == 0 {
		return ""
	}
	when := "late"
	if worst.FinishError < 0 {
		when = "early"
	}
	return fmt.Sprintf("Over %s, simulated starts are off by %s and finishes by %s on average; the furthest finish is "+
		"that of %s in %s, simulated %s %s.",
		tell.Plural(finish.N, "job"), tell.WithUnit(start.Value(), "s"), tell.WithUnit(finish.Value(), "s"),
		worst.Job, worst.Cell, tell.WithUnit(math.Abs(worst.FinishError), "s"), when)
}

// fidelityOfDecisions is a line on whether the scheduler decided for real as it did in the simulation: "The simulation
// took the same decisions as the real run in 3 of 4 cells. In mixed-fcfs-r1 the first other one came after 12 of 16
// decisions, at 3.20 s: for real resume long-1 on 0, in simulation pause long-2." It is empty where none are recorded.
func fidelityOfDecisions(rows []record.FidelityDecisionRow) string {
	if len(rows) == 0 {
		return ""
	}
	same := 0
	var first *record.FidelityDecisionRow
	for i := range rows {
		if r := &rows[i]; r.DiffersAt < 0 {
			same++
		} else if first == nil {
			first = r
		}
	}
	s := fmt.Sprintf("The simulation took the same decisions as the real run in %d of %s.", same,
		tell.Plural(len(rows), "cell"))
	if first == nil {
		return s
	}
	return fmt.Sprintf("%s In %s the first other one came after %d of %s, at %s: for real %s, in simulation %s.", s,
		first.Cell, first.Same, tell.Plural(first.Decisions, "decision"), tell.WithUnit(first.DiffersAt, "s"), orNone(first.Real),
		orNone(first.Instead))
}

func orNone(decision string) string {
	if decision == "" {
		return "no more decisions"
	}
	return decision
}

// fidelityTable is Fidelity as a table.
func fidelityTable(f Fidelity) tell.Table {
	t := tell.NewTable(2, "metric", "worst cell", "mean absolute error", "mean error", "worst error",
		"same order", "same order, significant")
	for _, m := range f.Metrics {
		metric, _ := measure.MetricByName(m.Metric)
		t.Add(
			metric.Title, m.Worst, tell.Share(m.MeanAbsPct/100), tell.Signed(m.BiasPct/100), tell.Signed(m.WorstPct/100),
			of(m.Same, m.Pairs), of(m.SameSignificant, m.Significant))
	}
	return t
}

// of is "2 of 3"; "–" of none.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

var _ = Register(Part{
	Name: "fidelity", Title: "Fidelity", InReport: Verdicts + 20, OnTerminal: Verdicts + 20,
	Tell: func(e *record.Experiment) (s tell.Section, err error) {
		f := FidelityOf(e)
		if f.Cells == 0 {
			return s, nil
		}
		jobs, err := FidelityJobs(e)
		if err != nil {
			return s, err
		}
		decisions, err := FidelityDecisions(e)
		if err != nil {
			return s, err
		}
		said := []string{FidelitySentence(f), FidelityRanks(f), FidelityOfJobs(jobs), fidelityOfDecisions(decisions)}
		if said[0] != "" {
			s.Terminal = []tell.Item{{Sentences: said[:1]}}
		}
		t := fidelityTable(f)
		if len(t.Rows) == 0 {
			return s, nil
		}
		s.Report = []tell.Item{
			{Plain: true, Sentences: []string{"Each finished real cell was simulated as well: the same policy, arrivals and scheduler code, " +
				"with run times from the estimates and the cost of pausing and resuming from profiling."}},
			{Sentences: slices.DeleteFunc(slices.Clone(said), func(text string) bool { return text == "" })},
			{Table: t, Note: "Errors are (simulated − real) / real: above 0, the simulated value is too high. All pairs of variants " +
				"are compared by their means; a real difference is significant at 95%, after Holm’s correction over the pairs of one " +
				"workload and hardware."},
			{Pictures: true},
		}
		return s, nil
	},
})
