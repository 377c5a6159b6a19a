package prose

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Comparison is a comparison in words: "Round robin (rr) cut mean
// waiting time by 43% against fcfs, from 3.40 s to 1.94 s (95% interval
// 38–47%, 5 pairs, p = 0.0002)."
func Comparison(p record.Plan, r record.ComparisonRow) string {
	metric := r.Metric
	unit := ""
	if m, ok := measure.MetricByName(r.Metric); ok {
		metric, unit = m.Title, m.Unit
	}
	where := place(p, r)
	r, shared := withoutShared(r)
	where += shared
	switch r.Verdict {
	case record.NotEnoughReplicates:
		return fmt.Sprintf("Too few replicates to compare %s under %s and %s%s: %s; a verdict needs at least %d.",
			metric, r.Candidate, r.Baseline, where, plural(r.Pairs, "pair"), stats.MinPairs)
	case record.NoDifference:
		return fmt.Sprintf("No difference in %s was detected between %s and %s%s (%s).",
			metric, r.Candidate, r.Baseline, where, evidence(r, unit))
	}
	verb := "raised"
	if r.Difference < 0 {
		verb = "cut"
	}
	change := "against"
	switch {
	case !stats.Finite(r.Ratio):
	case r.Ratio >= 2:
		change = fmt.Sprintf("to %s times that of", Number(r.Ratio))
	default:
		change = "by " + percent(math.Abs(r.Ratio-1)) + " against"
	}
	return fmt.Sprintf("%s %s %s %s %s%s, from %s to %s (%s).", subject(p, r), verb, metric, change, r.Baseline, where,
		withUnit(r.BaselineMean, unit), withUnit(r.CandidateMean, unit), evidence(r, unit))
}

// withoutShared takes the axes from the names of both policies, when they are
// the same, and returns them in words: " at job_count=8 kind=fixed".
func withoutShared(r record.ComparisonRow) (record.ComparisonRow, string) {
	if r.CandidatePolicy == r.BaselinePolicy {
		return r, ""
	}
	if len(r.CandidateAxes) == 0 || !slices.Equal(r.CandidateAxes, r.BaselineAxes) {
		return r, ""
	}
	r.Candidate, r.Baseline = r.CandidatePolicy, r.BaselinePolicy
	return r, " at " + record.AxesLabel(r.CandidateAxes)
}

// evidence is what stands behind a verdict: "95% interval 38–47%, 5 pairs, p = 0.0002".
func evidence(r record.ComparisonRow, unit string) string {
	pairs := plural(r.Pairs, "pair")
	if r.Doubtful > 0 {
		pairs += fmt.Sprintf(" (%d disturbed from outside)", r.Doubtful)
	}
	if r.Method == "exact" {
		if r.Difference == 0 {
			return pairs + ", all equal"
		}
		return pairs + ", all with the same difference"
	}
	s := fmt.Sprintf("%s interval ", percent(r.Level))
	// A ratio whose interval reaches that far says less than the difference.
	const telling = 10
	switch known := stats.Finite(r.CILow) && r.CIHigh < telling*max(1, r.Ratio); {
	case known && r.Verdict == record.NoDifference:
		s += fmt.Sprintf("of the change %s to %s", signedPercent(r.CILow-1), signedPercent(r.CIHigh-1))
	case known && r.Ratio >= 2:
		s += fmt.Sprintf("%s–%s times", Number(r.CILow), Number(r.CIHigh))
	case known && r.Ratio >= 1:
		s += percentRange(r.CILow-1, r.CIHigh-1)
	case known:
		s += percentRange(1-r.CIHigh, 1-r.CILow)
	default:
		s += fmt.Sprintf("of the difference %s to %s", Number(r.DifferenceLow), withUnit(r.DifferenceHigh, unit))
	}
	s += ", " + pairs + ", " + PValue(r.PValue)
	if r.Candidates > 1 {
		s += fmt.Sprintf(" after Holm's correction for %d candidates", r.Candidates)
	}
	return s
}

// subject names the candidate with what it is: "Round robin (rr)".
func subject(p record.Plan, r record.ComparisonRow) string {
	for _, n := range p.Policies {
		if n.Name == r.CandidatePolicy && n.Title != "" {
			return fmt.Sprintf("%s (%s)", n.Title, r.Candidate)
		}
	}
	return r.Candidate
}

// place says where, when the experiment has more than one workload or machine.
func place(p record.Plan, r record.ComparisonRow) string {
	var s string
	if len(p.Workloads) > 1 {
		s += " on " + r.Workload
	}
	if len(p.Hardware) > 1 {
		s += " on " + r.Hardware
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
