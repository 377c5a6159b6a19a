package check

import (
	"math"
	"slices"
)

// test is the test of the mean of n differences: Student's interval, longer on the side of the long tail by their
// skewness, with narrower tails below 10 of them.
type test struct {
	n            int
	mean, se     float64
	below, above float64
	tails        float64
}

func newTest(x []float64) test {
	n := float64(len(x))
	m := mean(x)
	var second, third float64
	for _, v := range x {
		second += (v - m) * (v - m)
		third += (v - m) * (v - m) * (v - m)
	}
	t := test{n: len(x), mean: m, se: math.Sqrt(second / (n - 1) / n), below: 1, above: 1,
		tails: min(max((n-2)/8, 0.25), 1)}
	if sd := math.Sqrt(second / (n - 1)); sd > 0 && n > 2 {
		// G1, the adjusted Fisher–Pearson coefficient.
		skewness := n / ((n - 1) * (n - 2)) * third / (sd * sd * sd)
		if longer := math.Abs(skewness) * min(1.5, 11/n); skewness > 0 {
			t.above += longer
		} else {
			t.below += longer
		}
	}
	return t
}

// skewness is G1 of the differences, the adjusted Fisher–Pearson coefficient; NaN where they have no spread.
func skewness(b, c []float64) float64 {
	n, mid := float64(len(b)), mean(c)-mean(b)
	var second, third float64
	for i := range b {
		d := c[i] - b[i] - mid
		second, third = second+d*d, third+d*d*d
	}
	if n < 3 {
		return math.NaN()
	}
	return n / ((n - 1) * (n - 2)) * third / math.Pow(second/(n-1), 1.5)
}

// p is the two-sided p-value of no difference.
func (t test) p() float64 {
	side := t.below
	if t.mean < 0 {
		side = t.above
	}
	return min(1, twoTails(math.Abs(t.mean)/t.se/side, float64(t.n-1))/t.tails)
}

// reach is by how many standard errors the interval at a level reaches to each side, before it is lengthened.
func (t test) reach(level float64) float64 { return critical((1-level)*t.tails, float64(t.n-1)) }

// ratio is the interval of the ratio of the means of c and b: all r for which b and c do not refute that the mean of
// c − r·b is 0.
func (t test) ratio(b, c []float64, level float64) (low, high float64) {
	n := float64(len(b))
	mb, mc := mean(b), mean(c)
	var vb, vc, cov float64
	for i := range b {
		vb += (b[i] - mb) * (b[i] - mb) / (n - 1)
		vc += (c[i] - mc) * (c[i] - mc) / (n - 1)
		cov += (b[i] - mb) * (c[i] - mc) / (n - 1)
	}
	// The roots of (mc − r·mb)² = q²/n · (vc − 2r·cov + r²·vb).
	root := func(side, sign float64) float64 {
		q := side * t.reach(level)
		f := q * q / n
		square, linear, constant := mb*mb-f*vb, mb*mc-f*cov, mc*mc-f*vc
		if !(square > 1e-12*mb*mb) {
			return math.NaN()
		}
		return (linear + sign*math.Sqrt(max(0, linear*linear-square*constant))) / square
	}
	return root(t.below, -1), root(t.above, 1)
}

// twoTails is the probability that Student's t with df degrees of freedom is beyond ±t: the regularised incomplete beta
// function I_x(df/2, 1/2) at x = df/(df + t²).
func twoTails(t, df float64) float64 {
	if math.IsNaN(t) {
		return 1
	}
	x := df / (df + t*t)
	if math.IsInf(t, 0) {
		x = 0
	}
	return incompleteBeta(df/2, 0.5, x)
}

// critical is the t beyond ±which there is the probability p.
func critical(p, df float64) float64 {
	low, high := 0.0, 1.0
	for twoTails(high, df) > p && high < 1e12 {
		high *= 2
	}
	for range 200 {
		if middle := (low + high) / 2; twoTails(middle, df) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// incompleteBeta is the regularised incomplete beta function, by its continued fraction (M. Abramowitz, I. A. Stegun,
// "Handbook of Mathematical Functions", 1964, 26.5.8), evaluated as W. J. Lentz does.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(b, a, 1-x)
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	fraction := d
	for m := 1.0; m < 1000; m++ {
		for _, term := range []float64{m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))} {
			if d = 1 + term*d; math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + term/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			fraction *= c * d
		}
		if math.Abs(c*d-1) < 1e-16 {
			break
		}
	}
	return math.Exp(gab-ga-gb+a*math.Log(x)+b*math.Log1p(-x)) * fraction / a
}

// holm multiplies the smallest of n p-values by n, the next one by n − 1 and so on; none becomes smaller than one
// before it. NaN stays.
func holm(p []float64) []float64 {
	order := []int{}
	for i := range p {
		if !math.IsNaN(p[i]) {
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
	for k, i := range order {
		if out[i] = min(1, p[i]*float64(len(order)-k)); k > 0 {
			out[i] = max(out[i], out[order[k-1]])
		}
	}
	return out
}
