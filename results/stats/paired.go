package stats

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Paired is the result of comparing pairs of values.
type Paired struct {
	Pairs                                     int
	BaselineMean, CandidateMean               float64
	Difference, DifferenceLow, DifferenceHigh float64 // candidate − baseline
	Ratio, RatioLow, RatioHigh                float64 // candidate / baseline, of the means
	P                                         float64 // two-sided p-value of the hypothesis that there is no difference
	Method                                    string
}

// MinPairs is the smallest number of pairs that are compared.
const MinPairs = 3

// The methods that ComparePairs chooses from.
const (
	PairedT   = "skewness-corrected paired t"
	SignFlips = "sign flips"
)

// Welch is the method for comparing means of values that are not paired: Welch's t test.
const Welch = "Welch's t"

// ComparePairs compares candidate[i] with baseline[i] for all i, at a confidence level such as 0.95. It tests the mean
// of the differences in the same way as MeanInterval. The interval of the ratio of the means has each r for which a
// test does not reject that the mean of candidate − r·baseline is 0 (E. C. Fieller, "Some Problems in Interval
// Estimation", JRSS B 16(2), 1954). This interval leaves out 1 exactly when the test rejects.
//
// If all differences are equal, their spread is unknown, so ComparePairs flips signs instead: 2 of the 2^n possible
// assignments of signs give differences that are as extreme. The p-value is therefore 2^(1−n). With so few pairs that
// this is not significant, the p-value and the bounds are NaN.
//
// Unknown results are NaN. With less than MinPairs pairs, all but the means and their difference and ratio are unknown.
// If the baseline's mean is 0, the ratio is unknown. If that mean does not differ clearly from 0, the bounds of the
// ratio are unknown.
func ComparePairs(baseline, candidate []float64, level float64) Paired {
	n := len(baseline)
	nan := math.NaN()
	p := Paired{
		Pairs: n, BaselineMean: nan, CandidateMean: nan, Difference: nan, DifferenceLow: nan, DifferenceHigh: nan,
		Ratio: nan, RatioLow: nan, RatioHigh: nan, P: nan,
	}
	if n == 0 {
		return p
	}
	diff := make([]float64, n)
	var scale float64
	for i := range diff {
		diff[i] = candidate[i] - baseline[i]
		scale = max(scale, math.Abs(candidate[i]), math.Abs(baseline[i]))
	}
	p.BaselineMean, p.CandidateMean = stat.Mean(baseline, nil), stat.Mean(candidate, nil)
	p.Difference = stat.Mean(diff, nil)
	if p.BaselineMean != 0 {
		p.Ratio = p.CandidateMean / p.BaselineMean
	}
	// Smaller differences between the values are rounding errors.
	constant := slices.Max(diff)-slices.Min(diff) <= 1e-9*scale
	same := constant && math.Abs(p.Difference) <= 1e-9*scale
	switch {
	case n < MinPairs:
	case same:
		p.Method, p.P = SignFlips, 1
		p.Difference, p.DifferenceLow, p.DifferenceHigh = 0, 0, 0
		if p.BaselineMean != 0 {
			p.Ratio, p.RatioLow, p.RatioHigh = 1, 1, 1
		}
	case constant:
		p.Method = SignFlips
		if n >= FewestAlike(level) {
			p.P = math.Ldexp(1, 1-n)
			p.DifferenceLow, p.DifferenceHigh = p.Difference, p.Difference
			p.RatioLow, p.RatioHigh = ratioBounds(baseline, candidate, newMeanTest(diff, ofDifferences), level)
		}
	default:
		p.Method = PairedT
		t := newMeanTest(diff, ofDifferences)
		p.P = t.p(0)
		p.DifferenceLow, p.DifferenceHigh = t.bounds(level)
		p.RatioLow, p.RatioHigh = ratioBounds(baseline, candidate, t, level)
	}
	return p
}

// FewestAlike returns the smallest number of pairs for which equal differences are significant at the level.
func FewestAlike(level float64) int {
	n := MinPairs
	for math.Ldexp(1, 1-n) >= 1-level {
		n++
	}
	return n
}

// ratioBounds returns the interval of the ratio r of the means of pairs (b, c). It has each r for which a test does not
// reject that the mean of c − r·b is 0. The argument of is the test of the differences c − b; its corrections apply to
// this interval, too. The bounds solve a quadratic equation in r. They are NaN unless the mean of b differs clearly
// from 0.
func ratioBounds(b, c []float64, of meanTest, level float64) (low, high float64) {
	mb, mc := stat.Mean(b, nil), stat.Mean(c, nil)
	quantile := of.quantile(level)
	bound := func(side, sign float64) float64 {
		q := side * quantile
		k := q * q / float64(len(b))
		// Solve A·r² − 2B·r + C = 0.
		A := mb*mb - k*stat.Variance(b, nil)
		B := mb*mc - k*stat.Covariance(b, c, nil)
		C := mc*mc - k*stat.Variance(c, nil)
		if !(A > 1e-12*mb*mb) {
			return math.NaN()
		}
		return (B + sign*math.Sqrt(max(0, B*B-A*C))) / A
	}
	return bound(of.below, -1), bound(of.above, 1)
}

// Block is a stretch of a log. It has the number of jobs in it, and the sums of their values in the baseline and in the
// candidate.
type Block struct {
	N                   int
	Baseline, Candidate float64
}

// MinBlocks is the smallest number of blocks that CompareBlocks needs.
const MinBlocks = 10

// CompareBlocks compares the means over the jobs of one log, at a confidence level such as 0.95. It resamples blocks,
// which are successive stretches of the log that do not overlap (E. Carlstein, "The Use of Subseries Values for
// Estimating the Variance of a General Statistic from a Stationary Sequence", The Annals of Statistics 14(3), 1986).
// The name determines the random numbers. Jobs that wait for each other mostly belong to the same block. If differences
// of neighboring blocks are still correlated, the interval is made wider; see inflation.
//
// The interval is the expanded percentile interval, which is wider for few blocks (T. Hesterberg, "What Teachers Should
// Know About the Bootstrap", The American Statistician 69(4), 2015). The p-value matches it. If only one of the
// intervals of the difference and the ratio shows a change, the bounds of the ratio are NaN.
func CompareBlocks(blocks []Block, level float64, name string) Paired {
	nan := math.NaN()
	p := Paired{Pairs: 1, Ratio: nan, RatioLow: nan, RatioHigh: nan, Method: "block bootstrap"}
	var n, b, c float64
	for _, k := range blocks {
		n, b, c = n+float64(k.N), b+k.Baseline, c+k.Candidate
	}
	p.BaselineMean, p.CandidateMean, p.Difference = b/n, c/n, (c-b)/n
	if b != 0 {
		p.Ratio = c / b
	}
	if b == c && !slices.ContainsFunc(blocks, func(k Block) bool { return k.Baseline != k.Candidate }) {
		p.P = 1
		p.RatioLow, p.RatioHigh = p.Ratio, p.Ratio
		return p
	}
	p.resample(blocks, level, name)
	return p
}

const resamples = 10_000

// resample sets the intervals and the p-value. It draws as many blocks as there are, with replacement, many times.
func (p *Paired) resample(blocks []Block, level float64, name string) {
	n := len(blocks)
	rng := rand.New(rand.NewPCG(nameSeed(name)))
	diffs := make([]float64, resamples)
	ratios := make([]float64, 0, resamples)
	for i := range diffs {
		var b, c, jobs float64
		for range n {
			k := &blocks[rng.IntN(n)]
			b += k.Baseline
			c += k.Candidate
			jobs += float64(k.N)
		}
		diffs[i] = (c - b) / jobs
		if b != 0 {
			ratios = append(ratios, c/b)
		}
	}
	slices.Sort(diffs)
	slices.Sort(ratios)
	// The spread of the resamples is too small by √((n−1)/n), and the percentiles use normal tails instead of
	// Student's. A smaller tail probability corrects both.
	stretch := math.Sqrt(float64(n) / float64(n-1))
	wider, df := inflation(blocks, p.Difference)
	tail := distuv.UnitNormal.CDF(-stretch * tQuantile(df, level))
	bounds := func(sorted []float64, middle float64) (low, high float64) {
		return middle - wider*(middle-Quantile(sorted, tail)), middle + wider*(Quantile(sorted, 1-tail)-middle)
	}
	p.DifferenceLow, p.DifferenceHigh = bounds(diffs, p.Difference)
	if len(ratios) == resamples {
		p.RatioLow, p.RatioHigh = bounds(ratios, p.Ratio)
		if (p.RatioLow > 1 || p.RatioHigh < 1) != (p.DifferenceLow > 0 || p.DifferenceHigh < 0) {
			p.RatioLow, p.RatioHigh = math.NaN(), math.NaN()
		}
	}
	p.P = tTail(bootstrapZ(diffs, p.Difference)/stretch/wider, df)
}

// inflation returns the factor by which correlation between neighboring blocks increases the standard error of the
// mean, and the remaining degrees of freedom. It assumes a first-order autoregression with correlation r, for which n
// blocks are worth n·(1−r)/(1+r) independent ones (G. S. Fishman, "Grouping Observations in Digital Simulation",
// Management Science 24(5), 1978). The estimate of r is corrected for its bias, which is about −(1+4r)/n (M. G.
// Kendall, "Note on Bias in the Estimation of Autocorrelation", Biometrika 41, 1954).
func inflation(blocks []Block, mean float64) (wider float64, df int) {
	n := float64(len(blocks))
	var before, square, product float64
	for i, b := range blocks {
		off := b.Candidate - b.Baseline - mean*float64(b.N)
		square += off * off
		if i > 0 {
			product += before * off
		}
		before = off
	}
	r := 0.0
	if square > 0 {
		r = min(max((product/square+1/n)/(1-4/n), 0), mostAlike)
	}
	worth := (1 - r) / (1 + r)
	return 1 / math.Sqrt(worth), max(2, int(n*worth)-1)
}

// mostAlike is the largest correlation of neighboring blocks that inflation assumes.
const mostAlike = 0.95

// bootstrapZ returns the standard normal quantile of the share of resampled differences that lie beyond 0. The
// differences must be sorted. If none lies beyond 0, it assumes that they are normal, with their own standard
// deviation.
func bootstrapZ(diffs []float64, mean float64) float64 {
	notAbove, _ := slices.BinarySearchFunc(diffs, 0, func(d, _ float64) int {
		if d > 0 {
			return 1
		}
		return -1
	})
	below, _ := slices.BinarySearch(diffs, 0)
	beyond := min(notAbove, len(diffs)-below)
	z := distuv.UnitNormal.Quantile(min(0.5, (float64(beyond)+0.5)/float64(len(diffs)+1)))
	if beyond == 0 {
		z = min(z, -math.Abs(mean)/stat.StdDev(diffs, nil))
	}
	return z
}

// nameSeed returns the seed of the random stream with this name.
func nameSeed(name string) (uint64, uint64) {
	h := fnv.New128a()
	h.Write([]byte(name))
	var hi, lo uint64
	for i, b := range h.Sum(nil) {
		if i < 8 {
			hi = hi<<8 | uint64(b)
		} else {
			lo = lo<<8 | uint64(b)
		}
	}
	return hi, lo
}
