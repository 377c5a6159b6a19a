package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// DefaultLevel is the level of confidence intervals where the experiment does
// not name one.
const DefaultLevel = 0.95

// Variant is a policy with its axes on one workload and hardware: the cells
// that differ in nothing but their replicate.
type Variant struct {
	Workload, Hardware, Policy string
	// Label is the policy with its axes: "rr quantum=500ms".
	Label string
	Axes  []record.Setting
	// Planned counts the cells of the plan; Cells are those that are complete.
	Planned int
	Cells   []record.Cell
}

// Variants groups the plan's cells, in the order of the plan.
func Variants(e *record.Experiment) []Variant {
	type place struct{ workload, hardware, label string }
	var out []Variant
	at := map[place]int{}
	index := func(c record.CellRef) int {
		p := place{c.Workload, c.Hardware, c.Variant()}
		i, ok := at[p]
		if !ok {
			i = len(out)
			at[p] = i
			out = append(out, Variant{Workload: c.Workload, Hardware: c.Hardware, Policy: c.Policy, Label: p.label,
				Axes: c.Axes})
		}
		return i
	}
	for _, c := range e.Plan.Cells {
		out[index(c)].Planned++
	}
	for _, c := range e.Cells {
		v := &out[index(c.CellRef)]
		v.Cells = append(v.Cells, c)
	}
	return out
}

// Values are a metric's in the complete cells; NaN where it is not known.
func (v Variant) Values(m measure.Metric) []float64 {
	values := make([]float64, len(v.Cells))
	for i := range v.Cells {
		values[i] = m.Of(&v.Cells[i].Metrics)
	}
	return values
}

// Comparisons compares, for each comparison that the plan asks for and each
// workload and hardware, every other policy's variants with the baseline's.
// Axes that both read must have the same value; axes that only one of them
// reads do not matter, so a baseline without a quantum is compared with every
// quantum. Cells are paired by replicate, and a pair counts when the same jobs
// finished in both cells: otherwise the metrics are over different jobs. Holm's correction is over the candidates of
// one baseline.
func Comparisons(e *record.Experiment) []record.ComparisonRow {
	variants := Variants(e)
	var rows []record.ComparisonRow
	for _, c := range e.Plan.Compares {
		m, ok := measure.MetricByName(c.Metric)
		if !ok {
			continue
		}
		for _, base := range variants {
			switch {
			case c.Baseline != "" && base.Policy != c.Baseline || !base.at(c.At):
			case c.At == nil:
				rows = append(rows, compareWith(base, candidates(base, variants), m, c.Level)...)
			default:
				rows = append(rows, compareWith(base, elsewhere(base, variants, c.At), m, c.Level)...)
			}
		}
	}
	return rows
}

// value is that of an axis of a variant, or its hardware or workload; false for an axis that it does not read.
func (v *Variant) value(axis string) (string, bool) {
	switch axis {
	case "hardware":
		return v.Hardware, true
	case "workload":
		return v.Workload, true
	}
	for _, a := range v.Axes {
		if a.Name == axis {
			return a.Value, true
		}
	}
	return "", false
}

// Meets reports whether a variant is at some values of axes, of hardware, workload and policy; one that does not read an
// axis is at all of its values.
func (v *Variant) Meets(at []record.Setting) bool {
	for _, s := range at {
		is, ok := v.value(s.Name)
		if s.Name == "policy" {
			is, ok = v.Policy, true
		}
		if ok && is != s.Value {
			return false
		}
	}
	return true
}

// at reports whether a variant is at some values of axes.
func (v *Variant) at(values []record.Setting) bool {
	for _, s := range values {
		if is, ok := v.value(s.Name); !ok || is != s.Value {
			return false
		}
	}
	return true
}

// labelFrom is the label of a variant as another sees it: with its hardware and its workload, where these are others.
func (v *Variant) labelFrom(o Variant) string {
	label := v.Label
	if v.Hardware != o.Hardware {
		label += " on " + v.Hardware
	}
	if v.Workload != o.Workload {
		label += " of " + v.Workload
	}
	return label
}

// candidates are the variants of other policies that a baseline is compared with.
func candidates(base Variant, variants []Variant) []Variant {
	return slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool {
		return v.Policy == base.Policy || v.Workload != base.Workload || v.Hardware != base.Hardware || !agree(base.Axes, v.Axes)
	})
}

// elsewhere are the variants of the same policy that differ from a baseline in some axes, and in nothing else.
func elsewhere(base Variant, variants []Variant, axes []record.Setting) []Variant {
	named := func(axis string) bool {
		return slices.ContainsFunc(axes, func(s record.Setting) bool { return s.Name == axis })
	}
	return slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool {
		if v.Policy != base.Policy || v.at(axes) || !named("hardware") && v.Hardware != base.Hardware ||
			!named("workload") && v.Workload != base.Workload {
			return true
		}
		for _, s := range base.Axes {
			if value, ok := v.value(s.Name); ok && value != s.Value && !named(s.Name) {
				return true
			}
		}
		return false
	})
}

// compareWith compares a baseline with its candidates.
func compareWith(base Variant, variants []Variant, m measure.Metric, level float64) []record.ComparisonRow {
	if !(level > 0 && level < 1) {
		level = DefaultLevel
	}
	var rows []record.ComparisonRow
	var p []float64
	for _, v := range variants {
		b, c, doubtful := pairs(base, v, m)
		stream := strings.Join([]string{"compare", m.Name, v.Workload, v.Hardware, base.Label, v.Label}, "/")
		r := stats.ComparePairs(b, c, level, stream)
		rows = append(rows, record.ComparisonRow{
			Metric: m.Name, Workload: v.Workload, Hardware: v.Hardware, Baseline: base.labelFrom(v), Candidate: v.Label,
			BaselinePolicy: base.Policy, CandidatePolicy: v.Policy, BaselineAxes: base.Axes, CandidateAxes: v.Axes,
			Pairs: r.Pairs, BaselineMean: r.BaselineMean, CandidateMean: r.CandidateMean,
			// The metrics are never below 0, so neither is a ratio of their means.
			Ratio: r.Ratio, CILow: max(0, r.RatioLow), CIHigh: r.RatioHigh, RawP: r.P,
			Difference: r.Difference, DifferenceLow: r.DifferenceLow, DifferenceHigh: r.DifferenceHigh,
			Level: level, Method: r.Method, Doubtful: doubtful,
		})
		p = append(p, r.P)
	}
	for i, adjusted := range stats.Holm(p) {
		rows[i].PValue = adjusted
		rows[i].Candidates = len(rows)
		rows[i].Verdict = verdict(rows[i], m)
	}
	return rows
}

func verdict(r record.ComparisonRow, m measure.Metric) string {
	switch {
	case math.IsNaN(r.PValue):
		return record.NotEnoughReplicates
	case r.PValue >= 1-r.Level:
		return record.NoDifference
	case (r.Difference > 0) == m.HigherBetter:
		return record.Better
	}
	return record.Worse
}

// agree reports whether all axes that both lists have are set alike.
func agree(a, b []record.Setting) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Name == y.Name && x.Value != y.Value {
				return false
			}
		}
	}
	return true
}

// pairs lists a metric of both variants, one pair a replicate that both have, and
// counts those with a cell that was disturbed.
func pairs(base, candidate Variant, m measure.Metric) (b, c []float64, doubtful int) {
	for i := range base.Cells {
		for j := range candidate.Cells {
			x, y := &base.Cells[i], &candidate.Cells[j]
			if x.Replicate != y.Replicate || !sameJobs(x, y) {
				continue
			}
			if u, v := m.Of(&x.Metrics), m.Of(&y.Metrics); stats.Finite(u) && stats.Finite(v) {
				b, c = append(b, u), append(c, v)
				if x.Troubled() || y.Troubled() {
					doubtful++
				}
			}
		}
	}
	return b, c, doubtful
}

// sameJobs reports whether the same jobs finished in two cells. Beyond
// MaxFailures their names are not known, and then they are not the same.
func sameJobs(a, b *record.Cell) bool {
	if measure.Finished.CountOf(&a.Metrics) != measure.Finished.CountOf(&b.Metrics) || a.Error != "" || b.Error != "" {
		return false
	}
	failed := func(c *record.Cell) []string {
		var names []string
		for _, f := range c.Failures {
			names = append(names, f.Job)
		}
		slices.Sort(names)
		return names
	}
	return measure.Failed.CountOf(&a.Metrics) <= measure.MaxFailures && slices.Equal(failed(a), failed(b))
}
