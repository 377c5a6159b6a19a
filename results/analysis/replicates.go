package analysis

import "github.com/tfexp/tfexp/results/record"

// The power that an experiment should have: to detect a difference of this fraction of the baseline's mean,
// with this probability.
const (
	WorthKnowing = 0.1
	Sureness     = 0.8
)

// Lacking is how many more replicates answer a comparison of all jobs that too few have answered: 0 where more of them
// do not help. Few reports whether there is such a comparison.
func Lacking(rows []record.ComparisonRow) (n int, few bool) {
	for i := range rows {
		r := &rows[i]
		if r.By != "" || r.Blocks > 0 || ChangeOf(r).Few == "" {
			continue
		}
		few = true
		if all, _ := lacks(r); all > r.Pairs && all <= MostRuns && (n == 0 || all-r.Pairs < n) {
			n = all - r.Pairs
		}
	}
	return n, few
}
