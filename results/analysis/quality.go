package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// ofSlowdowns are the metrics that jobs of no length are left out of.
var ofSlowdowns = []string{measure.MeanSlowdown.Name, measure.P95Slowdown.Name, measure.JainFairness.Name}

// verySkewed is the skewness from which it is mentioned.
const verySkewed = 2.0

// quality lists the reasons to doubt the data of a comparison, in a few words each.
func quality(r record.ComparisonRow) (doubts []string) {
	if r.Dropped > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %d dropped: different jobs finished", r.Dropped, r.Pairs+r.Dropped))
	}
	if r.Missing > 0 {
		doubts = append(doubts, fmt.Sprintf("%d not complete", r.Missing))
	}
	if r.Doubtful > 0 {
		doubts = append(doubts, fmt.Sprintf("%d disturbed by other programs", r.Doubtful))
	}
	if r.NoLength > 0 {
		doubts = append(doubts, fmt.Sprintf("%d with jobs that take no time, which are left out", r.NoLength))
	}
	// One pair unlike all others, which are alike, has a skewness of √n.
	switch size := math.Abs(r.Skewness); {
	case r.Pairs > 3 && size > 0.9*math.Sqrt(float64(r.Pairs)):
		doubts = append(doubts, "one differs from all others")
	case size > verySkewed:
		doubts = append(doubts, "skewed differences")
	}
	return doubts
}

// pairsOf counts the pairs of a comparison, with the reasons for doubt: "7 pairs (3 of 10 dropped: different jobs
// finished)".
func pairsOf(r record.ComparisonRow, pairs string) string {
	if doubts := quality(r); len(doubts) > 0 {
		pairs += " (" + strings.Join(doubts, "; ") + ")"
	}
	return pairs
}

// skewness returns the skewness of the differences of pairs; NaN where it is not known, or they are all the
// same.
func skewness(b, c []float64, method string) float64 {
	if method != stats.PairedT {
		return math.NaN()
	}
	diff := make([]float64, len(b))
	for i := range diff {
		diff[i] = c[i] - b[i]
	}
	return stat.Skew(diff, nil)
}

// warned reports whether a cell has a warning.
func warned(c *record.Cell, code string) bool {
	return slices.ContainsFunc(c.Warnings, func(w record.Warning) bool { return w.Code == code })
}
