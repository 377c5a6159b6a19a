package compare

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/results/stats"
)

// compareMeans compares two independent sets of values by Welch's t test at a confidence level such as 0.95 (B. L.
// Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are Involved",
// Biometrika 34, 1947). The ratio has no interval. With fewer than MinPairs values on a side, only the means are set,
// and Pairs is 0.
func compareMeans(baseline, candidate []float64, level float64) stats.Paired {
	nan := math.NaN()
	p := stats.Paired{BaselineMean: nan, CandidateMean: nan, Difference: nan, DifferenceLow: nan, DifferenceHigh: nan,
		Ratio: nan, RatioLow: nan, RatioHigh: nan, P: nan}
	if len(baseline) == 0 || len(candidate) == 0 {
		return p
	}
	p.BaselineMean, p.CandidateMean = stat.Mean(baseline, nil), stat.Mean(candidate, nil)
	p.Difference = p.CandidateMean - p.BaselineMean
	if p.BaselineMean != 0 {
		p.Ratio = p.CandidateMean / p.BaselineMean
	}
	if min(len(baseline), len(candidate)) < stats.MinPairs {
		return p
	}
	p.Method = stats.Welch
	n, m := float64(len(baseline)), float64(len(candidate))
	b, c := stat.Variance(baseline, nil)/n, stat.Variance(candidate, nil)/m
	// Without variance: p is the probability of this division of the values into two sides, or the reverse one.
	if b+c == 0 {
		p.DifferenceLow, p.DifferenceHigh, p.P = p.Difference, p.Difference, 1
		if p.Difference != 0 {
			p.P = 2 / combin.GeneralizedBinomial(n+m, n)
		}
		return p
	}
	df := (b + c) * (b + c) / (b*b/(n-1) + c*c/(m-1))
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
	half := student.Quantile(0.5+level/2) * math.Sqrt(b+c)
	p.DifferenceLow, p.DifferenceHigh = p.Difference-half, p.Difference+half
	p.P = 2 * student.CDF(-math.Abs(p.Difference)/math.Sqrt(b+c))
	return p
}
