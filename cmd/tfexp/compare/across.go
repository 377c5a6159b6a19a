package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// across compares variants that exist in two folders of results, for example before and after a change of code.
// Replicates are paired if both have the same seed and the same jobs; otherwise their means are compared. For each
// metric, Holm's correction covers all variants.
func across(before, after *record.Experiment, metrics []measure.Metric, by string,
	level float64) []record.ComparisonRow {
	old := analysis.Variants(before)
	jobs := [2]map[string]string{jobLines(before), jobLines(after)}
	var rows []record.ComparisonRow
	for _, m := range metrics {
		from := len(rows)
		var tests []analysis.Test
		for _, v := range analysis.Variants(after) {
			base, ok := sameVariant(v, old)
			if !ok {
				continue
			}
			for _, g := range analysis.GroupNames([]analysis.Variant{base}, by) {
				of := analysis.Value{Metric: m, By: by, Group: g}
				row, run := analysis.Contrast(base, v, of, level)
				if row.Missing = 0; !paired(base, v, jobs) {
					run = func(level float64) stats.Paired { return compareMeans(known(base, of), known(v, of), level) }
					row.Doubtful, row.Dropped, row.NoLength, row.Skewness = 0, 0, 0, math.NaN()
					analysis.Fill(&row, run(level), level)
				}
				rows, tests = append(rows, row), append(tests, run)
			}
		}
		analysis.Correct(rows[from:], tests, m, 0)
	}
	return rows
}

// unsharedBy returns the variants of the experiment of that the experiment other lacks.
func unsharedBy(other, of *record.Experiment) []analysis.Variant {
	all := analysis.Variants(other)
	return slices.DeleteFunc(analysis.Variants(of), func(v analysis.Variant) bool {
		_, ok := sameVariant(v, all)
		return ok
	})
}

// sameVariant returns the variant in all with the same name, workload and hardware.
func sameVariant(v analysis.Variant, all []analysis.Variant) (analysis.Variant, bool) {
	for _, o := range all {
		if o.Label == v.Label && o.Workload == v.Workload && o.Hardware == v.Hardware {
			return o, true
		}
	}
	return analysis.Variant{}, false
}

// paired reports whether the replicates of a variant in two folders have the same seeds and jobs.
func paired(base, v analysis.Variant, jobs [2]map[string]string) bool {
	for _, x := range base.Cells {
		for _, y := range v.Cells {
			line := jobs[0][x.Cell]
			if x.Replicate == y.Replicate && (x.Seed != y.Seed || line == "" || line != jobs[1][y.Cell]) {
				return false
			}
		}
	}
	return len(base.Cells) > 0 && len(v.Cells) > 0
}

// known returns the finite values of a variant's cells.
func known(v analysis.Variant, of analysis.Value) []float64 {
	var values []float64
	for i := range v.Cells {
		if value := of.In(&v.Cells[i]); stats.Finite(value) {
			values = append(values, value)
		}
	}
	return values
}

// jobLines returns, by cell name, the line of the cell's key that describes its jobs.
func jobLines(e *record.Experiment) map[string]string {
	lines := map[string]string{}
	for _, c := range e.Cells {
		description, err := e.Description(c.CellRef)
		if err != nil {
			continue // replicates of this cell are not paired
		}
		for line := range strings.Lines(description) {
			if text := strings.TrimSpace(line); strings.HasPrefix(text, "workload.jobs ") {
				lines[c.Cell] = text
			}
		}
	}
	return lines
}

// said describes the change of a metric of a variant: "rr: mean JCT falls by 12% (8–16%), from 4.00 s to 3.52 s (5
// pairs, p = 0.002)."
func said(p record.Plan, r *record.ComparisonRow) string {
	c := analysis.ChangeOf(r)
	text := fmt.Sprintf("%s: %s%s %s", analysis.VariantOf(p, *r), c.Metric.Title, analysis.OfJobs(*r), c.Course())
	if evidence := analysis.Evidence(*r); evidence != "" {
		text += " (" + evidence + ")"
	}
	return text + "."
}
