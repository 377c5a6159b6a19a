package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// mostNeeded bounds the numbers of pairs that Needed tries.
const mostNeeded = 10_000

// Needed returns how many pairs a paired t test at a level needs to detect a difference with at least a
// probability, where the interval of the difference of pairs pairs has the given half-width; 0 where it needs more
// than mostNeeded, or the half-width is not known. It takes the noncentral t distribution as one moved by its
// noncentrality (Kupper, Hafner, "How Appropriate Are Popular Sample Size Formulas?", The American Statistician,
// 1989).
func Needed(halfWidth float64, pairs int, level, difference, probability float64) int {
	if pairs < MinPairs || !(halfWidth > 0) || !(difference > 0) {
		return 0
	}
	sd := halfWidth / tQuantile(pairs-1, level) * math.Sqrt(float64(pairs))
	n := MinPairs + sort.Search(mostNeeded-MinPairs+1, func(more int) bool { // quantiles fall with the number of pairs
		n := MinPairs + more
		power := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(probability)
		return (tQuantile(n-1, level)+power)*sd <= difference*math.Sqrt(float64(n))
	})
	if n > mostNeeded {
		return 0
	}
	return n
}
