package network

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// layer is one function of a network. The values of n images are in flat slices, whose order depends on the layer.
type layer interface {
	// outputs returns the number of output values of one image.
	outputs() int
	// Params returns the number of parameters: weights, then biases.
	Params() (weights, biases int)
	// Products returns the number of multiplications in Forward for an image.
	Products() int
	// Initialize sets weights to random values; the biases stay 0.
	Initialize(weights []float64, r *rand.Rand)
	// scratch returns the number of values that Forward stores for backward, which may overwrite them.
	scratch(n int) int
	// Forward computes y from x for n images.
	Forward(w, x, y []float64, n int, scratch []float64)
	// backward computes the gradients dw and dx of a loss from the gradient dy of the output. x and y are from the last
	// Forward. If dx is nil, it is not computed. The old values of dw and dx are overwritten.
	backward(w, x, y, dy, dx, dw []float64, n int, scratch []float64)
}

// dense is the layer y = x·W + b, with one row of values for each image.
type dense struct {
	in, out int
}

func (d dense) outputs() int       { return d.out }
func (d dense) Params() (int, int) { return d.in * d.out, d.out }
func (d dense) Products() int      { return d.in * d.out }
func (d dense) scratch(int) int    { return 0 }

func (d dense) Initialize(w []float64, r *rand.Rand) { heNormal(w, d.in, r) }

func (d dense) Forward(w, x, y []float64, n int, _ []float64) {
	bias := w[d.in*d.out:]
	for i := range n {
		copy(y[i*d.out:(i+1)*d.out], bias)
	}
	multiply(blas.NoTrans, blas.NoTrans, matrix(n, d.in, x), matrix(d.in, d.out, w), 1, matrix(n, d.out, y))
}

func (d dense) backward(w, x, _, dy, dx, dw []float64, n int, _ []float64) {
	multiply(blas.Trans, blas.NoTrans, matrix(n, d.in, x), matrix(n, d.out, dy), 0, matrix(d.in, d.out, dw))
	bias := dw[d.in*d.out:]
	clear(bias)
	for i := range n {
		for j, g := range dy[i*d.out : (i+1)*d.out] {
			bias[j] += g
		}
	}
	if dx != nil {
		multiply(blas.NoTrans, blas.Trans, matrix(n, d.out, dy), matrix(d.in, d.out, w), 0, matrix(n, d.in, dx))
	}
}

// relu is the activation y = max(x, 0).
type relu struct {
	size int
}

func (l relu) outputs() int                       { return l.size }
func (relu) Params() (int, int)                   { return 0, 0 }
func (relu) Initialize(_ []float64, _ *rand.Rand) {}
func (relu) Products() int                        { return 0 }
func (relu) scratch(int) int                      { return 0 }

func (l relu) Forward(_, x, y []float64, n int, _ []float64) {
	for i, v := range x[:n*l.size] {
		y[i] = max(v, 0)
	}
}

func (l relu) backward(_, _, y, dy, dx, _ []float64, n int, _ []float64) {
	for i, v := range y[:n*l.size] {
		if v > 0 {
			dx[i] = dy[i]
		} else {
			dx[i] = 0
		}
	}
}

// tanh is the hyperbolic tangent. It is not idempotent, since tanh(tanh(x)) is not tanh(x).
type tanh struct {
	size int
}

func (l tanh) outputs() int                       { return l.size }
func (tanh) Params() (int, int)                   { return 0, 0 }
func (tanh) Initialize(_ []float64, _ *rand.Rand) {}
func (tanh) Products() int                        { return 0 }
func (tanh) scratch(int) int                      { return 0 }

func (l tanh) Forward(_, x, y []float64, n int, _ []float64) {
	for i, v := range x[:n*l.size] {
		y[i] = math.Tanh(v)
	}
}

func (l tanh) backward(_, _, y, dy, dx, _ []float64, n int, _ []float64) {
	for i, v := range y[:n*l.size] {
		dx[i] = dy[i] * (1 - v*v)
	}
}

// activation returns the activation with the given name, for `size` values per image.
func activation(name string, size int) layer {
	if name == "tanh" {
		return tanh{size}
	}
	return relu{size}
}

// heNormal sets w to values drawn from a normal distribution with variance 2/inputs (He, Zhang, Ren, Sun: "Delving Deep
// into Rectifiers", 2015).
func heNormal(w []float64, inputs int, r *rand.Rand) {
	sd := math.Sqrt(2 / float64(inputs))
	for i := range w {
		w[i] = sd * r.NormFloat64()
	}
}

func matrix(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
}

// multiply computes c = a·b + beta·c, where a and b are transposed if ta and tb say so. It computes tiles of c one by
// one. They are too small for gonum to start goroutines, since this package divides the work among threads itself.
func multiply(ta, tb blas.Transpose, a, b blas64.General, beta float64, c blas64.General) {
	const rows, cols = 64, 192
	for i := 0; i < c.Rows; i += rows {
		ni := min(rows, c.Rows-i)
		ai := across(ta, a, i, ni)
		for j := 0; j < c.Cols; j += cols {
			nj := min(cols, c.Cols-j)
			blas64.Gemm(ta, tb, 1, ai, along(tb, b, j, nj), beta, part(c, i, ni, j, nj))
		}
	}
}

// across returns the part of m that gives n rows from row i on, after the transposition t.
func across(t blas.Transpose, m blas64.General, i, n int) blas64.General {
	if t == blas.NoTrans {
		return part(m, i, n, 0, m.Cols)
	}
	return part(m, 0, m.Rows, i, n)
}

// along returns the part of m that gives n columns from column j on, after the transposition t.
func along(t blas.Transpose, m blas64.General, j, n int) blas64.General {
	if t == blas.NoTrans {
		return part(m, 0, m.Rows, j, n)
	}
	return part(m, j, n, 0, m.Cols)
}

// part returns the rows × cols block of m at (i, j), without a copy.
func part(m blas64.General, i, rows, j, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: m.Stride,
		Data: m.Data[i*m.Stride+j : (i+rows-1)*m.Stride+j+cols]}
}
