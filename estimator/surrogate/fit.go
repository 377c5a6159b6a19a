package surrogate

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// The prior of the hyper-parameters is lognormal, with these medians; the standard deviation of the logarithm is 1.
// Length-scales are on the unit cube; signal and noise are of standardized outputs.
const (
	lengthMedian = 0.5
	signalMedian = 1.5
	noiseMedian  = 0.05
)

// priorMean returns the mean of the logarithm of parameter i. The first `lengths` parameters are length-scales.
func priorMean(i, lengths int) float64 {
	switch i {
	case lengths:
		return math.Log(signalMedian)
	case lengths + 1:
		return math.Log(noiseMedian)
	}
	return math.Log(lengthMedian)
}

// Bounds of the hyper-parameters, which keep matrices from being nearly singular.
const (
	leastLength, mostLength = 0.01, 100.0
	leastSignal, mostSignal = 0.05, 20.0
	leastNoise, mostNoise   = 1e-4, 2.0
)

// fitPoints is the largest number of observations for a fit of hyper-parameters, since each step with n observations
// costs O(n³).
const fitPoints = 160

// parameters returns the logarithms of the hyper-parameters: the length-scales (one, if the kernel has only one), the
// signal and the noise.
func (p *Process) parameters(h Hyper) []float64 {
	lengths := h.Length
	if p.kernel == Exponential {
		lengths = lengths[:1]
	}
	theta := make([]float64, 0, len(lengths)+2)
	for _, l := range lengths {
		theta = append(theta, math.Log(l))
	}
	return append(theta, math.Log(h.Signal), math.Log(h.Noise))
}

// hyperOf is the inverse of parameters.
func (p *Process) hyperOf(theta []float64) Hyper {
	lengths := len(theta) - 2
	h := Hyper{Length: make([]float64, len(p.x[0]))}
	for d := range h.Length {
		h.Length[d] = math.Exp(theta[min(d, lengths-1)])
	}
	h.Signal, h.Noise = math.Exp(theta[lengths]), math.Exp(theta[lengths+1])
	return h
}

// workspace is memory that the steps of a fit share.
type workspace struct {
	k, inverse mat.SymDense
	factor     mat.Cholesky
	solution   mat.VecDense
}

// posterior returns the logarithm of marginal likelihood × prior, and writes its gradient by theta to grad unless
// grad is nil. It returns −∞ outside the bounds.
func (p *Process) posterior(theta, grad []float64, s *workspace) float64 {
	h := p.hyperOf(theta)
	lengths := len(theta) - 2
	for d := range lengths {
		if l := h.Length[d]; l < leastLength || l > mostLength {
			return math.Inf(-1)
		}
	}
	if h.Signal < leastSignal || h.Signal > mostSignal || h.Noise < leastNoise || h.Noise > mostNoise {
		return math.Inf(-1)
	}
	n := len(p.x)
	if s.k.IsEmpty() {
		s.k.ReuseAsSym(n)
	}
	p.covariances(&h, &s.k)
	if !s.factor.Factorize(&s.k) {
		return math.Inf(-1)
	}
	y := mat.NewVecDense(n, p.y)
	_ = s.factor.SolveVecTo(&s.solution, y)
	value := -0.5*mat.Dot(y, &s.solution) - 0.5*s.factor.LogDet() - float64(n)/2*math.Log(2*math.Pi)
	if grad != nil {
		p.slopes(&h, s, grad)
	}
	for i, t := range theta {
		z := t - priorMean(i, lengths)
		value -= z * z / 2
		if grad != nil {
			grad[i] -= z
		}
	}
	return value
}

// slopes writes the gradient of the log marginal likelihood: ½·tr((w·wᵀ − K⁻¹)·∂K),
// for each parameter (Rasmussen and Williams, equation 5.9).
func (p *Process) slopes(h *Hyper, s *workspace, grad []float64) {
	clear(grad)
	w := s.solution.RawVector().Data
	n, lengths := len(p.x), len(grad)-2
	_ = s.factor.InverseTo(&s.inverse)
	raw := s.inverse.RawSymmetric()
	squares := make([]float64, len(p.x[0]))
	for i := range n {
		diagonal := w[i]*w[i] - raw.Data[i*raw.Stride+i]
		grad[lengths] += diagonal * h.Signal * h.Signal
		grad[lengths+1] += diagonal * h.Noise * h.Noise
		for j := i + 1; j < n; j++ {
			r2 := 0.0
			for d := range squares {
				squares[d] = p.square(d, p.x[i][d], p.x[j][d], h.Length[d])
				r2 += squares[d]
			}
			both := w[i]*w[j] - raw.Data[i*raw.Stride+j] // the trace has each pair twice, which cancels the ½
			slope := both * (1 - p.additive) * p.shape.slope(h, r2)
			for d, square := range squares {
				grad[min(d, lengths-1)] += slope * square
				if p.additive > 0 {
					grad[d] += both * p.additive / float64(len(squares)) * p.shape.slope(h, square) * square
				}
			}
			grad[lengths] += 2 * both * p.covariance(h, p.x[i], p.x[j])
		}
	}
}

// fit maximizes the posterior of the hyper-parameters from several starts.
func (p *Process) fit() {
	dims := len(p.x[0])
	at := func(length, noise float64) Hyper {
		h := Hyper{Length: make([]float64, dims), Signal: 1, Noise: noise}
		for d := range h.Length {
			h.Length[d] = length
		}
		return h
	}
	starts := []Hyper{at(0.5, 0.05), at(0.2, 0.01), at(1.5, 0.3)}
	part, space := p.part(), &workspace{}
	best, found := math.Inf(-1), starts[0]
	for _, s := range starts {
		theta := part.parameters(s)
		value := part.climb(theta, space)
		if value > best {
			best, found = value, part.hyperOf(theta)
		}
	}
	p.hyper = found
}

// part returns the process of the observations that are used for a fit.
func (p *Process) part() *Process {
	q := &Process{shape: p.shape}
	q.x, q.y = subset(p.x, p.y, fitPoints)
	return q
}

// climb moves theta to a local maximum, and returns the posterior there.
func (p *Process) climb(theta []float64, s *workspace) float64 {
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return -p.posterior(x, nil, s) },
		Grad: func(grad, x []float64) {
			p.posterior(x, grad, s)
			for i := range grad {
				grad[i] = -grad[i]
			}
		},
	}
	before := p.posterior(theta, nil, s)
	settings := &optimize.Settings{MajorIterations: 40, FuncEvaluations: 120, GradientThreshold: 1e-3}
	result, _ := optimize.Minimize(problem, theta, settings, &optimize.LBFGS{})
	if result == nil || math.IsInf(result.F, 0) || math.IsNaN(result.F) || -result.F < before {
		return before
	}
	copy(theta, result.X)
	return -result.F
}
