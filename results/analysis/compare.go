package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// DefaultLevel is the level of confidence intervals where the experiment does
// not name one.
const DefaultLevel = 0.95

// Variant is a policy with its axes on one workload and hardware: the cells
// that differ only in their replicate.
type Variant struct {
	Workload, Hardware, Policy string
	// Label is the policy with its axes: "rr quantum=500ms".
	Label string
	Axes  []record.Setting
	// Planned counts the cells of the plan; Cells are the complete ones.
	Planned int
	Cells   []record.Cell
	missed  []limit
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
	for i := range out {
		out[i].missed = missedBy(e.Plan, &out[i])
	}
	return out
}

// Values returns the values of a metric in the complete cells; NaN where a value is unknown.
func (v Variant) Values(m measure.Metric) []float64 {
	values := make([]float64, len(v.Cells))
	for i := range v.Cells {
		values[i] = m.Of(&v.Cells[i].Metrics)
	}
	return values
}

// Comparisons makes the comparisons that the plan asks for, on each workload and hardware unless these are compared.
//
// A baseline that is a policy is compared with every other policy's variants. Axes that both read must have the
// same value; axes that only one of them reads do not matter, so a baseline without a quantum is compared with
// every quantum. A baseline that is at values of axes is compared with the variants that differ from it only in
// these.
//
// Cells are paired by replicate. A pair counts when the same jobs finished in both cells, since otherwise the
// metrics are over different jobs; numbers of jobs do not need this. Cells without randomness count once. Holm's
// correction is over the comparisons with one baseline, and intervals have the width that it requires.
func Comparisons(e *record.Experiment) ([]record.ComparisonRow, error) {
	variants := Variants(e)
	var rows []record.ComparisonRow
	for _, c := range e.Plan.Compares {
		more, err := comparisonsOf(e, variants, c)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// comparisonsOf makes the comparisons of one compare block.
func comparisonsOf(e *record.Experiment, variants []Variant, c record.Compare) (rows []record.ComparisonRow, err error) {
	m, ok := measure.MetricByName(c.Metric)
	for _, base := range variants {
		if !ok || c.Baseline != "" && base.Policy != c.Baseline || !base.at(c.At) {
			continue
		}
		others := elsewhere
		if c.At == nil {
			others = candidates
		}
		more, err := compareWith(e, base, others(base, variants, c.At), m, c, 0)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// value returns a variant's value on an axis, where policy, hardware and workload are axes, too. It returns false for
// an axis that the variant does not read.
func (v *Variant) value(axis string) (string, bool) {
	switch axis {
	case "hardware":
		return v.Hardware, true
	case "workload":
		return v.Workload, true
	case "policy":
		return v.Policy, true
	}
	for _, a := range v.Axes {
		if a.Name == axis {
			return a.Value, true
		}
	}
	return "", false
}

// Meets reports whether a variant has the given values of axes. A variant that does not read an axis has all of its
// values.
func (v *Variant) Meets(at []record.Setting) bool {
	for _, s := range at {
		if is, ok := v.value(s.Name); ok && is != s.Value {
			return false
		}
	}
	return true
}

// at reports whether a variant reads the given axes and has these values.
func (v *Variant) at(values []record.Setting) bool {
	for _, s := range values {
		if is, ok := v.value(s.Name); !ok || is != s.Value {
			return false
		}
	}
	return true
}

// labelFrom returns the label of a variant, with its hardware and its workload if those of the other variant differ.
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

// candidates returns the variants of other policies with which a baseline is compared.
func candidates(base Variant, variants []Variant, _ []record.Setting) []Variant {
	return slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool {
		return v.Policy == base.Policy || v.Workload != base.Workload || v.Hardware != base.Hardware ||
			!agree(base.Axes, v.Axes)
	})
}

// elsewhere returns the variants that differ from a baseline in the given axes, and in nothing else.
func elsewhere(base Variant, variants []Variant, axes []record.Setting) []Variant {
	named := func(axis string) bool {
		return slices.ContainsFunc(axes, func(s record.Setting) bool { return s.Name == axis })
	}
	return slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool {
		if v.at(axes) || !named("policy") && v.Policy != base.Policy || !named("hardware") && v.Hardware != base.Hardware ||
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

// compareWith compares a baseline with its candidates, within each group of jobs if c.By is set. Unseen is a number of
// further comparisons that Holm's correction counts.
func compareWith(
	e *record.Experiment, base Variant, variants []Variant, m measure.Metric, c record.Compare, unseen int,
) ([]record.ComparisonRow, error) {
	if !(c.Level > 0 && c.Level < 1) {
		c.Level = DefaultLevel
	}
	var rows []record.ComparisonRow
	var tests []Test
	for _, v := range variants {
		for _, g := range base.groups(c.By) {
			row, run, err := compare(e, base, v, Value{m, c.By, g}, c)
			if err != nil {
				return nil, err
			}
			rows, tests = append(rows, row), append(tests, run)
		}
	}
	Correct(rows, tests, m, unseen)
	return rows, nil
}

// Test compares the values of a row at a level.
type Test func(level float64) stats.Paired

// Correct gives the rows of one baseline their verdicts after Holm's correction, and intervals that agree with the
// verdicts. Unseen is a number of further comparisons that the correction counts.
func Correct(rows []record.ComparisonRow, tests []Test, m measure.Metric, unseen int) {
	p := schema.Each(rows, func(r record.ComparisonRow) float64 { return r.RawP })
	for i, adjusted := range stats.Holm(append(p, slices.Repeat([]float64{1}, unseen)...))[:len(p)] {
		row := &rows[i]
		row.PValue, row.Candidates = adjusted, len(rows)
		if row.RawP < adjusted && row.RawP < 1-row.Level {
			by := min(adjusted/row.RawP, float64(len(rows)+unseen))
			Fill(row, tests[i](1-(1-row.Level)/by), row.Level)
			row.RawP = p[i]
		}
		row.Verdict = verdict(*row, m)
	}
}

// Contrast compares two variants on a value, in pairs of replicates. The row has no verdict yet: see Correct.
func Contrast(base, v Variant, of Value, level float64) (record.ComparisonRow, Test) {
	b, c, lost := pairs(base, v, of)
	run := lost.test(b, c)
	if len(b) > 0 && base.fixed() && v.fixed() { // without chance, replicates are copies: they count as one pair
		run = oneRun(b, c)
	}
	row := record.ComparisonRow{
		Metric: of.Name, Workload: v.Workload, Hardware: v.Hardware, By: of.By, Group: of.Group,
		Baseline: base.labelFrom(v), Candidate: v.labelFrom(base),
		BaselinePolicy: base.Policy, CandidatePolicy: v.Policy, BaselineAxes: base.Axes, CandidateAxes: v.Axes,
		BaselineHardware: base.Hardware, BaselineWorkload: base.Workload,
		Doubtful: lost.doubtful, Dropped: lost.dropped, NoLength: lost.noLength, Skewness: math.NaN(),
	}
	if Fill(&row, run(level), level); row.Method != record.OneRun {
		row.Skewness = skewness(b, c, row.Method)
		row.Missing = max(0, min(base.Planned, v.Planned)-len(b)-lost.dropped-lost.unknown)
	}
	return row, run
}

// compare is Contrast. For a log it adds the interval from resampled stretches.
func compare(
	e *record.Experiment, base, v Variant, of Value, asked record.Compare,
) (record.ComparisonRow, Test, error) {
	row, run := Contrast(base, v, of, asked.Level)
	if row.Method != record.OneRun {
		run = lookAt(e, asked, &row, run)
		Fill(&row, run(asked.Level), asked.Level)
		return row, run, nil
	}
	if asked.Block <= 0 {
		return row, run, nil
	}
	resampled, err := resample(e, base, v, of, asked)
	if err != nil {
		return record.ComparisonRow{}, nil, err
	}
	if row.Blocks = len(resampled); row.Blocks >= stats.MinBlocks {
		run = func(level float64) stats.Paired { return stats.CompareBlocks(resampled, level, of.stream(base, v)) }
		Fill(&row, run(asked.Level), asked.Level)
	}
	return row, run, nil
}

// interim is the part of the error for the results of an unfinished run, because somebody may stop the run when they
// like its results. Complete results have the whole error.
const interim = 0.1

// lookAt is a test of a row at one of several looks: its intervals are wider and its p-values larger, since the looks
// share the error. The test is as it is where the number of pairs is fixed and all are there.
func lookAt(e *record.Experiment, asked record.Compare, row *record.ComparisonRow, run Test) Test {
	looks, planned, part := asked.Looks, asked.Planned, 1.0
	switch most := e.Plan.Replicates; {
	case !e.Complete() && most > stats.MinPairs && (row.Missing > 0 || looks == nil): // not at a look
		looks, planned, part = stats.Looks(most), most, interim
	case looks == nil:
		return run
	case planned == 0:
		planned = looks[len(looks)-1]
	}
	look := stats.LookAt(looks, planned, row.Pairs, asked.Level)
	return func(level float64) stats.Paired {
		r := run(look.Level(1 - part*(1-level)))
		r.P = min(1, look.P(r.P)/part)
		return r
	}
}

// oneRun returns the comparison of two runs in which nothing is drawn at random.
func oneRun(b, c []float64) Test {
	return func(level float64) stats.Paired {
		r := stats.ComparePairs(b[:1], c[:1], level)
		r.Method = record.OneRun
		return r
	}
}

// losses counts pairs by problem. Dropped: different jobs finished in their cells. Unknown: the value is not known.
// Doubtful pairs remain, though one of their cells was disturbed; noLength counts those whose value leaves out jobs
// of zero length.
type losses struct{ dropped, unknown, doubtful, noLength int }

// test returns the comparison of the pairs. It returns one without a result if most pairs were left out, since the
// others do not represent them.
func (l losses) test(b, c []float64) Test {
	return func(level float64) stats.Paired {
		r := stats.ComparePairs(b, c, level)
		if l.dropped > len(b) {
			nan := math.NaN()
			r.P, r.DifferenceLow, r.DifferenceHigh, r.RatioLow, r.RatioHigh = nan, nan, nan, nan, nan
		}
		return r
	}
}

// Fill puts the outcome of a comparison into its row.
func Fill(row *record.ComparisonRow, r stats.Paired, level float64) {
	row.Pairs, row.BaselineMean, row.CandidateMean = r.Pairs, r.BaselineMean, r.CandidateMean
	// The metrics are never below 0, so neither is a ratio of their means.
	row.Ratio, row.CILow, row.CIHigh, row.RawP = r.Ratio, max(0, r.RatioLow), r.RatioHigh, r.P
	row.Difference, row.DifferenceLow, row.DifferenceHigh = r.Difference, r.DifferenceLow, r.DifferenceHigh
	row.Level, row.Method = level, r.Method
}

// Value is the compared quantity: a metric, of all jobs or of a group.
type Value struct {
	measure.Metric
	By, Group string
}

// In returns the value in a cell; NaN where it is not known.
func (x Value) In(c *record.Cell) float64 {
	if x.By == "" {
		return x.Metric.Of(&c.Metrics)
	}
	for i := range c.Groups {
		if g := &c.Groups[i]; g.By == x.By && g.Name == x.Group {
			return x.Metric.Of(&g.Metrics)
		}
	}
	return math.NaN()
}

// stream names the random numbers of a comparison.
func (x Value) stream(base, v Variant) string {
	path := []string{"compare", x.Name, v.Workload, v.Hardware, base.Label, v.Label}
	if x.By != "" {
		path = append(path, x.By, x.Group)
	}
	return strings.Join(path, "/")
}

// GroupValues are the values of a metric for a group of jobs, like Values for all jobs.
func (v Variant) GroupValues(m measure.Metric, by, group string) []float64 {
	of := Value{m, by, group}
	values := make([]float64, len(v.Cells))
	for i := range v.Cells {
		values[i] = of.In(&v.Cells[i])
	}
	return values
}

// GroupNames are the groups of the jobs of several variants, by the name of a way to divide jobs.
func GroupNames(variants []Variant, by string) (names []string) {
	for i := range variants {
		for _, g := range variants[i].groups(by) {
			names = schema.AddOnce(names, g)
		}
	}
	return names
}

// groups returns the groups of a variant's jobs, in their order; one without a name when jobs are not divided.
func (v *Variant) groups(by string) []string {
	if by == "" {
		return []string{""}
	}
	var names []string
	for i := range v.Cells {
		for _, g := range v.Cells[i].Groups {
			if g.By == by {
				names = schema.AddOnce(names, g.Name)
			}
		}
	}
	return names
}

// fixed reports whether nothing in the replicates of a variant is drawn at random.
func (v *Variant) fixed() bool {
	return !slices.ContainsFunc(v.Cells, func(c record.Cell) bool { return !c.Fixed })
}

func verdict(r record.ComparisonRow, m measure.Metric) string {
	switch {
	case r.Method == record.OneRun && r.Difference == 0:
		return record.NoDifference
	case r.Method == record.OneRun:
	case math.IsNaN(r.PValue):
		return record.NotEnoughReplicates
	case r.PValue >= 1-r.Level && !sized(&r, m):
		return record.NotEnoughReplicates
	case r.PValue >= 1-r.Level:
		return record.NoDifference
	case r.Blocks > 0 && r.CILow <= 1 && 1 <= r.CIHigh && r.DifferenceLow <= 0 && 0 <= r.DifferenceHigh:
		return record.NoDifference // the bootstrap's intervals and its test disagree
	}
	switch {
	case (r.Difference > 0) == m.HigherBetter:
		return record.Better
	}
	return record.Worse
}

// agree reports whether the axes that are in both lists have the same values in both.
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

// pairs returns a value of both variants, in each replicate that both have.
func pairs(base, candidate Variant, of Value) (b, c []float64, lost losses) {
	for i := range base.Cells {
		for j := range candidate.Cells {
			x, y := &base.Cells[i], &candidate.Cells[j]
			if x.Replicate != y.Replicate {
				continue
			}
			if !of.OfAllJobs && !sameJobs(x, y) || x.Error != "" || y.Error != "" {
				lost.dropped++
				continue
			}
			if u, v := of.In(x), of.In(y); stats.Finite(u) && stats.Finite(v) {
				b, c = append(b, u), append(c, v)
				if x.Troubled() || y.Troubled() {
					lost.doubtful++
				}
				if slices.Contains(ofSlowdowns, of.Name) && (warned(x, record.NoLength) || warned(y, record.NoLength)) {
					lost.noLength++
				}
			} else {
				lost.unknown++
			}
		}
	}
	return b, c, lost
}

// sameJobs reports whether the same jobs finished in two cells. Beyond
// MaxFailures their names are not known, and then they are not the same.
func sameJobs(a, b *record.Cell) bool {
	if measure.Finished.CountOf(&a.Metrics) != measure.Finished.CountOf(&b.Metrics) {
		return false
	}
	failed := func(c *record.Cell) []string {
		names := schema.Each(c.Failures, func(f measure.Failure) string { return f.Job })
		slices.Sort(names)
		return names
	}
	return measure.Failed.CountOf(&a.Metrics) <= measure.MaxFailures && slices.Equal(failed(a), failed(b))
}
