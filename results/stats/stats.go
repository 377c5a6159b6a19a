// Package stats has the statistics of experiments: means with intervals, and
// comparisons of pairs that give a verdict only where one is warranted.
package stats

import (
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Quantile is the q-quantile of sorted values by linear interpolation between
// the closest ranks (type 7 of R. Hyndman, Y. Fan, "Sample Quantiles in
// Statistical Packages", The American Statistician 50(4), 1996); NaN over nothing.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	lo := int(math.Floor(at))
	hi := min(lo+1, len(sorted)-1)
	return sorted[lo] + (at-float64(lo))*(sorted[hi]-sorted[lo])
}

// Interval is a mean with its confidence interval; NaN where it is not known.
type Interval struct {
	N               int
	Mean, Low, High float64
}

// MarshalJSON writes {"n","mean","low","high"}; what is not known is null.
func (i Interval) MarshalJSON() ([]byte, error) {
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		N    int      `json:"n"`
		Mean *float64 `json:"mean"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
	}{i.N, known(i.Mean), known(i.Low), known(i.High)})
}

// MeanInterval is the mean of x with Student's t interval at a level such as
// 0.95. NaNs in x are left out; below two values the bounds are NaN.
func MeanInterval(x []float64, level float64) Interval {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	out := Interval{N: len(x), Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(x) == 0 {
		return out
	}
	out.Mean = stat.Mean(x, nil)
	if len(x) > 1 {
		half := tQuantile(len(x)-1, level) * stat.StdDev(x, nil) / math.Sqrt(float64(len(x)))
		out.Low, out.High = out.Mean-half, out.Mean+half
	}
	return out
}

// tQuantile is the two-sided critical value of Student's t.
func tQuantile(df int, level float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(0.5 + level/2)
}

// tTail is the two-sided p-value of a t statistic.
func tTail(t float64, df int) float64 {
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.CDF(-math.Abs(t))
}

// Holm adjusts p-values for the number of tests so that the chance of even one
// false rejection stays below the level (S. Holm, "A Simple Sequentially
// Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6(2),
// 1979). NaNs are not tests and stay.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := slices.Clone(p)
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-rank)))
		out[i] = least
	}
	return out
}

// Mean is a running mean; NaN over nothing.
type Mean struct {
	Sum float64
	N   int
}

// Add adds a value.
func (m *Mean) Add(v float64) { m.Sum += v; m.N++ }

// Value returns the mean.
func (m *Mean) Value() float64 { return m.Sum / float64(m.N) } // 0/0 is NaN

// Finite reports whether v is a number: neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
