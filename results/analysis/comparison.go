package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Comparison is a comparison in words: "rr cut mean waiting time by 43% against fcfs, from 3.40 s to 1.94 s (95%
// interval 38–47%, 5 pairs, p = 0.0002)."
func Comparison(p record.Plan, r record.ComparisonRow) string {
	unit := ""
	if m, ok := measure.MetricByName(r.Metric); ok {
		unit = m.Unit
	}
	metric := metricTitle(r.Metric) + ofJobs(r)
	candidate, baseline, where := names(p, r)
	begin := ""
	if alone(r) && isLog(p, r.Workload) {
		begin = "On this log, "
	}
	switch {
	case r.Verdict == record.NotEnoughReplicates:
		return fmt.Sprintf("Too few replicates to compare %s under %s and %s%s: %s.",
			metric, candidate, baseline, where, tooFew(r))
	case r.Verdict == record.NoDifference && r.Method == record.OneRun:
		return upper(fmt.Sprintf("%s%s is the same under %s and %s%s, %s (%s).", begin, metric, candidate, baseline, where,
			table.WithUnit(r.BaselineMean, unit), evidence(p, r, unit)))
	case r.Verdict == record.NoDifference:
		return fmt.Sprintf("No difference in %s was detected between %s and %s%s (%s).",
			metric, candidate, baseline, where, evidence(p, r, unit))
	}
	verb := "raised"
	if r.Difference < 0 {
		verb = "cut"
	}
	change := "against"
	switch {
	case !stats.Finite(r.Ratio):
	case r.Ratio >= 2:
		change = fmt.Sprintf("to %s times that of", table.Number(r.Ratio))
	default:
		change = "by " + table.Share(math.Abs(r.Ratio-1)) + " against"
	}
	return fmt.Sprintf("%s%s %s %s %s %s%s, from %s to %s (%s).", begin, candidate, verb, metric, change, baseline, where,
		table.WithUnit(r.BaselineMean, unit), table.WithUnit(r.CandidateMean, unit), evidence(p, r, unit))
}

// tooFew returns the reason that a comparison has no verdict.
func tooFew(r record.ComparisonRow) string {
	switch pairs := schema.Plural(r.Pairs, "pair"); {
	case r.Dropped > r.Pairs:
		return fmt.Sprintf("different jobs finished in %d of %s, so their metrics are over different jobs", r.Dropped,
			schema.Plural(r.Pairs+r.Dropped, "pair"))
	case r.Method == stats.SignFlips:
		return fmt.Sprintf("%s with the same difference can be chance; a verdict needs at least %d", pairs,
			stats.FewestAlike(r.Level))
	default:
		return fmt.Sprintf("%s; a verdict needs at least %d", pairs, stats.MinPairs)
	}
}

// alone reports whether a row compares two runs of one set of jobs, and not several replicates.
func alone(r record.ComparisonRow) bool { return r.Method == record.OneRun || r.Blocks > 0 }

// isLog reports whether a workload is a log.
func isLog(p record.Plan, workload string) bool {
	return slices.ContainsFunc(p.Workloads, func(n record.Named) bool { return n.Name == workload && n.Log })
}

// ofJobs names the jobs that a row is about: " of user u7"; nothing for all jobs.
func ofJobs(r record.ComparisonRow) string {
	switch {
	case r.By == "":
		return ""
	case r.By == "size":
		return " of jobs of " + GroupName(r.By, r.Group)
	}
	return " of " + r.By + " " + GroupName(r.By, r.Group)
}

// GroupName names a group of jobs for people.
func GroupName(by, group string) string {
	if group == "" {
		return "(no " + by + ")"
	}
	return group
}

// names returns the names of the two sides, made from their differences alone, and the setting that they share: "rr
// quantum=1s", "fcfs", " at load=0.9".
func names(p record.Plan, r record.ComparisonRow) (candidate, baseline, where string) {
	elsewhere := r.BaselineHardware != "" && r.BaselineHardware != r.Hardware
	other := r.BaselineWorkload != "" && r.BaselineWorkload != r.Workload
	var shared []record.Setting
	side := func(policy, hardware, workload string, axes, others []record.Setting) string {
		var parts []string
		if r.CandidatePolicy != r.BaselinePolicy {
			parts = append(parts, policy)
		}
		if label := record.AxesLabel(differing(axes, others)); label != "" {
			parts = append(parts, label)
		}
		name := strings.Join(parts, " ")
		switch {
		case elsewhere && name == "":
			name = hardware
		case elsewhere:
			name += " on " + hardware
		}
		switch {
		case other && name == "":
			name = workload
		case other:
			name += " of " + workload
		}
		if name == "" {
			return policy
		}
		return name
	}
	candidate = side(r.CandidatePolicy, r.Hardware, r.Workload, r.CandidateAxes, r.BaselineAxes)
	baseline = side(r.BaselinePolicy, r.BaselineHardware, r.BaselineWorkload, r.BaselineAxes, r.CandidateAxes)
	for _, s := range r.CandidateAxes {
		if slices.Contains(r.BaselineAxes, s) {
			shared = append(shared, s)
		}
	}
	if r.CandidatePolicy == r.BaselinePolicy && candidate != r.CandidatePolicy && len(p.Policies) > 1 {
		where = " under " + r.CandidatePolicy
	}
	if len(shared) > 0 {
		where += " at " + record.AxesLabel(shared)
	}
	where += place(p, r)
	return candidate, baseline, where
}

// upper writes a sentence with a capital letter.
func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// evidence returns the evidence for a verdict: "95% interval 38–47%, 5 pairs, p = 0.0002".
func evidence(p record.Plan, r record.ComparisonRow, unit string) string {
	pairs := pairsOf(r, schema.Plural(r.Pairs, "pair"))
	switch {
	case r.Method == record.OneRun && r.Blocks > 0:
		return fmt.Sprintf("one log of %s, no interval: that needs at least %d; a shorter block makes more",
			stretches(r.Blocks), stats.MinBlocks)
	case r.Method == record.OneRun && isLog(p, r.Workload):
		return "one log, no interval"
	case r.Method == record.OneRun:
		return "one run, no interval: nothing is drawn at random"
	case r.Method == "Welch's t":
		pairs = "replicates not paired: other jobs or seeds"
	case r.Blocks > 0:
		pairs = stretches(r.Blocks) + " of one log"
	}
	if r.Method == stats.SignFlips {
		if differs(r) {
			return pairs + ", all with the same difference, " + table.PValue(r.PValue)
		}
		return pairs + ", all equal"
	}
	s := fmt.Sprintf("%s interval ", table.Share(r.Level))
	// A ratio with an interval this wide is less informative than the difference.
	const telling = 10
	switch known := stats.Finite(r.CILow) && r.CIHigh < telling*max(1, r.Ratio); {
	case known && r.Verdict == record.NoDifference:
		s += fmt.Sprintf("of the change %s to %s", table.Signed(r.CILow-1), table.Signed(r.CIHigh-1))
	case known && r.Ratio >= 2:
		s += fmt.Sprintf("%s–%s times", table.Number(r.CILow), table.Number(r.CIHigh))
	case known && r.Ratio >= 1:
		s += table.PercentRange(r.CILow-1, r.CIHigh-1)
	case known:
		s += table.PercentRange(1-r.CIHigh, 1-r.CILow)
	default:
		s += fmt.Sprintf("of the difference %s", table.Between(r.DifferenceLow, r.DifferenceHigh, unit))
	}
	s += ", " + pairs + ", " + table.PValue(r.PValue)
	if r.Candidates > 1 {
		what := "candidates"
		if r.By != "" {
			what = "comparisons"
		}
		s += fmt.Sprintf(" after Holm's correction for %d %s", r.Candidates, what)
	}
	return s
}

// same is the verdict without a difference where nothing is random.
const same = "the same"

// Said is the verdict of a comparison, in words for a reader. Where nothing is random, runs without a
// difference are the same.
func Said(r record.ComparisonRow) string {
	if r.Method == record.OneRun && r.Verdict == record.NoDifference {
		return same
	}
	return r.Verdict
}

// differs reports whether the two sides of a comparison differ in any pair.
func differs(r record.ComparisonRow) bool {
	return r.Method != stats.SignFlips && Said(r) != same || r.Difference != 0
}

// stretches counts the stretches of a log.
func stretches(n int) string {
	if n == 1 {
		return "1 stretch"
	}
	return fmt.Sprintf("%d stretches", n)
}

// VariantOf names the variant that a row compares from one folder of results to another, and where it ran.
func VariantOf(p record.Plan, r record.ComparisonRow) string { return r.Candidate + place(p, r) }

// Change describes the change of a variant from one folder of results to another: "rr: mean JCT fell by 12%, from
// 4.00 s to 3.52 s (95% interval 8–16%, 5 pairs, p = 0.002)."
func Change(p record.Plan, r record.ComparisonRow) string {
	unit := ""
	if m, ok := measure.MetricByName(r.Metric); ok {
		unit = m.Unit
	}
	subject := fmt.Sprintf("%s: %s%s", VariantOf(p, r), metricTitle(r.Metric), ofJobs(r))
	switch r.Verdict {
	case record.NotEnoughReplicates:
		return fmt.Sprintf("%s was %s and is %s; too few replicates for a verdict: %s.", subject,
			table.WithUnit(r.BaselineMean, unit), table.WithUnit(r.CandidateMean, unit), tooFew(r))
	case record.NoDifference:
		if r.Method == record.OneRun {
			return fmt.Sprintf("%s is the same, %s (%s).", subject, table.WithUnit(r.BaselineMean, unit), evidence(p, r, unit))
		}
		return fmt.Sprintf("%s: no difference detected, %s and %s (%s).", subject, table.WithUnit(r.BaselineMean, unit),
			table.WithUnit(r.CandidateMean, unit), evidence(p, r, unit))
	}
	verb := "rose"
	if r.Difference < 0 {
		verb = "fell"
	}
	by := ""
	if stats.Finite(r.Ratio) {
		by = " by " + table.Share(math.Abs(r.Ratio-1))
	}
	return fmt.Sprintf("%s %s%s, from %s to %s (%s).", subject, verb, by, table.WithUnit(r.BaselineMean, unit),
		table.WithUnit(r.CandidateMean, unit), evidence(p, r, unit))
}

// ComparisonTable is the table of comparisons as text: workload and hardware appear when there is more than one, and
// the
// jobs that are compared when a comparison is of a class, user or size.
func ComparisonTable(p record.Plan, rows []record.ComparisonRow) table.Table {
	places := len(p.Workloads) > 1 || len(p.Hardware) > 1
	groups := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.By != "" })
	text := []string{"metric", "candidate", "against", "verdict"}
	if groups {
		text = slices.Insert(text, 1, "jobs")
	}
	if places {
		text = append(text, "workload", "hardware")
	}
	t := table.New(len(text), append(text, "ratio", "interval", "p", "pairs",
		"mean of candidate", "mean of baseline", "difference", "interval", "method")...)
	for _, r := range rows {
		t.Add(comparisonRow(r, places, groups)...)
	}
	return t
}

// comparisonRow is a row of the table of comparisons; with its workload and hardware, and the jobs that it is of, where
// the table has columns for them.
func comparisonRow(r record.ComparisonRow, places, groups bool) []string {
	m, _ := measure.MetricByName(r.Metric)
	unit, plain := table.UnitFor(m.Unit, r.BaselineMean, r.CandidateMean), table.Unit{Per: 1}
	interval := func(u table.Unit, low, high float64) string {
		if u.Number(low) == "–" || u.Number(high) == "–" {
			return "–"
		}
		return u.Number(low) + " to " + u.With(high)
	}
	row := []string{metricTitle(r.Metric), r.Candidate, r.Baseline, Said(r)}
	if groups {
		jobs := "all"
		if r.By != "" {
			jobs = GroupName(r.By, r.Group)
		}
		row = slices.Insert(row, 1, jobs)
	}
	if places {
		row = append(row, r.Workload, r.Hardware)
	}
	return append(row,
		table.Number(r.Ratio), interval(plain, r.CILow, r.CIHigh), table.P(r.PValue), fmt.Sprint(r.Pairs),
		unit.With(r.CandidateMean), unit.With(r.BaselineMean), unit.With(r.Difference),
		interval(unit, r.DifferenceLow, r.DifferenceHigh), r.Method)
}
