package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestWelch is Student's sleep data as two groups: R's t.test(extra ~ group) gives p = 0.07939 with 17.776 degrees of
// freedom, and the interval -3.3654832 to 0.2054832.
func TestWelch(t *testing.T) {
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	p := CompareMeans(two, one, 0.95)
	near(t, "difference", p.Difference, -1.58, 1e-12)
	near(t, "low", p.DifferenceLow, -3.3654832, 1e-6)
	near(t, "high", p.DifferenceHigh, 0.2054832, 1e-6)
	near(t, "p", p.P, 0.07939, 1e-5)
	near(t, "ratio", p.Ratio, 0.75/2.33, 1e-12)

	// Groups of unlike sizes and variances, worked out from the formula: variances of means 1/3 and 10/5, df 5.1463.
	p = CompareMeans([]float64{1, 2, 3}, []float64{4, 6, 8, 10, 12}, 0.95)
	t4 := distuv.StudentsT{Sigma: 1, Nu: math.Pow(1.0/3+2, 2) / (1.0/9/2 + 4.0/4)}.Quantile(0.975)
	near(t, "unlike groups: low", p.DifferenceLow, 6-t4*math.Sqrt(1.0/3+2), 1e-9)
	near(t, "unlike groups: high", p.DifferenceHigh, 6+t4*math.Sqrt(1.0/3+2), 1e-9)

	// Groups of the same variance, 1: the difference is 2 with a standard error of √(2/3), and t(4, 97.5%) = 2.776445.
	p = CompareMeans([]float64{1, 2, 3}, []float64{3, 4, 5}, 0.95)
	near(t, "same variance: low", p.DifferenceLow, 2-2.776445*math.Sqrt(2.0/3), 1e-6)
	near(t, "same variance: high", p.DifferenceHigh, 2+2.776445*math.Sqrt(2.0/3), 1e-6)

	if p = CompareMeans([]float64{2, 2, 2}, []float64{3, 3, 3}, 0.95); !nearly(p.P, 0.1) || p.DifferenceLow != 1 || p.DifferenceHigh != 1 {
		t.Errorf("without spread: %+v", p)
	}
	if p = CompareMeans([]float64{2, 2, 2}, []float64{2, 2, 2}, 0.95); p.P != 1 {
		t.Errorf("all the same: %+v", p)
	}
	if p = CompareMeans([]float64{2, 4}, []float64{0, 3, 3}, 0.95); p.Ratio != 2.0/3 || !math.IsNaN(p.P) || p.Method != "" {
		t.Errorf("too few: %+v", p)
	}
	if p = CompareMeans([]float64{-1, 0, 1}, []float64{1, 2, 3}, 0.95); !math.IsNaN(p.Ratio) || math.IsNaN(p.P) {
		t.Errorf("from zero: %+v", p)
	}
	for _, none := range [][2][]float64{{nil, {1, 2, 3}}, {{1, 2, 3}, nil}} {
		if p = CompareMeans(none[0], none[1], 0.95); !math.IsNaN(p.Difference) || !math.IsNaN(p.BaselineMean) {
			t.Errorf("one side is empty: %+v", p)
		}
	}
}

func TestRunningMean(t *testing.T) {
	var m Mean
	near(t, "of none", m.Value(), math.NaN(), 0)
	for _, v := range []float64{1, 2, 6} {
		m.Add(v)
	}
	near(t, "of three", m.Value(), 3, 0)
}

// Of sorted differences, zeros are on both sides; values beyond all of them follow the normal curve.
func TestBootstrapZ(t *testing.T) {
	from := func(first int) []float64 {
		all := make([]float64, 99)
		for i := range all {
			all[i] = float64(first + i)
		}
		return all
	}
	normal := distuv.UnitNormal.Quantile
	near(t, "11 of 99 not above", bootstrapZ(from(-10), 39), normal(11.5/100), 1e-12)
	near(t, "11 of 99 not below", bootstrapZ(from(-88), -39), normal(11.5/100), 1e-12)
	near(t, "in the middle", bootstrapZ(from(-49), 0), 0, 1e-12)
	near(t, "just beyond", bootstrapZ(from(1), 50), normal(0.5/100), 1e-12)
	sd := math.Sqrt(99 * 100 / 12.0) // of 99 whole numbers in a row
	near(t, "far beyond", bootstrapZ(from(1000), 1049), -1049/sd, 1e-9)
	near(t, "far below", bootstrapZ(from(-1098), -1049), -1049/sd, 1e-9)
}

// The threshold of a difference scales with the values.
func TestExactAtAnyScale(t *testing.T) {
	p := ComparePairs([]float64{1e12, 2e12, 3e12}, []float64{1e12 + 1, 2e12 + 1, 3e12 + 1}, 0.95)
	if p.P != 1 || p.Difference != 0 || p.Ratio != 1 || p.RatioLow != 1 {
		t.Errorf("a difference in the thirteenth digit: %+v", p)
	}
	p = ComparePairs([]float64{1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7}, []float64{2e-7, 2e-7, 2e-7, 2e-7, 2e-7, 2e-7}, 0.95)
	if p.P != 1.0/32 || !nearly(p.RatioLow, 2) || !nearly(p.RatioHigh, 2) {
		t.Errorf("twice as much of little: %+v", p)
	}
	// The same shift of unlike values is a known difference, but no known ratio.
	p = ComparePairs([]float64{9, 10, 11, 9, 10, 11}, []float64{11, 12, 13, 11, 12, 13}, 0.95)
	if p.DifferenceLow != 2 || !(p.RatioLow < 1.2 && 1.2 < p.RatioHigh) {
		t.Errorf("a constant shift: %+v", p)
	}
}

// The means of blocks are over their jobs. Sums that agree by chance are no proof that nothing differs.
func TestBlocksOfUnlikeSizes(t *testing.T) {
	var blocks []Block
	for i := range MinBlocks {
		d := float64(1 - 2*(i%2))
		blocks = append(blocks, Block{N: 2 + i%2, Baseline: 10, Candidate: 10 + d})
	}
	p := CompareBlocks(blocks, 0.95, "x")
	near(t, "baseline", p.BaselineMean, 4, 1e-12)
	near(t, "candidate", p.CandidateMean, 4, 1e-12)
	if !(p.DifferenceLow < 0 && p.DifferenceHigh > 0) || p.P < 0.5 {
		t.Errorf("differences that cancel out: %+v", p)
	}
	blocks[0].Candidate += 50
	p = CompareBlocks(blocks, 0.95, "x")
	near(t, "candidate with 50 more", p.CandidateMean, 150.0/25, 1e-12)
	near(t, "difference", p.Difference, 2, 1e-12)
	near(t, "ratio", p.Ratio, 1.5, 1e-12)
}

// Five blocks of one job, with the differences 1 to 5 less 1.3: of the 5⁵ = 3,125 resamples, 1 adds up to 5 (less
// 6.5) and 5 to 6. The tail of 95% is Φ(−√(5/4)·t(4, 97.5%)) = Φ(−3.104) = 0.00095, which lies between 1/3,125 and
// 6/3,125: the bound is 6/5 − 1.3. Of 0, 6/3,125 = Φ(−2.89) lie below, so that p is the p-value of t(4) =
// 2.89/√(5/4) = 2.59, which is 0.061.
func TestBootstrapOfFewBlocks(t *testing.T) {
	var blocks []Block
	for _, d := range []float64{2, 4, 0, 3, 1} { // neighbors are not alike
		blocks = append(blocks, Block{N: 1, Candidate: d - 0.3})
	}
	p := CompareBlocks(blocks, 0.95, "x")
	near(t, "low", p.DifferenceLow, -0.1, 1e-9)
	near(t, "high", p.DifferenceHigh, 24.0/5-1.3, 1e-9)
	near(t, "p", p.P, 0.061, 0.012) // of 10,000 resamples, 19 lie below, give or take 4 by chance
}

// Neighboring stretches that are alike make the interval wider: six of ten in a row are worth less than as many apart.
func TestBlocksThatAreAlike(t *testing.T) {
	width := func(differences ...float64) float64 {
		var blocks []Block
		for _, d := range differences {
			blocks = append(blocks, Block{N: 1, Baseline: 5, Candidate: 5 + d})
		}
		p := CompareBlocks(blocks, 0.95, "x")
		return p.DifferenceHigh - p.DifferenceLow
	}
	apart, alike := width(1, 0, 1, 0, 1, 0, 1, 0, 1, 0), width(1, 1, 1, 1, 1, 0, 0, 0, 0, 0)
	if !(alike > 2*apart) {
		t.Errorf("the interval is %g wide, %g of unlike neighbors", alike, apart)
	}
}

func nearly(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
