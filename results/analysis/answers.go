package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Answer is the result of one comparison, or the joint result of several of one kind.
type Answer struct {
	Text string
	// Verdict is the verdict that all rows share, in the words of Said; "mixed" when they differ, and empty for
	// the best variants.
	Verdict string
	// Rows counts the comparisons that it summarizes.
	Rows int
	// Metric is the compared metric, and Merit the rank of the candidate among others, the greater the better.
	Metric string
	Merit  float64
	// Equal reports whether both sides are equal in each pair of all its comparisons.
	Equal bool
	// Alone reports whether it rests on one run of each side.
	Alone bool
}

// Joined reports whether it joins comparisons with an interval each.
func (a *Answer) Joined() bool {
	return a.Rows > 1 && a.Verdict != "" && a.Verdict != record.NotEnoughReplicates
}

// Mixed is the verdict of an answer whose comparisons differ.
const Mixed = "mixed"

// mostSentences is the number of comparisons up to which each has its own
// sentence.
const mostSentences = 6

// Answers puts the comparisons into sentences, in their order: one each while
// they are few, else one for each candidate over all values of the axes.
// Comparisons with too few replicates for a verdict are one answer for each
// metric.
func Answers(p record.Plan, rows []record.ComparisonRow) []Answer {
	group := func(r record.ComparisonRow) string {
		switch {
		case r.Verdict == record.NotEnoughReplicates:
			return strings.Join([]string{r.Metric, r.Verdict, tooFew(r)}, "\n")
		case r.By != "":
			return strings.Join([]string{r.Metric, r.Workload, r.Hardware, r.Candidate, r.Baseline, r.By}, "\n")
		case len(rows) <= mostSentences:
			return strings.Join([]string{r.Metric, r.Workload, r.Hardware, r.Candidate, r.Baseline}, "\n")
		}
		candidate, baseline := sides(r)
		return strings.Join([]string{r.Metric, r.Workload, r.Hardware, candidate, baseline,
			fmt.Sprint(r.Blocks > 0, alone(r))}, "\n")
	}
	var groups [][]record.ComparisonRow
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[group(r)]
		if !ok {
			i = len(groups)
			at[group(r)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	var out []Answer
	for _, g := range groups {
		a := Answer{Verdict: Said(g[0]), Rows: len(g), Metric: g[0].Metric, Equal: !slices.ContainsFunc(g, differs),
			Alone: !slices.ContainsFunc(g, func(r record.ComparisonRow) bool { return r.Method != record.OneRun })}
		for _, r := range g {
			if Said(r) != a.Verdict {
				a.Verdict = Mixed
			}
			a.Merit += r.Ratio / float64(len(g))
		}
		if m, ok := measure.MetricByName(a.Metric); ok && !m.HigherBetter {
			a.Merit = -a.Merit
		}
		switch {
		case len(g) == 1:
			a.Text = Comparison(p, g[0])
		case a.Verdict == record.NotEnoughReplicates:
			a.Text = fmt.Sprintf("Too few replicates to compare %s, in each of %d comparisons: %s.", metricTitle(g[0].Metric),
				len(g), tooFew(g[0]))
		case g[0].By != "":
			a.Text = byGroup(p, g)
		default:
			a.Text = together(p, g)
		}
		out = append(out, a)
	}
	return out
}

// Conclusions returns the findings below the headline, at most most: how often each variant is the best, and then
// the answers. It returns the number of answers left out.
func Conclusions(e *record.Experiment, rows []record.ComparisonRow, most int) (out []Answer, more int, err error) {
	leaders, err := Leaders(e)
	if err != nil {
		return nil, 0, err
	}
	out = leaderAnswers(leaders)
	answers := Answers(e.Plan, rows)
	shown := foremost(answers, max(0, most-len(out)))
	return append(out, shown...), len(answers) - len(shown), nil
}

// Foremost puts the most important answers first: from each metric its share, the best candidates first.
func Foremost(answers []Answer, most int) []Answer {
	out := foremost(answers, most)
	for _, a := range answers {
		// By their texts: a merit that is not known equals nothing, itself included.
		if !slices.ContainsFunc(out, func(o Answer) bool { return o.Text == a.Text }) {
			out = append(out, a)
		}
	}
	return out
}

// foremost returns at most most answers, in their order. Of a longer list it takes a share from each metric: the
// best candidates, the best first. Candidates that equal the baseline in each pair come last.
func foremost(answers []Answer, most int) []Answer {
	if len(answers) <= most {
		return answers
	}
	byMetric := map[string][]Answer{}
	var metrics []string
	for _, a := range answers {
		if byMetric[a.Metric] == nil {
			metrics = append(metrics, a.Metric)
		}
		byMetric[a.Metric] = append(byMetric[a.Metric], a)
	}
	var out []Answer
	for i, name := range metrics {
		list := byMetric[name]
		if share := (most - len(out)) / (len(metrics) - i); len(list) > share {
			slices.SortStableFunc(list, func(a, b Answer) int {
				switch {
				case a.Equal == b.Equal:
					return cmp.Compare(b.Merit, a.Merit)
				case a.Equal:
					return 1
				}
				return -1
			})
			list = list[:share]
		}
		out = append(out, list...)
	}
	return out
}

// Unsaid returns the warnings that no answer contains, and the questions that the answers leave open.
func Unsaid(e *record.Experiment, rows []record.ComparisonRow) []record.Warning {
	few := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.Verdict == record.NotEnoughReplicates })
	warnings := slices.DeleteFunc(e.Warnings(),
		func(w record.Warning) bool { return few && w.Code == record.FewReplicates })
	if len(rows) > 0 {
		if w, ok := idle(e); ok {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// together joins the comparisons of one candidate with one baseline: "SJF (sjf)
// against fcfs, mean JCT: better at load 0.5 and 0.7 (−12% to −3.0%), no
// difference detected at 0.9."
func together(p record.Plan, rows []record.ComparisonRow) string {
	r := rows[0]
	rows = slices.Clone(rows)
	for i := range rows { // the axes that differ have been named
		r := &rows[i]
		named := opposed(r.CandidateAxes, r.BaselineAxes)
		if r.CandidatePolicy != r.BaselinePolicy && len(named) > 0 {
			r.CandidateAxes = slices.DeleteFunc(slices.Clone(r.CandidateAxes), func(s record.Setting) bool {
				return slices.Contains(named, s)
			})
		}
		if r.CandidatePolicy == r.BaselinePolicy {
			r.CandidateAxes = slices.DeleteFunc(slices.Clone(r.CandidateAxes), func(s record.Setting) bool {
				return !slices.Contains(r.BaselineAxes, s)
			})
		}
	}
	axis, settings := soleAxis(rows), fewSettings(rows)
	var parts []string
	for _, verdict := range []string{record.Better, record.Worse, record.NoDifference} {
		var points []string
		part, low, high := "", 0.0, 0.0
		for _, r := range rows {
			if r.Verdict != verdict {
				continue
			}
			part = Said(r)
			switch {
			case axis != "":
				points = append(points, r.CandidateAxes[0].Value)
			case settings:
				points = append(points, setting(r))
			default:
				points = append(points, record.AxesLabel(r.CandidateAxes))
			}
			if len(points) == 1 {
				low, high = r.Ratio, r.Ratio
			}
			low, high = min(low, r.Ratio), max(high, r.Ratio)
		}
		if len(points) == 0 {
			continue
		}
		switch {
		case len(points) == len(rows):
			all := allOf(len(rows))
			part += " in " + all + " comparisons"
			if axis != "" {
				part = strings.Replace(part, " in "+all+" comparisons", " at "+all+" values of "+axis, 1)
			}
		case axis != "" && len(parts) == 0:
			part += " at " + axis + " " + table.Listed(points)
		case axis != "":
			part += " at " + table.Listed(points)
		case settings:
			part += " under " + table.Listed(points)
		case len(parts) == 0:
			part += fmt.Sprintf(" in %d of %d comparisons", len(points), len(rows))
		default:
			part += fmt.Sprintf(" in %d", len(points))
		}
		if verdict != record.NoDifference && stats.Finite(low) && stats.Finite(high) {
			part += " (" + changes(low, high) + ")"
		}
		parts = append(parts, part)
	}
	candidate, baseline := sides(r)
	end := ""
	switch {
	case r.Method == record.OneRun:
		end = "; one run each, no interval"
	case r.Blocks > 0:
		end = "; intervals over stretches of the log"
	}
	end += doubtfulOf(rows)
	return fmt.Sprintf("%s against %s%s, %s: %s%s.", candidate, baseline, place(p, r), metricTitle(r.Metric),
		strings.Join(parts, ", "), end)
}

// place names the place, when the experiment has more than one workload or machine, and both sides share it.
func place(p record.Plan, r record.ComparisonRow) string {
	workload, hardware := r.Workload, r.Hardware
	if r.BaselineWorkload != "" && r.BaselineWorkload != workload {
		workload = ""
	}
	if r.BaselineHardware != "" && r.BaselineHardware != hardware {
		hardware = ""
	}
	return placed(p, workload, hardware)
}

// placed names a workload and hardware, each where the experiment has more than one; "" if it names neither.
func placed(p record.Plan, workload, hardware string) string {
	many, machines := workload != "" && len(p.Workloads) > 1, hardware != "" && len(p.Hardware) > 1
	switch {
	case many && machines:
		return " on workload " + workload + ", hardware " + hardware
	case many:
		return " on " + workload
	case machines:
		return " on " + hardware
	}
	return ""
}

// mostGroups is the number of groups that one answer names.
const mostGroups = 6

// byGroup describes a comparison for each group of jobs: "rr against fcfs, mean JCT by class: short 5.43 s → 1.32 s
// (−76%, better), long 4.50 s → 7.86 s (+75%, worse)."
func byGroup(p record.Plan, rows []record.ComparisonRow) string {
	candidate, baseline, where := names(p, rows[0])
	unit := ""
	if m, ok := measure.MetricByName(rows[0].Metric); ok {
		unit = m.Unit
	}
	var parts []string
	for _, r := range rows[:min(len(rows), mostGroups)] {
		change := Said(r)
		if stats.Finite(r.Ratio) && r.Verdict != record.NoDifference {
			change = table.Signed(r.Ratio-1) + ", " + change
		}
		parts = append(parts, fmt.Sprintf("%s %s → %s (%s)", GroupName(r.By, r.Group), table.WithUnit(r.BaselineMean, unit),
			table.WithUnit(r.CandidateMean, unit), change))
	}
	more := ""
	if n := len(rows) - len(parts); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	said := schema.Plural(rows[0].Pairs, "pair") + doubtfulOf(rows)
	switch {
	case rows[0].Method == record.OneRun:
		said = evidence(p, rows[0], unit)
	case rows[0].Blocks > 0:
		said = stretchesOf(rows) + " of one log"
	}
	return fmt.Sprintf("%s against %s%s, %s by %s: %s%s (%s).", candidate, baseline, where, metricTitle(rows[0].Metric),
		rows[0].By, strings.Join(parts, "; "), more, said)
}

// stretchesOf counts the stretches of a log in which groups have jobs: "10 stretches", or "8–11 stretches" where some
// have none in a few.
func stretchesOf(rows []record.ComparisonRow) string {
	low, high := rows[0].Blocks, rows[0].Blocks
	for _, r := range rows {
		low, high = min(low, r.Blocks), max(high, r.Blocks)
	}
	if low == high {
		return stretches(high)
	}
	return fmt.Sprintf("%d–%s", low, stretches(high))
}

// sides names the two sides: the policies and their settings, or of one policy the axes that differ:
// "market=spot" and "market=on_demand".
func sides(r record.ComparisonRow) (candidate, baseline string) {
	if r.CandidatePolicy != r.BaselinePolicy {
		// Axes on which they agree, and axes that only one of them reads, are named for each.
		c, b := r.CandidateAxes, r.BaselineAxes
		r.CandidateAxes, r.BaselineAxes = opposed(c, b), opposed(b, c)
	}
	candidate, baseline, _ = names(record.Plan{}, r)
	return candidate, baseline
}

// opposed are the axes of a list that another has with another value.
func opposed(axes, others []record.Setting) []record.Setting {
	return slices.DeleteFunc(differing(axes, others), func(a record.Setting) bool {
		return !slices.ContainsFunc(others, func(o record.Setting) bool { return o.Name == a.Name })
	})
}

// differing are the axes of a list that another has not, or with another value.
func differing(axes, others []record.Setting) []record.Setting {
	return schema.Where(axes, func(a record.Setting) bool { return !slices.Contains(others, a) })
}

// soleAxis is the axis by whose values alone the candidates differ; "" if several axes differ.
func soleAxis(rows []record.ComparisonRow) string {
	var values []string
	for _, r := range rows {
		if len(r.CandidateAxes) != 1 || r.CandidateAxes[0].Name != rows[0].CandidateAxes[0].Name ||
			slices.Contains(values, r.CandidateAxes[0].Value) {
			return ""
		}
		values = append(values, r.CandidateAxes[0].Value)
	}
	return rows[0].CandidateAxes[0].Name
}

// fewSettings reports whether the candidates differ by setting, policy and the remaining axes, and are few.
func fewSettings(rows []record.ComparisonRow) bool {
	var settings []string
	for _, r := range rows {
		if r.CandidatePolicy != r.BaselinePolicy || slices.Contains(settings, setting(r)) {
			return false
		}
		settings = append(settings, setting(r))
	}
	return len(settings) <= mostGroups
}

// setting names where a candidate is compared: "fcfs", "fcfs variant=original".
func setting(r record.ComparisonRow) string {
	if len(r.CandidateAxes) == 0 {
		return r.CandidatePolicy
	}
	return r.CandidatePolicy + " " + record.AxesLabel(r.CandidateAxes)
}

// changes writes a range of ratios as changes: "−12% to −3.0%", "2.4 to 2.6 times".
func changes(low, high float64) string {
	write := func(r float64) string { return table.Signed(r - 1) }
	times := ""
	if low >= 2 {
		write, times = table.Number, " times"
	}
	if write(low) == write(high) {
		return write(low) + times
	}
	return write(low) + " to " + write(high) + times
}

func metricTitle(name string) string {
	if m, ok := measure.MetricByName(name); ok {
		return m.Title
	}
	return name
}
