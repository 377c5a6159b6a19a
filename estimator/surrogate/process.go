// Package surrogate is the numerical part of Bayesian optimization: it models an expensive function by a Gaussian
// process, and chooses where to evaluate the function next.
//
// Inputs are points of the unit cube, to which type Space maps settings. Outputs are standardized internally. Smaller
// outputs are better.
package surrogate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Process is a Gaussian process conditioned on observations.
type Process struct {
	shape
	hyper Hyper

	x      [][]float64
	mean   float64           // of the outputs
	scale  float64           // standard deviation of the outputs; 1 if all are equal
	factor blas64.Triangular // U of K = Uᵀ·U
	weight []float64         // K⁻¹·y
	y      []float64         // standardized

	drawn []*Process // processes with other hyper-parameters; nil unless Options.Additive is above 0
}

// Options choose a process.
type Options struct {
	Kernel Kernel // "" means Matern52
	// Categorical marks the inputs whose values have no order.
	Categorical []bool
	// Additive is the fraction of the variance, from 0 to 1, that is a sum of functions of one input each; only for
	// Matern52. If it is above 0, Expect averages over other fractions and hyper-parameters.
	Additive float64
	// Fixed are hyper-parameters to use without a fit; nil fits them.
	Fixed *Hyper
	// Least is the smallest standard deviation assumed of the outputs; 0 means no limit.
	Least float64
}

// errNoObservations is returned when there is nothing to condition a process on.
var errNoObservations = errors.New("surrogate: there are no observations")

// New conditions a process on observations: the function had the value y[i] at x[i]. Hyper-parameters are fitted by
// maximum marginal likelihood, unless they are fixed.
func New(x [][]float64, y []float64, o Options) (*Process, error) {
	p, err := prepare(x, y, o)
	if err != nil {
		return nil, err
	}
	if o.Fixed != nil {
		p.hyper = o.Fixed.clone()
	} else {
		p.fit()
	}
	if err := p.condition(); err != nil {
		return nil, err
	}
	if o.Fixed == nil && p.additive > 0 {
		p.average()
	}
	return p, nil
}

// prepare checks and standardizes observations.
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
	x, y = subset(x, y, mostConditioned)
	p := &Process{x: x, shape: shape{kernel: o.Kernel, categorical: o.Categorical, additive: o.Additive}}
	if p.kernel = cmp.Or(p.kernel, Matern52); p.kernel == Exponential {
		p.additive = 0
	}
	if p.categorical == nil {
		p.categorical = make([]bool, len(x[0]))
	}
	p.mean, p.scale = stat.MeanStdDev(y, nil)
	if !(p.scale > 1e-12*math.Max(1, math.Abs(p.mean))) { // one observation, or equal ones
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

// mostConditioned is the largest number of observations for a process, whose matrix grows with its square.
const mostConditioned = 600

// subset returns at most n observations: a quarter are the smallest outputs, a quarter the latest, and the others are
// spread evenly.
func subset(x [][]float64, y []float64, n int) ([][]float64, []float64) {
	if len(x) <= n {
		return x, y
	}
	late := len(x) - n/4
	order := make([]int, late)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	kept := slices.Clone(order[:n/4])
	rest := order[n/4:]
	slices.Sort(rest)
	for i := range n - 2*(n/4) {
		kept = append(kept, rest[i*len(rest)/(n-2*(n/4))])
	}
	slices.Sort(kept)
	for i := late; i < len(x); i++ {
		kept = append(kept, i)
	}
	some, outputs := make([][]float64, n), make([]float64, n)
	for at, i := range kept {
		some[at], outputs[at] = x[i], y[i]
	}
	return some, outputs
}

// Hyper returns the hyper-parameters.
func (p *Process) Hyper() Hyper { return p.hyper.clone() }

// covariances writes K + noise²·I.
func (p *Process) covariances(h *Hyper, k *mat.SymDense) {
	raw := k.RawSymmetric()
	for i := range p.x {
		row := raw.Data[i*raw.Stride:]
		for j := i; j < len(p.x); j++ {
			row[j] = p.covariance(h, p.x[i], p.x[j])
		}
		row[i] += h.Noise * h.Noise
	}
}

// Jitter is added to the diagonal of a matrix that is not positive definite: first the smallest, then ten times more
// at each try.
const (
	leastJitter = 1e-10
	mostJitter  = 1e-3
)

// errSingular is returned for a matrix that is not positive definite even with the largest jitter.
var errSingular = errors.New("surrogate: the covariance matrix is not positive definite")

// condition factorizes K in place, with jitter if necessary.
func (p *Process) condition() error {
	for jitter := 0.0; jitter <= mostJitter; jitter = math.Max(10*jitter, leastJitter) {
		k := mat.NewSymDense(len(p.x), nil)
		p.covariances(&p.hyper, k)
		for i := range p.x {
			k.SetSym(i, i, k.At(i, i)+jitter)
		}
		var ok bool
		if p.factor, ok = lapack64.Potrf(k.RawSymmetric()); ok {
			p.weight = p.solve()
			return nil
		}
	}
	return errSingular
}

// solve returns K⁻¹·y.
func (p *Process) solve() []float64 {
	w := blas64.Vector{N: len(p.y), Inc: 1, Data: slices.Clone(p.y)}
	blas64.Trsv(blas.Trans, p.factor, w)
	blas64.Trsv(blas.NoTrans, p.factor, w)
	return w.Data
}

// together is the number of points predicted at a time, which limits memory.
const together = 128

// Predict returns the mean and standard deviation of the function (without noise) at each point, in the units of the
// observations.
func (p *Process) Predict(points [][]float64) (mean, sd []float64) {
	n := len(p.x)
	mean, sd = make([]float64, len(points)), make([]float64, len(points))
	data := make([]float64, n*min(together, len(points)))
	for from := 0; from < len(points); from += together {
		part := points[from:min(from+together, len(points))]
		m := len(part)
		cross := blas64.General{Rows: n, Cols: m, Stride: m, Data: data[:n*m]}
		mean, sd := mean[from:from+m], sd[from:from+m]
		for i := range n {
			row := cross.Data[i*m : (i+1)*m]
			for j, at := range part {
				row[j] = p.covariance(&p.hyper, p.x[i], at)
				mean[j] += row[j] * p.weight[i]
			}
		}
		blas64.Trsm(blas.Left, blas.Trans, 1, p.factor, cross) // U⁻ᵀ·k
		for i := range n {
			for j, v := range cross.Data[i*m : (i+1)*m] {
				sd[j] += v * v
			}
		}
	}
	prior := p.hyper.Signal * p.hyper.Signal
	for j := range mean {
		mean[j] = p.mean + p.scale*mean[j]
		sd[j] = p.scale * math.Sqrt(math.Max(prior-sd[j], 0))
	}
	return mean, sd
}

// Explained returns, for each pair of points, the fraction of the variance at goal[i] that an observation at
// points[i] would remove: cov²/((var + noise²)·var). It is computed from the conditioned process.
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
			blas64.Trsv(blas.Trans, p.factor, v.RawVector())
		}
		atA, atB := prior-mat.Dot(a, a), prior-mat.Dot(b, b)
		both := p.covariance(&p.hyper, points[i], goal[i]) - mat.Dot(a, b)
		if part := both * both / ((max(atA, 0) + noise) * max(atB, noise*1e-3)); part > 0 {
			out[i] = math.Min(part, 1)
		}
	}
	return out
}

// With returns the process conditioned on one more observation, with the same hyper-parameters and standardization.
// It costs O(n²).
func (p *Process) With(x []float64, y float64) (*Process, error) {
	q := &Process{shape: p.shape, hyper: p.hyper, mean: p.mean, scale: p.scale}
	for _, one := range p.drawn {
		if with, err := one.With(x, y); err == nil {
			q.drawn = append(q.drawn, with)
		}
	}
	n := len(p.x)
	q.x = append(p.x[:n:n], x)
	q.y = append(p.y[:n:n], (y-p.mean)/p.scale)
	u := mat.NewTriDense(n+1, mat.Upper, nil).RawTriangular()
	column := make([]float64, n)
	for i := range p.x {
		copy(u.Data[i*u.Stride+i:(i+1)*u.Stride-1], p.factor.Data[i*p.factor.Stride+i:i*p.factor.Stride+n])
		column[i] = p.covariance(&p.hyper, p.x[i], x)
	}
	blas64.Trsv(blas.Trans, p.factor, blas64.Vector{N: n, Inc: 1, Data: column})
	left := p.hyper.Signal*p.hyper.Signal + p.hyper.Noise*p.hyper.Noise
	for i, v := range column {
		u.Data[i*u.Stride+n] = v
		left -= v * v
	}
	for jitter := 0.0; jitter <= mostJitter; jitter = math.Max(10*jitter, leastJitter) {
		if left+jitter > 0 {
			u.Data[n*u.Stride+n] = math.Sqrt(left + jitter)
			q.factor = u
			q.weight = q.solve()
			return q, nil
		}
	}
	return nil, errSingular
}
