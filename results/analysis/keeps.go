package analysis

import (
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
)

// Keeps reports whether a variant did in all its cells what was asked of its jobs, such as to be done by their
// deadlines. Others are not ranked among those who do (measure.Metric.Unmet).
func (v Variant) Keeps() bool {
	for _, m := range measure.AllMetrics() {
		if m.Unmet && slices.ContainsFunc(v.Values(m), func(x float64) bool { return stats.Finite(x) && x > 0 }) {
			return false
		}
	}
	return true
}

// keepers are the variants that keep what was asked; all where none does, or where just that is compared.
func keepers(variants []Variant, by measure.Metric) []Variant {
	kept := slices.DeleteFunc(slices.Clone(variants), func(v Variant) bool { return !v.Keeps() })
	if len(kept) == 0 || by.Unmet {
		return variants
	}
	return kept
}

// keepersFirst puts the indices of variants that keep what was asked before the others.
func keepersFirst(order []int, variants []Variant) []int {
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := variants[a].Keeps(), variants[b].Keeps()
		switch {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return order
}
