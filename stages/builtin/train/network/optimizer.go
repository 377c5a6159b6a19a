package network

import "math"

// The constants of the optimizers.
const (
	// Adam's values are its authors' (Kingma, Ba: "Adam: A Method for
	// Stochastic Optimization", 2015).
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
	// sgdMomentum is the part of the last step that is repeated in the next step.
	sgdMomentum = 0.9
)

// Optimizer computes steps from gradients. Each parameter is updated independently, so several goroutines can update
// different ranges.
type Optimizer struct {
	Rate float64
	Adam bool
	// M is the decaying mean of the gradient (Adam), or the last step (SGD). V is the decaying mean of the gradient's
	// square (Adam only).
	M, V []float64
}

// NewOptimizer returns an optimizer for the given number of parameters: Adam, or SGD with momentum.
func NewOptimizer(rate float64, adam bool, params int) *Optimizer {
	o := &Optimizer{Rate: rate, Adam: adam, M: make([]float64, params)}
	if o.Adam {
		o.V = make([]float64, params)
	}
	return o
}

// Update moves w[lo:hi] against the gradient scale·g[lo:hi] + penalty·w[lo:hi]. step is the number of the step, from 1.
func (o *Optimizer) Update(w, g []float64, lo, hi, step int, scale, penalty float64) {
	w, g, m := w[lo:hi], g[lo:hi], o.M[lo:hi]
	if !o.Adam {
		for i := range w {
			m[i] = sgdMomentum*m[i] - o.Rate*(scale*g[i]+penalty*w[i])
			w[i] += m[i]
		}
		return
	}
	v := o.V[lo:hi]
	first := 1 / (1 - math.Pow(adamBeta1, float64(step)))
	second := 1 / (1 - math.Pow(adamBeta2, float64(step)))
	for i := range w {
		d := scale*g[i] + penalty*w[i]
		m[i] = adamBeta1*m[i] + (1-adamBeta1)*d
		v[i] = adamBeta2*v[i] + (1-adamBeta2)*d*d
		w[i] -= o.Rate * (m[i] * first) / (math.Sqrt(v[i]*second) + adamEpsilon)
	}
}
