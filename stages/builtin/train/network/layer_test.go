package network

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/tfexp/tfexp/jobs/digits"
)

// The gradient by an input must reach the input too, for networks whose first
// layer is not the last to be asked; conv is checked alone as it skips its own.
func TestConvolutionPassesItsGradientOn(t *testing.T) {
	const n, eps = 2, 1e-6
	c := conv{channels: 2, filters: 3, side: 4}
	weights, biases := c.Params()
	r := rand.New(rand.NewPCG(5, 6))
	draw := func(size int) []float64 {
		s := make([]float64, size)
		for i := range s {
			s[i] = r.NormFloat64()
		}
		return s
	}
	w, x, dy := draw(weights+biases), draw(n*2*16), draw(n*3*16)
	y, dx, dw, scratch := make([]float64, n*3*16), make([]float64, len(x)), make([]float64, len(w)), make([]float64,
		c.scratch(n))
	value := func() float64 {
		c.Forward(w, x, y, n, scratch)
		sum := 0.0
		for i := range y {
			sum += y[i] * dy[i]
		}
		return sum
	}
	value()
	c.backward(w, x, y, dy, dx, dw, n, scratch)
	for i := range x {
		was := x[i]
		x[i] = was + eps
		up := value()
		x[i] = was - eps
		down := value()
		x[i] = was
		if slope := (up - down) / (2 * eps); math.Abs(slope-dx[i]) > 1e-6*(1+math.Abs(slope)) {
			t.Errorf("input %d: gradient %g, slope %g", i, dx[i], slope)
		}
	}
}

// A product computed by tiles equals the product computed by one sum for each element.
func TestMultiplyInTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const m, k, n = 70, 5, 400 // more than a tile both ways
	a, b := make([]float64, m*k), make([]float64, k*n)
	for _, s := range [][]float64{a, b} {
		for i := range s {
			s[i] = r.NormFloat64()
		}
	}
	at, bt := make([]float64, m*k), make([]float64, k*n)
	for i := range m {
		for j := range k {
			at[j*m+i] = a[i*k+j]
		}
	}
	for i := range k {
		for j := range n {
			bt[j*k+i] = b[i*n+j]
		}
	}
	for _, test := range []struct {
		name   string
		ta, tb blas.Transpose
	}{{"plain", blas.NoTrans, blas.NoTrans}, {"first transposed", blas.Trans, blas.NoTrans}, {"second transposed",
		blas.NoTrans, blas.Trans}} {
		c := slices.Repeat([]float64{2}, m*n)
		am, bm := matrix(m, k, a), matrix(k, n, b)
		if test.ta == blas.Trans {
			am = matrix(k, m, at)
		}
		if test.tb == blas.Trans {
			bm = matrix(n, k, bt)
		}
		multiply(test.ta, test.tb, am, bm, 1, matrix(m, n, c))
		for i := range m {
			for j := range n {
				want := 2.0
				for l := range k {
					want += a[i*k+l] * b[l*n+j]
				}
				if math.Abs(c[i*n+j]-want) > 1e-12 {
					t.Fatalf("%s: element %d,%d is %g, want %g", test.name, i, j, c[i*n+j], want)
				}
			}
		}
	}
}

func TestLosses(t *testing.T) {
	scores := make([]float64, digits.Classes)
	d := make([]float64, digits.Classes)
	if got, want := crossEntropy(scores, []uint8{4}, d), math.Log(10); math.Abs(got-want) > 1e-12 {
		t.Errorf("cross entropy of equal scores is %g, want log 10 = %g", got, want)
	}
	scores[4] = 1000 // e^1000 is no float64
	if got := crossEntropy(scores, []uint8{4}, d); got != 0 {
		t.Errorf("cross entropy of a sure and right answer is %g, want 0", got)
	}
	scores[4] = 0.25
	if got := hinge(scores, []uint8{4}, d); got != 0.75 {
		t.Errorf("hinge loss with a margin of 0.25 is %g, want 0.75", got)
	}
	scores[4] = 1.5
	if got := hinge(scores, []uint8{4}, d); got != 0 || slices.ContainsFunc(d, func(g float64) bool { return g != 0 }) {
		t.Errorf("hinge loss beyond the margin is %g with gradient %v, want 0", got, d)
	}
}

func TestOptimizersGoDownhill(t *testing.T) {
	for _, name := range []string{"adam", "sgd"} {
		// (w−3)² + penalty: the penalty pulls the minimum towards 0.
		for _, test := range []struct{ penalty, want float64 }{{0, 3}, {1, 2}} {
			o := NewOptimizer(0.01, name == "adam", 1)
			w := []float64{0}
			for step := 1; step <= 3000; step++ {
				o.Update(w, []float64{4 * (w[0] - 3)}, 0, 1, step, 0.5, test.penalty)
			}
			if math.Abs(w[0]-test.want) > 1e-3 {
				t.Errorf("%s with penalty %g ends at %g, want %g", name, test.penalty, w[0], test.want)
			}
		}
	}
}
