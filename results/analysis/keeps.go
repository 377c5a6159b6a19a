package analysis

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
)

// Keeps reports whether a variant kept all requirements of its jobs in all its cells, such as their
// deadlines. Others are not ranked among those who do (measure.Metric.Unmet).
func (v Variant) Keeps() bool {
	for _, m := range measure.AllMetrics() {
		if m.Unmet && slices.ContainsFunc(v.Values(m), func(x float64) bool { return stats.Finite(x) && x > 0 }) {
			return false
		}
	}
	return true
}

// keeps reports whether an entry keeps the requirements in all its fields.
func (o *Entry) keeps() bool {
	return !slices.ContainsFunc(o.At, func(v *Variant) bool { return v != nil && !v.Keeps() })
}

// missing says which entries miss requirements, such as their deadlines; "" where none does, or where the number of missed
// ones is compared. Some reports whether others keep them: only these are ranked.
func (q *Question) missing() (text string, some bool) {
	late := schema.Where(q.Entries, func(o Entry) bool { return !o.keeps() })
	switch {
	case len(late) == 0 || q.Metric.Unmet:
		return "", false
	case len(late) == len(q.Entries):
		return "all miss deadlines", false
	case len(late) == 1:
		return late[0].Name + " misses deadlines", true
	}
	return few(entryNames(late), "others") + " miss deadlines", true
}

// keepersFirst orders two variants that are ranked by a metric: one that keeps its limits comes before one that does not,
// unless just that is compared.
func keepersFirst(a, b bool, by measure.Metric) int {
	switch {
	case a == b || by.Unmet:
		return 0
	case a:
		return -1
	}
	return 1
}
