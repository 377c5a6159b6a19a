package builtin

import "math"

// The constants of the optimizers.
const (
	// Those of Adam are its authors' (Kingma, Ba: "Adam: A Method for
	// Stochastic Optimization", 2015).
	adamBeta1   = 0.9
	adamBeta2   = 0.999
	adamEpsilon = 1e-8
	// sgdMomentum is the part of the last step that is made again.
	sgdMomentum = 0.9
)

// optimizer turns gradients into steps. Parameters are independent of each
// other, so that disjoint ranges can be updated at once.
type optimizer struct {
	rate float64
	adam bool
	// m is the decaying mean of the gradient (Adam) or the last step (SGD);
	// v is the decaying mean of its square (Adam only).
	m, v []float64
}

func newOptimizer(c config, params int) *optimizer {
	o := &optimizer{rate: c.learningRate, adam: c.optimizer == "adam", m: make([]float64, params)}
	if o.adam {
		o.v = make([]float64, params)
	}
	return o
}

// update moves w[lo:hi] along the gradient scale·g[lo:hi] + penalty·w[lo:hi].
// step counts from 1.
func (o *optimizer) update(w, g []float64, lo, hi, step int, scale, penalty float64) {
	w, g, m := w[lo:hi], g[lo:hi], o.m[lo:hi]
	if !o.adam {
		for i := range w {
			m[i] = sgdMomentum*m[i] - o.rate*(scale*g[i]+penalty*w[i])
			w[i] += m[i]
		}
		return
	}
	v := o.v[lo:hi]
	first := 1 / (1 - math.Pow(adamBeta1, float64(step)))
	second := 1 / (1 - math.Pow(adamBeta2, float64(step)))
	for i := range w {
		d := scale*g[i] + penalty*w[i]
		m[i] = adamBeta1*m[i] + (1-adamBeta1)*d
		v[i] = adamBeta2*v[i] + (1-adamBeta2)*d*d
		w[i] -= o.rate * (m[i] * first) / (math.Sqrt(v[i]*second) + adamEpsilon)
	}
}
