package builtin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/tfexp/tfexp/jobs/digits"
)

// small are configurations of every program with few parameters.
func small(t *testing.T) []config {
	var all []config
	for _, args := range [][]string{
		{"softmax"}, {"svm"}, {"mlp", "--hidden", "5,4"}, {"cnn", "--filters", "2,3", "--hidden", "5"}, {"cnn", "--filters", "2,2,3", "--hidden", "3"},
		{"mlp", "--hidden", "5,4", "--blocks", "2,1", "--activation", "tanh"},
		{"cnn", "--filters", "2,3", "--hidden", "5", "--blocks", "2,1,3"},
	} {
		all = append(all, configOf(t, args...))
	}
	return all
}

func configOf(t *testing.T, args ...string) config {
	t.Helper()
	c, _, err := parse(args, nil)
	if err != nil {
		t.Fatalf("parse %q: %v", args, err)
	}
	return c
}

// The gradient of every program is that of its loss, measured by central
// differences.
func TestGradientIsTheSlopeOfTheLoss(t *testing.T) {
	const images, eps = 3, 1e-6
	for _, c := range small(t) {
		t.Run(c.program, func(t *testing.T) {
			net := newNetwork(c)
			r := rand.New(rand.NewPCG(1, 2))
			w := make([]float64, net.params())
			for i := range w {
				w[i] = 0.4 * r.NormFloat64()
			}
			ws := net.newWorkspace(images)
			labels := make([]uint8, images)
			lossAt := func() float64 {
				// Distinct values: at a tie the maximum of a pool has no slope.
				x := rand.New(rand.NewPCG(3, 4))
				for i := range ws.values[0] {
					ws.values[0][i] = x.Float64()
				}
				for i := range labels {
					labels[i] = uint8(3 * i)
				}
				return net.gradient(w, ws, labels, make([]float64, len(w)))
			}
			dw := make([]float64, len(w))
			lossAt()
			net.gradient(w, ws, labels, dw)
			nonzero := 0
			for i := range w {
				was := w[i]
				w[i] = was + eps
				up := lossAt()
				w[i] = was - eps
				down := lossAt()
				w[i] = was
				slope := (up - down) / (2 * eps)
				if math.Abs(slope-dw[i]) > 1e-5*(1+math.Abs(slope)) {
					t.Errorf("parameter %d of %d: gradient %g, slope %g", i, len(w), dw[i], slope)
				}
				if dw[i] != 0 {
					nonzero++
				}
			}
			if nonzero < len(w)/10 {
				t.Errorf("only %d of %d gradients are not 0", nonzero, len(w))
			}
		})
	}
}

// The gradient by an input must reach the input too, for networks whose first
// layer is not the last to be asked; conv is checked alone as it skips its own.
func TestConvolutionPassesItsGradientOn(t *testing.T) {
	const n, eps = 2, 1e-6
	c := conv{channels: 2, filters: 3, side: 4}
	weights, biases := c.params()
	r := rand.New(rand.NewPCG(5, 6))
	draw := func(size int) []float64 {
		s := make([]float64, size)
		for i := range s {
			s[i] = r.NormFloat64()
		}
		return s
	}
	w, x, dy := draw(weights+biases), draw(n*2*16), draw(n*3*16)
	y, dx, dw, scratch := make([]float64, n*3*16), make([]float64, len(x)), make([]float64, len(w)), make([]float64, c.scratch(n))
	value := func() float64 {
		c.forward(w, x, y, n, scratch)
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

// Tiles of a product give what one sum for each element gives.
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
	}{{"plain", blas.NoTrans, blas.NoTrans}, {"first transposed", blas.Trans, blas.NoTrans}, {"second transposed", blas.NoTrans, blas.Trans}} {
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
			o := newOptimizer(config{optimizer: name, learningRate: 0.01}, 1)
			w := []float64{0}
			for step := 1; step <= 3000; step++ {
				o.update(w, []float64{4 * (w[0] - 3)}, 0, 1, step, 0.5, test.penalty)
			}
			if math.Abs(w[0]-test.want) > 1e-3 {
				t.Errorf("%s with penalty %g ends at %g, want %g", name, test.penalty, w[0], test.want)
			}
		}
	}
}

func TestShardsHangOnTheBatchAlone(t *testing.T) {
	for _, test := range []struct{ batch, products, want int }{
		{32, 640, 32},      // softmax: not worth sharing
		{32, 4736, 16},     // mlp [64]
		{64, 4736, 16},     // the same in 4 shards
		{32, 50_000, 4},    // no smaller than minShard
		{1437, 50_000, 45}, // no more than maxShards
		{1, 50_000, 1},
	} {
		if got := shardSize(test.batch, test.products); got != test.want {
			t.Errorf("shardSize(%d, %d) = %d, want %d", test.batch, test.products, got, test.want)
		}
	}
}
