// Package surrogate models an expensive function by a Gaussian process, and
// says where to evaluate it next: the numerical part of Bayesian optimization.
//
// Inputs are points of the unit cube (package-level type Space maps settings to
// it); outputs are standardized inside. Smaller outputs are better.
package surrogate

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Process is a Gaussian process conditioned on observations.
type Process struct {
	shape
	hyper Hyper

	x      [][]float64
	mean   float64 // of the outputs
	scale  float64 // their standard deviation; 1 where they are all alike
	factor mat.Cholesky
	lower  mat.TriDense // the factor, for solving
	weight []float64    // K⁻¹·y
	y      []float64    // standardized
}

// Options choose a process.
type Options struct {
	Kernel Kernel // Matern52 where it is empty
	// Categorical marks the inputs whose values have no order.
	Categorical []bool
	// Additive is the part of the variance that is a sum of functions of one input each, from 0 to 1; of Matern52 only.
	Additive float64
	// Fixed hyper-parameters are used as they are; nil fits them.
	Fixed *Hyper
	// Start is an additional starting point of the fit; may be nil.
	Start *Hyper
	// Least is the least standard deviation that the outputs are taken to have; 0 for none.
	Least float64
}

// errNoObservations is returned for a process without data.
var errNoObservations = errors.New("surrogate: there are no observations")

// New conditions a process on observations: y[i] was seen at x[i]. Hyper-parameters
// are fitted by maximum marginal likelihood, unless they are fixed.
func New(x [][]float64, y []float64, o Options) (*Process, error) {
	p, err := prepare(x, y, o)
	if err != nil {
		return nil, err
	}
	if o.Fixed != nil {
		p.hyper = o.Fixed.clone()
	} else {
		p.fit(o.Start)
	}
	if err := p.condition(); err != nil {
		return nil, err
	}
	return p, nil
}

// prepare checks and standardizes the observations.
func prepare(x [][]float64, y []float64, o Options) (*Process, error) {
	if len(x) == 0 {
		return nil, errNoObservations
	}
	if len(x) != len(y) {
		return nil, fmt.Errorf("surrogate: %d points, but %d outputs", len(x), len(y))
	}
	for i := range x {
		if len(x[i]) != len(x[0]) {
			return nil, fmt.Errorf("surrogate: point %d has %d inputs, the first has %d", i, len(x[i]), len(x[0]))
		}
		if math.IsNaN(y[i]) || math.IsInf(y[i], 0) {
			return nil, fmt.Errorf("surrogate: output %d is %v", i, y[i])
		}
	}
	p := &Process{x: x, shape: shape{kernel: o.Kernel, categorical: o.Categorical, additive: o.Additive}}
	if p.kernel = cmp.Or(p.kernel, Matern52); p.kernel == Exponential {
		p.additive = 0
	}
	if p.categorical == nil {
		p.categorical = make([]bool, len(x[0]))
	}
	p.mean, p.scale = stat.MeanStdDev(y, nil)
	if !(p.scale > 1e-12*math.Max(1, math.Abs(p.mean))) { // one observation, or all alike
		p.scale = 1
		if o.Least > 0 {
			p.scale = o.Least
		}
	}
	p.scale = math.Max(p.scale, o.Least)
	p.y = make([]float64, len(y))
	for i, v := range y {
		p.y[i] = (v - p.mean) / p.scale
	}
	return p, nil
}

// Hyper returns the hyper-parameters.
func (p *Process) Hyper() Hyper { return p.hyper.clone() }

// covariances returns K + noise²·I.
func (p *Process) covariances(h *Hyper) *mat.SymDense {
	n := len(p.x)
	k := mat.NewSymDense(n, nil)
	raw := k.RawSymmetric()
	for i := range n {
		row := raw.Data[i*raw.Stride:]
		for j := i; j < n; j++ {
			row[j] = p.covariance(h, p.x[i], p.x[j])
		}
		row[i] += h.Noise * h.Noise
	}
	return k
}

// The jitter added to the diagonal when a matrix is not positive definite: from
// the least, ten times more at each trial.
const (
	leastJitter = 1e-10
	mostJitter  = 1e-3
)

// factorize computes the Cholesky factor of k, with jitter where it needs it.
func factorize(k *mat.SymDense, c *mat.Cholesky) bool {
	if c.Factorize(k) {
		return true
	}
	n := k.SymmetricDim()
	added := 0.0
	for jitter := leastJitter; jitter <= mostJitter; jitter *= 10 {
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+jitter-added)
		}
		added = jitter
		if c.Factorize(k) {
			return true
		}
	}
	return false
}

// errSingular is returned when jitter does not help.
var errSingular = errors.New("surrogate: the covariance matrix is not positive definite")

func (p *Process) condition() error {
	if !factorize(p.covariances(&p.hyper), &p.factor) {
		return errSingular
	}
	p.factor.LTo(&p.lower)
	p.weight = p.solve()
	return nil
}

// solve returns K⁻¹·y.
func (p *Process) solve() []float64 {
	var w mat.VecDense
	_ = p.factor.SolveVecTo(&w, mat.NewVecDense(len(p.y), p.y)) // only a warning of its condition
	return w.RawVector().Data
}

// Predict returns mean and standard deviation of the function (without noise) at
// each of several points, in the units of the observations.
func (p *Process) Predict(points [][]float64) (mean, sd []float64) {
	n, m := len(p.x), len(points)
	mean, sd = make([]float64, m), make([]float64, m)
	if m == 0 {
		return mean, sd
	}
	cross := blas64.General{Rows: n, Cols: m, Stride: m, Data: make([]float64, n*m)}
	for i := range n {
		row := cross.Data[i*m : (i+1)*m]
		for j, at := range points {
			row[j] = p.covariance(&p.hyper, p.x[i], at)
			mean[j] += row[j] * p.weight[i]
		}
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, p.lower.RawTriangular(), cross) // L⁻¹·k
	for i := range n {
		for j, v := range cross.Data[i*m : (i+1)*m] {
			sd[j] += v * v
		}
	}
	prior := p.hyper.Signal * p.hyper.Signal
	for j := range mean {
		mean[j] = p.mean + p.scale*mean[j]
		sd[j] = p.scale * math.Sqrt(math.Max(prior-sd[j], 0))
	}
	return mean, sd
}

// Explained returns for each pair of points the fraction of the variance at goal[i]
// that an observation at points[i] would remove: cov²/((var + noise²)·var), of the
// process as it is conditioned now. It is from 0 to 1.
func (p *Process) Explained(points, goal [][]float64) []float64 {
	n := len(p.x)
	a, b := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	prior, noise := p.hyper.Signal*p.hyper.Signal, p.hyper.Noise*p.hyper.Noise
	out := make([]float64, len(points))
	for i := range points {
		for k := range p.x {
			a.SetVec(k, p.covariance(&p.hyper, p.x[k], points[i]))
			b.SetVec(k, p.covariance(&p.hyper, p.x[k], goal[i]))
		}
		for _, v := range []*mat.VecDense{a, b} {
			blas64.Trsv(blas.NoTrans, p.lower.RawTriangular(), v.RawVector())
		}
		atA, atB := prior-mat.Dot(a, a), prior-mat.Dot(b, b)
		both := p.covariance(&p.hyper, points[i], goal[i]) - mat.Dot(a, b)
		if part := both * both / ((max(atA, 0) + noise) * max(atB, noise*1e-3)); part > 0 {
			out[i] = math.Min(part, 1)
		}
	}
	return out
}

// With returns the process conditioned on a further observation, with the same
// hyper-parameters and standardization, at the cost of O(n²).
func (p *Process) With(x []float64, y float64) (*Process, error) {
	q := &Process{shape: p.shape, hyper: p.hyper, mean: p.mean, scale: p.scale}
	n := len(p.x)
	q.x = append(p.x[:n:n], x)
	q.y = append(p.y[:n:n], (y-p.mean)/p.scale)
	v := mat.NewVecDense(n+1, nil)
	for i := range p.x {
		v.SetVec(i, p.covariance(&p.hyper, p.x[i], x))
	}
	own := p.hyper.Signal*p.hyper.Signal + p.hyper.Noise*p.hyper.Noise
	for jitter := 0.0; jitter <= mostJitter; jitter = math.Max(10*jitter, leastJitter) {
		v.SetVec(n, own+jitter)
		if q.factor.ExtendVecSym(&p.factor, v) {
			q.factor.LTo(&q.lower)
			q.weight = q.solve()
			return q, nil
		}
	}
	return nil, errSingular
}
