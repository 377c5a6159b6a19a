package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Across compares the variants that two folders of results share, such as before and after a change of code or
// machine: each of the first folder with the same one of the second. Replicates are paired where both had the
// same seed and the same jobs; otherwise the two sets of replicates are compared as they are. Holm's correction
// is over the variants, for each metric.
func Across(before, after *record.Experiment, metrics []measure.Metric, by string,
	level float64) []record.ComparisonRow {
	old := Variants(before)
	jobs := [2]map[string]string{jobLines(before), jobLines(after)}
	var rows []record.ComparisonRow
	for _, m := range metrics {
		from := len(rows)
		var tests []test
		for _, v := range Variants(after) {
			base, ok := sameVariant(v, old)
			if !ok {
				continue
			}
			for _, g := range base.groups(by) {
				row, run := across(base, v, value{m, by, g}, level, jobs)
				rows, tests = append(rows, row), append(tests, run)
			}
		}
		adjust(rows[from:], tests, m, 0)
	}
	return rows
}

// Unshared are the variants of a folder of results that another has not.
func Unshared(of, other *record.Experiment) []Variant {
	all := Variants(other)
	return slices.DeleteFunc(Variants(of), func(v Variant) bool {
		_, ok := sameVariant(v, all)
		return ok
	})
}

// sameVariant finds the variant of the same name on the same workload and hardware.
func sameVariant(v Variant, all []Variant) (Variant, bool) {
	for _, o := range all {
		if o.Label == v.Label && o.Workload == v.Workload && o.Hardware == v.Hardware {
			return o, true
		}
	}
	return Variant{}, false
}

// across compares a variant with the same of another folder.
func across(base, v Variant, of value, level float64, jobs [2]map[string]string) (record.ComparisonRow, test) {
	paired := len(base.Cells) > 0 && len(v.Cells) > 0
	for _, x := range base.Cells {
		for _, y := range v.Cells {
			if x.Replicate == y.Replicate {
				line := jobs[0][x.Cell]
				paired = paired && x.Seed == y.Seed && line != "" && line == jobs[1][y.Cell]
			}
		}
	}
	row := record.ComparisonRow{
		Metric: of.metric.Name, Workload: v.Workload, Hardware: v.Hardware, By: of.by, Group: of.group,
		Baseline: base.Label, Candidate: v.Label, BaselinePolicy: base.Policy, CandidatePolicy: v.Policy,
		BaselineAxes: base.Axes, CandidateAxes: v.Axes, BaselineHardware: base.Hardware, BaselineWorkload: base.Workload,
		Skewness: math.NaN(),
	}
	b, c, lost := pairs(base, v, of)
	var run test
	switch {
	case paired && base.fixed() && v.fixed() && len(b) > 0:
		run, row.Doubtful, row.Dropped = oneRun(b, c), lost.doubtful, lost.dropped
	case paired:
		run, row.Doubtful, row.Dropped = lost.test(b, c), lost.doubtful, lost.dropped
		row.NoLength = lost.noLength
	default:
		run = func(level float64) stats.Paired { return stats.CompareMeans(of.known(base), of.known(v), level) }
	}
	fill(&row, run(level), level)
	row.Skewness = skewness(b, c, row.Method)
	return row, run
}

// known are the values of a variant's cells, as far as they are known.
func (x value) known(v Variant) []float64 {
	var values []float64
	for i := range v.Cells {
		if value := x.of(&v.Cells[i]); stats.Finite(value) {
			values = append(values, value)
		}
	}
	return values
}

// jobLines returns the line of each cell's key that describes its jobs.
func jobLines(e *record.Experiment) map[string]string {
	lines := map[string]string{}
	for _, c := range e.Cells {
		description, err := e.Description(c.CellRef)
		if err != nil {
			continue // then its replicates are not paired
		}
		for line := range strings.Lines(description) {
			if text := strings.TrimSpace(line); strings.HasPrefix(text, "workload.jobs ") {
				lines[c.Cell] = text
			}
		}
	}
	return lines
}
