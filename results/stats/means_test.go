package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestRunningMean(t *testing.T) {
	var m Mean
	near(t, "of none", m.Value(), math.NaN(), 0)
	for _, v := range []float64{1, 2, 6} {
		m.Add(v)
	}
	near(t, "of three", m.Value(), 3, 0)
}

// If some differences are 0, they count half to each side. If all differences are on the same side of 0, the p-value
// follows the normal distribution.
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
	sd := math.Sqrt(99 * 100 / 12.0) // standard deviation of 99 consecutive whole numbers
	near(t, "far beyond", bootstrapZ(from(1000), 1049), -1049/sd, 1e-9)
	near(t, "far below", bootstrapZ(from(-1098), -1049), -1049/sd, 1e-9)
}

// The limit below which a difference is a rounding error is relative to the values.
func TestExactAtAnyScale(t *testing.T) {
	p := ComparePairs([]float64{1e12, 2e12, 3e12}, []float64{1e12 + 1, 2e12 + 1, 3e12 + 1}, 0.95)
	if p.P != 1 || p.Difference != 0 || p.Ratio != 1 || p.RatioLow != 1 {
		t.Errorf("a difference in the thirteenth digit: %+v", p)
	}
	p = ComparePairs([]float64{1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7}, []float64{2e-7, 2e-7, 2e-7, 2e-7, 2e-7, 2e-7}, 0.95)
	if p.P != 1.0/32 || !nearly(p.RatioLow, 2) || !nearly(p.RatioHigh, 2) {
		t.Errorf("twice as much of little: %+v", p)
	}
	// If unequal values all change by the same amount, the difference is known but the ratio is not.
	p = ComparePairs([]float64{9, 10, 11, 9, 10, 11}, []float64{11, 12, 13, 11, 12, 13}, 0.95)
	if p.DifferenceLow != 2 || !(p.RatioLow < 1.2 && 1.2 < p.RatioHigh) {
		t.Errorf("a constant shift: %+v", p)
	}
}

// Means are over all jobs of the blocks, so larger blocks count more. Equal sums do not prove that the blocks do not
// differ.
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
	for _, d := range []float64{2, 4, 0, 3, 1} { // neighbors are not correlated
		blocks = append(blocks, Block{N: 1, Candidate: d - 0.3})
	}
	p := CompareBlocks(blocks, 0.95, "x")
	near(t, "low", p.DifferenceLow, -0.1, 1e-9)
	near(t, "high", p.DifferenceHigh, 24.0/5-1.3, 1e-9)
	near(t, "p", p.P, 0.061, 0.012) // of 10,000 resamples, 19 are expected below 0, give or take 4
}

// Correlation of neighboring blocks widens the interval: six equal blocks of ten in a row give less information than
// the same blocks spread out.
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
