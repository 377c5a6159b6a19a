package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostNeeded is the largest number of pairs that Needed tries.
const mostNeeded = 10_000

// Needed returns how many pairs a paired t test at a level needs to detect a difference with at least the given
// probability. The spread is taken from an earlier comparison of that many pairs, whose interval of the difference has
// the given half-width. Needed returns 0 if the half-width is unknown, or if more than mostNeeded pairs are needed. It
// replaces the noncentral t distribution by a shifted t distribution (Kupper, Hafner, "How Appropriate Are Popular
// Sample Size Formulas?", The American Statistician, 1989).
func Needed(halfWidth float64, pairs int, level, difference, probability float64) int {
	if pairs < MinPairs || !(halfWidth > 0) || !(difference > 0) {
		return 0
	}
	sd := halfWidth / tQuantile(pairs-1, level) * math.Sqrt(float64(pairs))
	// A binary search is right since quantiles fall as n grows.
	n := MinPairs + sort.Search(mostNeeded-MinPairs+1, func(more int) bool {
		n := MinPairs + more
		power := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(probability)
		return (tQuantile(n-1, level)+power)*sd <= difference*math.Sqrt(float64(n))
	})
	if n > mostNeeded {
		return 0
	}
	return n
}
