package results

import "slices"

// ProfilingRow is a row of profiling.csv: what sampling cost, against what a
// policy that decides by the estimates gained over one that does not, in the
// same replicates of one workload and hardware.
type ProfilingRow struct {
	Workload, Hardware string
	// Policy decides by estimates, Baseline does not; with their axes.
	Policy, Baseline string
	// Pairs of cells that both have.
	Pairs int
	// Cost is what all samples of the experiment took, in seconds.
	Cost float64
	// Makespan and JCT are how much shorter makespan and mean JCT of the policy's
	// cells are, on the mean, in seconds: below 0 the estimates did harm. Net is
	// Pairs × Makespan − Cost: what is left of the gain once sampling is paid.
	Makespan, JCT, Net float64
}

// profiling compares each variant that decides by estimates with one that does
// not: of the policy that the experiment compares with, or else the first.
func (e *Experiment) profiling(cost float64) []ProfilingRow {
	makespan, _ := MetricByName("makespan_s")
	jct, _ := MetricByName("mean_jct_s")
	variants := e.Variants()
	var rows []ProfilingRow
	for _, v := range variants {
		if !slices.Contains(e.Plan.Estimating, v.Policy) {
			continue
		}
		base, ok := e.without(v, variants)
		if !ok {
			continue
		}
		b, c := pairs(base, v, makespan)
		bj, cj := pairs(base, v, jct)
		if len(b) == 0 || len(bj) == 0 {
			continue
		}
		var gain, gainJCT mean
		for i := range b {
			gain.add(b[i] - c[i])
		}
		for i := range bj {
			gainJCT.add(bj[i] - cj[i])
		}
		rows = append(rows, ProfilingRow{
			Workload: v.Workload, Hardware: v.Hardware, Policy: v.Label, Baseline: base.Label,
			Pairs: gain.n, Cost: cost, Makespan: gain.value(), JCT: gainJCT.value(), Net: gain.sum - cost,
		})
	}
	return rows
}

// without returns the variant without estimates that v is measured against.
func (e *Experiment) without(v Variant, variants []Variant) (Variant, bool) {
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
