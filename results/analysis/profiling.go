package analysis

import (
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// profiling compares each variant that decides by estimates with one that does
// not: of the policy that the experiment compares with, or else the first.
func profiling(e *record.Experiment, cost float64) []record.ProfilingRow {
	variants := Variants(e)
	var rows []record.ProfilingRow
	for _, v := range variants {
		if !slices.Contains(e.Plan.Estimating, v.Policy) {
			continue
		}
		base, ok := without(e, v, variants)
		if !ok {
			continue
		}
		b, c, _ := pairs(base, v, value{metric: measure.Makespan})
		bj, cj, _ := pairs(base, v, value{metric: measure.MeanJCT})
		if len(b) == 0 || len(bj) == 0 {
			continue
		}
		var gain, gainJCT stats.Mean
		for i := range b {
			gain.Add(b[i] - c[i])
		}
		for i := range bj {
			gainJCT.Add(bj[i] - cj[i])
		}
		rows = append(rows, record.ProfilingRow{
			Workload: v.Workload, Hardware: v.Hardware, Policy: v.Label, Baseline: base.Label,
			Pairs: gain.N, Cost: cost, Makespan: gain.Value(), JCT: gainJCT.Value(), Net: gain.Sum - cost,
		})
	}
	return rows
}

// without returns the variant without estimates that v is measured against.
func without(e *record.Experiment, v Variant, variants []Variant) (Variant, bool) {
	var baselines []string
	for _, c := range e.Plan.Compares {
		baselines = append(baselines, c.Baseline)
	}
	var first *Variant
	for i := range variants {
		b := &variants[i]
		if b.Workload != v.Workload || b.Hardware != v.Hardware || !agree(b.Axes, v.Axes) ||
			slices.Contains(e.Plan.Estimating, b.Policy) || len(b.Cells) == 0 {
			continue
		}
		if slices.Contains(baselines, b.Policy) {
			return *b, true
		}
		if first == nil {
			first = b
		}
	}
	if first == nil {
		return Variant{}, false
	}
	return *first, true
}
