// Package stats has the statistics of experiments: means with intervals, and
// comparisons of pairs that give a verdict only where one is warranted.
package stats

import (
	"cmp"
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

// MarshalJSON writes {"n","mean","low","high"}; unknown values are null.
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

// MeanInterval is the mean of x with its confidence interval at a level such as 0.95. NaNs in x are left out; below two
// values the bounds are NaN.
//
// Student's interval misses the mean of few skewed values in 10 to 18 of 100 cases, mostly on the side of the long tail,
// which the values have not shown yet. So its half on that side is longer by the skewness of the values, and the tails
// are narrower for fewer than ten values. Of values that are drawn from an exponential or a log-normal distribution, at
// least 93 of 100 intervals at 95% hold the mean. Values that lie close together beside their mean get less of this, since
// such values of these distributions are hardly skewed. Where a constant hides the skewness (5 s and an exponential part),
// the intervals are little better than Student's: 89 of 100.
func MeanInterval(x []float64, level float64) Interval {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	out := Interval{N: len(x), Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(x) == 0 {
		return out
	}
	out.Mean = stat.Mean(x, nil)
	if len(x) > 1 {
		c := ofValues
		if spread := stat.StdDev(x, nil) / math.Abs(out.Mean); spread < wide {
			c.part = spread / wide
		}
		out.Low, out.High = newMeanTest(x, c).bounds(level)
	}
	return out
}

// meanTest is a test of the mean of a distribution, by a sample from it.
type meanTest struct {
	mean, se     float64
	df           int
	below, above float64 // by which the interval is longer on each side than Student's
	tail         float64 // by which its tails are narrower
}

// correction is how a test of the mean allows for skewness that few values have not shown: the share of their own skewness
// by which the interval is longer, which is skewed / n and mostSkewed at most; and the part of the tails that three values
// have, from which it grows to all of them for plenty values.
type correction struct {
	mostSkewed, leastTail float64
	part                  float64 // of both that applies
}

const (
	skewed = 11.0
	plenty = 10
	wide   = 0.4 // the standard deviation by the mean from which a single mean needs all of its correction
)

// Values may all be skewed to one side: with these constants 93% of the intervals at 95% hold the mean of 3 to 50 log-normal
// values. Differences within pairs of equal policies are as often above 0 as below, so they need less: 93% of their intervals
// hold the mean of exponential differences, and 90% the mean of log-normal ones.
var (
	ofValues      = correction{mostSkewed: 1.5, leastTail: 0.25, part: 1}
	ofDifferences = correction{mostSkewed: 0.75, leastTail: 0.75, part: 1}
)

// newMeanTest is the test of two or more values.
func newMeanTest(x []float64, c correction) meanTest {
	n := float64(len(x))
	mean, sd := stat.MeanStdDev(x, nil)
	m := meanTest{mean: mean, se: sd / math.Sqrt(n), df: len(x) - 1, below: 1, above: 1,
		tail: 1 - c.part*(1-min(1, max(c.leastTail, (n-2)/(plenty-2))))}
	if sd > 0 && n > 2 {
		skew := stat.Skew(x, nil) * c.part * min(c.mostSkewed, skewed/n)
		m.below, m.above = 1+max(0, -skew), 1+max(0, skew)
	}
	return m
}

// p is the two-sided p-value of a mean.
func (m meanTest) p(mean float64) float64 {
	t, side := (m.mean-mean)/m.se, m.below
	if t < 0 {
		side = m.above
	}
	if math.IsNaN(t) { // all values are this mean
		return 1
	}
	return min(1, tTail(t/side, m.df)/m.tail)
}

// quantile is by how many standard errors Student's interval with such tails reaches to each side.
func (m meanTest) quantile(level float64) float64 { return tQuantile(m.df, 1-(1-level)*m.tail) }

// bounds are the least and the greatest mean that a test at a level does not reject.
func (m meanTest) bounds(level float64) (low, high float64) {
	half := m.se * m.quantile(level)
	return m.mean - m.below*half, m.mean + m.above*half
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
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
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
