package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Comparison returns a comparison as a sentence: "rr cuts mean waiting time by 43% (38–47%) against fcfs (5 pairs, p =
// 0.0002)."
func Comparison(p record.Plan, r record.ComparisonRow) string {
	candidate, baseline, where := names(p, r)
	c := ChangeOf(&r)
	c.Metric.Title += OfJobs(r)
	begin := ""
	if alone(r) && isLog(p, r.Workload) {
		begin = "on this log, "
	}
	text := begin + c.Clause(candidate, baseline, where)
	if r.Blocks > 0 {
		text += "; " + elsewhereOf(&r)
	}
	if said := Evidence(r); said != "" && (c.Finding != unclear || len(quality(r)) > 0) {
		text += " (" + said + ")"
	}
	return sentence(text, candidate)
}

// Evidence is the basis of a verdict: "5 pairs, p = 0.0002"; "" for runs in which nothing is random.
func Evidence(r record.ComparisonRow) string {
	pairs := schema.Plural(r.Pairs, "pair")
	switch {
	case r.Blocks > 0:
		pairs = plural(r.Blocks, "stretch") + " of one log"
	case r.Method == record.OneRun:
		return ""
	case r.Method == stats.SignFlips:
		pairs += ", all with the same difference"
	case r.Method == stats.Welch:
		pairs = "runs of two folders, not paired"
	}
	if r.Verdict == record.NotEnoughReplicates && !Undetected(&r) {
		return pairsOf(r, pairs)
	}
	return pairsOf(r, pairs) + ", " + table.PValue(r.PValue)
}

// elsewhereOf returns a clause that says whether other days of a log would show its difference.
func elsewhereOf(r *record.ComparisonRow) string {
	switch c := beyond(r); {
	case c.Finding == equal:
		return "every stretch of the log has it"
	case c.Finding == noDifference:
		return "other days may show " + c.Signed()
	case c.Finding == unclear:
		return fmt.Sprintf("%s of the log are too few to say whether other days would show it: %s",
			plural(r.Blocks, "stretch"), c.Few)
	case c.Few != "":
		return "other days would show the same side, but too few stretches say by how much: " + c.Few
	default:
		return "other days would show " + c.amount()
	}
}

// VariantOf names the variant that a row compares from one folder of results to another, and where it ran.
func VariantOf(p record.Plan, r record.ComparisonRow) string { return r.Candidate + place(p, r) }

// alone reports whether a row compares one run with one other run, on the same jobs, and not several replicates.
func alone(r record.ComparisonRow) bool { return r.Method == record.OneRun || r.Blocks > 0 }

// isLog reports whether a workload is a log.
func isLog(p record.Plan, workload string) bool {
	return slices.ContainsFunc(p.Workloads, func(n record.Named) bool { return n.Name == workload && n.Log })
}

// OfJobs names the jobs that a row is about: " of user u7"; nothing for all jobs.
func OfJobs(r record.ComparisonRow) string {
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

// names returns the names of the two sides, with only the axes in which they differ, and the setting that both have:
// "rr quantum=1s", "fcfs", " at load=0.9".
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

// ComparisonTable is the table of comparisons as text: workload and hardware appear when there is more than one, and
// the jobs that are compared when a comparison is of a class, user or size. On a log, the verdict is the difference on
// this log, and p is of the verdict on other days.
func ComparisonTable(p record.Plan, rows []record.ComparisonRow) table.Table {
	places := len(p.Workloads) > 1 || len(p.Hardware) > 1
	groups := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.By != "" })
	text := []string{"metric", "candidate", "against", "verdict"}
	if groups {
		text = slices.Insert(text, 1, "jobs")
	}
	days := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.Blocks > 0 })
	if days {
		text = append(text, "on other days")
	}
	if places {
		text = append(text, "workload", "hardware")
	}
	t := table.New(len(text), append(text, "change", "p", "pairs", "mean of candidate", "mean of baseline")...)
	for i := range rows {
		r := &rows[i]
		c := ChangeOf(r)
		line := []string{c.Metric.Title, r.Candidate, r.Baseline, c.Word()}
		if groups {
			jobs := "all"
			if r.By != "" {
				jobs = GroupName(r.By, r.Group)
			}
			line = slices.Insert(line, 1, jobs)
		}
		if days {
			verdict := "" // nothing is known of other days
			if c := beyond(r); r.Blocks > 0 && c.Finding == unclear {
				verdict = "the log is too short"
			} else if r.Blocks > 0 {
				verdict = c.Word()
			}
			line = append(line, verdict)
		}
		if places {
			line = append(line, r.Workload, r.Hardware)
		}
		t.Add(append(line, c.Signed(), table.P(r.PValue), fmt.Sprint(r.Pairs), c.value(c.To), c.value(c.From))...)
	}
	return t
}

// place names the workload and the hardware of a row, each if both sides have it and the experiment has more than one.
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

// placed names a workload and a hardware, each if the experiment has more than one; else "".
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

// differing returns the axes that others does not have, or has with another value.
func differing(axes, others []record.Setting) []record.Setting {
	return schema.Where(axes, func(a record.Setting) bool { return !slices.Contains(others, a) })
}
