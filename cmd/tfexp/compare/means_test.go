package compare

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestWelch uses Student's sleep data as two groups. R's t.test(extra ~ group) gives p = 0.07939 with 17.776 degrees of
// freedom, and the interval -3.3654832 to 0.2054832.
func TestWelch(t *testing.T) {
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	p := compareMeans(two, one, 0.95)
	closeTo(t, "difference", p.Difference, -1.58, 1e-12)
	closeTo(t, "low", p.DifferenceLow, -3.3654832, 1e-6)
	closeTo(t, "high", p.DifferenceHigh, 0.2054832, 1e-6)
	closeTo(t, "p", p.P, 0.07939, 1e-5)
	closeTo(t, "ratio", p.Ratio, 0.75/2.33, 1e-12)

	// Groups of unlike sizes and variances, worked out from the formula: variances of means 1/3 and 10/5, df 5.1463.
	p = compareMeans([]float64{1, 2, 3}, []float64{4, 6, 8, 10, 12}, 0.95)
	t4 := distuv.StudentsT{Sigma: 1, Nu: math.Pow(1.0/3+2, 2) / (1.0/9/2 + 4.0/4)}.Quantile(0.975)
	closeTo(t, "unlike groups: low", p.DifferenceLow, 6-t4*math.Sqrt(1.0/3+2), 1e-9)
	closeTo(t, "unlike groups: high", p.DifferenceHigh, 6+t4*math.Sqrt(1.0/3+2), 1e-9)

	// Groups of the same variance, 1: the difference is 2 with a standard error of √(2/3), and t(4, 97.5%) = 2.776445.
	p = compareMeans([]float64{1, 2, 3}, []float64{3, 4, 5}, 0.95)
	closeTo(t, "same variance: low", p.DifferenceLow, 2-2.776445*math.Sqrt(2.0/3), 1e-6)
	closeTo(t, "same variance: high", p.DifferenceHigh, 2+2.776445*math.Sqrt(2.0/3), 1e-6)

	if p = compareMeans([]float64{2, 2, 2}, []float64{3, 3, 3}, 0.95); math.Abs(p.P-0.1) > 1e-12 || p.DifferenceLow != 1 || p.DifferenceHigh != 1 {
		t.Errorf("without spread: %+v", p)
	}
	if p = compareMeans([]float64{2, 2, 2}, []float64{2, 2, 2}, 0.95); p.P != 1 {
		t.Errorf("all the same: %+v", p)
	}
	if p = compareMeans([]float64{2, 4}, []float64{0, 3, 3}, 0.95); p.Ratio != 2.0/3 || !math.IsNaN(p.P) || p.Method != "" {
		t.Errorf("too few: %+v", p)
	}
	if p = compareMeans([]float64{-1, 0, 1}, []float64{1, 2, 3}, 0.95); !math.IsNaN(p.Ratio) || math.IsNaN(p.P) {
		t.Errorf("from zero: %+v", p)
	}
	for _, none := range [][2][]float64{{nil, {1, 2, 3}}, {{1, 2, 3}, nil}} {
		if p = compareMeans(none[0], none[1], 0.95); !math.IsNaN(p.Difference) || !math.IsNaN(p.BaselineMean) {
			t.Errorf("one side is empty: %+v", p)
		}
	}
}

func closeTo(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
