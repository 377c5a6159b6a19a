package certain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Rules is the member of plan.json with the rule of an experiment; nil if the experiment has none.
var Rules = stages.RegisterPlanMember("certain", 65, func(x stages.PlanMemberInput) *Rule {
	if part, ok := experiment.PartOf[certain](x.Parts); ok {
		return &part.Rule
	}
	return nil
})

const section = "section-certain"

var _ = analysis.Register(analysis.Part{
	Name: section, Title: "When the comparisons were decided", InReport: analysis.Verdicts + 5, OnTerminal: analysis.Verdicts + 5,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rule := Rules.Of(&e.Plan)
		if rule == nil {
			return s, nil
		}
		rows, err := analysis.Comparisons(e)
		if err != nil {
			return s, err
		}
		rows = slices.DeleteFunc(rows, func(r record.ComparisonRow) bool { return r.By != "" || !rule.decides(r.Metric) })
		if len(rows) == 0 {
			return s, nil
		}
		said := rule.sentence(rows, e.Plan.Replicates, rule.late(e))
		if slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return rule.decision(&r) == Undecided || vague(&r) }) {
			said += " " + adding(e, lacking(rows))
		}
		s.Report = []table.Item{{Sentences: []string{said}, Plain: true}, {Table: rule.table(rows)}}
		s.Terminal = s.Report[:1]
		return s, nil
	},
})

// adding returns the command that adds n replicates. If n is 0, the user must choose a number.
func adding(e *record.Experiment, n int) string {
	number := "N"
	if n > 0 {
		number = fmt.Sprint(n)
	}
	command := []string{"tfexp", "run", "FILE"}
	if again := e.Run.Command; len(again) > 2 && again[1] == "run" {
		command = command[:2]
		for i, arg := range again[2:] {
			if arg != "--fresh" && !strings.HasPrefix(arg, "--more") && (i == 0 || again[1+i] != "--more") {
				command = append(command, arg)
			}
		}
	}
	return fmt.Sprintf("%q adds %s.", strings.Join(append(command, "--more", number), " "), replicates(n))
}

func replicates(n int) string {
	if n == 0 {
		return "replicates"
	}
	return schema.Plural(n, "replicate")
}

// This part prints the command that adds replicates if a comparison has too few. The number is in the output of run
// --json.
var _ = analysis.Register(analysis.Part{
	Name: "section-more", Title: "More replicates", InReport: analysis.Verdicts + 6, OnTerminal: analysis.Verdicts + 6,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		if Rules.Of(&e.Plan) != nil || !e.Complete() {
			return s, nil
		}
		rows, err := analysis.Comparisons(e)
		if err != nil {
			return s, err
		}
		n := lacking(rows)
		if n == 0 {
			return s, nil
		}
		s.Members = map[string]any{"more_replicates": n}
		s.Terminal = []table.Item{{Sentences: []string{adding(e, n)}, Plain: true}}
		return s, nil
	},
})

// sentence says how many comparisons are decided, after how many replicates, and which are undecided. late adds that
// the time limit has passed.
func (r *Rule) sentence(rows []record.ComparisonRow, most int, late bool) string {
	var pairs, openPairs []int
	var open, unsized, lost []string
	for i := range rows {
		row := &rows[i]
		m, _ := measure.MetricByName(row.Metric)
		if r.decision(row) == Undecided {
			change := analysis.ChangeOf(row)
			open, openPairs = append(open, fmt.Sprintf("%s against %s in %s, %s", row.Candidate, row.Baseline, m.Title, change.Signed())),
				append(openPairs, row.Pairs)
			if r.dropped(row, rows) && !slices.Contains(lost, row.Candidate) {
				lost = append(lost, row.Candidate)
			}
			continue
		}
		pairs = append(pairs, row.Pairs)
		if vague(row) {
			unsized = append(unsized, fmt.Sprintf("%s against %s in %s", row.Candidate, row.Baseline, m.Title))
		}
	}
	named := func(list []string) string {
		if len(list) > mostNamed {
			return fmt.Sprintf("%d comparisons", len(list))
		}
		return strings.Join(list, "; ")
	}
	after := " after " + span(pairs) + " of at most " + schema.Plural(most, "replicate")
	var said string
	switch {
	case len(open) == 0 && len(rows) == 1:
		said = "The comparison is decided" + after + "."
	case len(open) == 0:
		said = "Every comparison is decided" + after + "."
	case len(pairs) == 0:
		said = fmt.Sprintf("Undecided with %s replicates: %s.", span(openPairs), named(open))
	default:
		said = fmt.Sprintf("%d of %d comparisons %s decided%s. Undecided: %s.", len(pairs), len(rows),
			map[bool]string{true: "is", false: "are"}[len(pairs) == 1], after, named(open))
	}
	if late && len(open) > 0 {
		said += fmt.Sprintf(" The time of %s is spent.", table.WithUnit(r.Seconds, "s"))
	}
	if len(lost) > 0 {
		said += " Dropped, since they are worse in another comparison: " + table.Listed(lost) + "."
	}
	if len(unsized) > 0 {
		said += " The size of these differences is not known yet: " + named(unsized) + "."
	}
	return said
}

// span formats a range: "4", or "4 to 12".
func span(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	low, high := slices.Min(numbers), slices.Max(numbers)
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// mostNamed is the largest number of undecided comparisons that are named.
const mostNamed = 3

// mostRows is the largest number of rows of the table.
const mostRows = 12

// table returns a table with a row for each comparison, undecided ones first.
func (r *Rule) table(rows []record.ComparisonRow) table.Table {
	t := table.New(3, "metric", "policy", "against", "replicates", "decided", "change")
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b record.ComparisonRow) int {
		return min(1, int(r.decision(&a))) - min(1, int(r.decision(&b)))
	})
	for i := range sorted[:min(len(sorted), mostRows)] {
		row := &sorted[i]
		m, _ := measure.MetricByName(row.Metric)
		change := analysis.ChangeOf(row)
		t.Add(m.Title, row.Candidate, row.Baseline, fmt.Sprint(row.Pairs), r.word(row, rows), change.Signed())
	}
	return t
}

// word describes a decision in the table.
func (r *Rule) word(row *record.ComparisonRow, rows []record.ComparisonRow) string {
	if r.dropped(row, rows) {
		return "dropped"
	}
	return [...]string{"undecided", "the same within " + table.Share(r.Within), "better", "worse"}[r.decision(row)]
}
