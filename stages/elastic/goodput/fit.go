package goodput

import (
	"math"
	"slices"
)

// Measurement is the measured time of a job's steps with one configuration.
type Measurement struct {
	Nodes, GPUs, Local int
	// Gradient is the time of a gradient alone. Step is the time of a step, with the average over the GPUs. Both are in
	// seconds and above 0.
	Gradient, Step float64
}

// Indices of the parameters in the minimization: the logarithms of each α and β, and γ.
const (
	alphaC = iota
	betaC
	alphaN
	betaN
	alphaR
	betaR
	gammaAt
	variables
)

// Bounds of the parameters.
const (
	least       = 1e-8 // for each α and β
	greatestLog = 20
	mostGamma   = 10.0
)

// Fit returns the parameters that minimize
//
//	RMSE(log gradient) + RMSE(log step) + 1e-3·(γ-1)² + 1e-2·((βn/αn)² + (βr/αr)²)
//
// (Pollux, section 4.1). Parameters without a measurement are optimistic. With one batch size only, half of the
// gradient's time is constant. The time of an average across nodes, within a node, or over more than two GPUs is almost
// zero until it was measured. If only averages within a node were measured, an average across nodes takes at least 1.1
// times as long. Without measurements, Fit returns the zero value.
func Fit(all []Measurement) Params {
	if len(all) == 0 {
		return Params{}
	}
	f := newFit(all)
	p := toParams(minimise(f, f.start()))
	if !f.across {
		p.AlphaN = max(p.AlphaN, 1.1*p.AlphaR)
		p.BetaN = max(p.BetaN, 1.1*p.BetaR)
	}
	return p
}

type vector [variables]float64

func toParams(x vector) Params {
	return Params{
		AlphaC: math.Exp(x[alphaC]), BetaC: math.Exp(x[betaC]), AlphaN: math.Exp(x[alphaN]), BetaN: math.Exp(x[betaN]),
		AlphaR: math.Exp(x[alphaR]), BetaR: math.Exp(x[betaR]), Gamma: x[gammaAt],
	}
}

// fit is a problem that Fit solves.
type fit struct {
	rows     []row
	sizes    []size
	networks []network
	fixed    [variables]bool
	half     float64 // half of the mean time of a gradient
	across   bool    // some measurements are of several nodes
}

// row is a measurement: its logarithms, its index of sizes, and its index of networks (−1 for one GPU).
type row struct {
	logGradient, logStep float64
	size, network        int
}

// size is a number of samples on a GPU. At the point that is evaluated, it has the time of their gradient, and the
// parts of the constant and of the slope in this time.
type size struct {
	local     float64
	time, log float64
	dc, db    float64
}

// network is the number of GPUs beyond two, within a node or across nodes. It has the time of their average at the
// point that is evaluated.
type network struct {
	alpha     int // index of its α in the parameters
	beyond    float64
	time, log float64
}

// indexOf returns the index of a value in a list; it appends the value if it is new.
func indexOf[T comparable](all *[]T, v T) int {
	if i := slices.Index(*all, v); i >= 0 {
		return i
	}
	*all = append(*all, v)
	return len(*all) - 1
}

func newFit(all []Measurement) *fit {
	f := &fit{rows: make([]row, len(all))}
	within, many, sizes := false, false, false
	sum := 0.0
	for i, m := range all {
		r := row{
			logGradient: math.Log(m.Gradient), logStep: math.Log(m.Step),
			size: indexOf(&f.sizes, size{local: float64(m.Local)}), network: -1,
		}
		beyond := math.Max(float64(m.GPUs-2), 0)
		switch {
		case m.Nodes > 1:
			r.network, f.across = indexOf(&f.networks, network{alpha: alphaN, beyond: beyond}), true
		case m.GPUs > 1:
			r.network, within = indexOf(&f.networks, network{alpha: alphaR, beyond: beyond}), true
		}
		many = many || m.GPUs > 2
		sizes = sizes || m.Local != all[0].Local
		sum += m.Gradient
		f.rows[i] = r
	}
	f.half = sum / float64(len(all)) / 2
	f.fixed = [variables]bool{
		alphaC: !sizes, alphaN: !f.across, betaN: !f.across || !many, alphaR: !within, betaR: !within || !many,
		gammaAt: !f.across && !within, // without an average, there is no overlap to fit
	}
	return f
}

// start returns parameters of usual sizes, at which the minimization starts.
func (f *fit) start() vector {
	x := vector{gammaAt: 1.001}
	for i := range gammaAt {
		switch {
		case f.fixed[i] && i == alphaC:
			x[i] = math.Log(f.half)
		case f.fixed[i]:
			x[i] = math.Log(least)
		case i%2 == 0:
			x[i] = math.Log(0.1)
		default:
			x[i] = math.Log(0.01)
		}
	}
	if f.fixed[gammaAt] {
		x[gammaAt] = 1
	}
	return x
}

// times computes the times of all sizes and networks; v has each α and β.
func (f *fit) times(v *[gammaAt]float64) {
	for i := range f.sizes {
		a := &f.sizes[i]
		a.time = v[alphaC] + v[betaC]*a.local
		a.log = math.Log(a.time)
		a.dc, a.db = v[alphaC]/a.time, v[betaC]*a.local/a.time
	}
	for i := range f.networks {
		n := &f.networks[i]
		n.time = v[n.alpha] + v[n.alpha+1]*n.beyond
		n.log = math.Log(n.time)
	}
}

// evaluate returns the loss at a point, and its gradient.
func (f *fit) evaluate(x vector) (loss float64, slope vector) {
	var v [gammaAt]float64
	for i := range v {
		v[i] = math.Exp(x[i])
	}
	f.times(&v)
	gamma := x[gammaAt]
	var ofGradient, ofStep vector // gradients of half the squared errors
	gradients, steps := 0.0, 0.0
	for _, r := range f.rows {
		a := &f.sizes[r.size]
		e := a.log - r.logGradient
		gradients += e * e
		ofGradient[alphaC] += e * a.dc
		ofGradient[betaC] += e * a.db
		if r.network < 0 { // one GPU: the step is the gradient alone
			e := a.log - r.logStep
			steps += e * e
			ofStep[alphaC] += e * a.dc
			ofStep[betaC] += e * a.db
			continue
		}
		n := &f.networks[r.network]
		// log(a^γ + n^γ), and the part of a^γ in the sum.
		apart := gamma * (n.log - a.log)
		both, part := gamma*a.log, 0.0
		if apart > 0 {
			q := math.Exp(-apart)
			both, part = both+apart+math.Log1p(q), q/(1+q)
		} else {
			q := math.Exp(apart)
			both, part = both+math.Log1p(q), 1/(1+q)
		}
		e = both/gamma - r.logStep
		steps += e * e
		ofStep[alphaC] += e * part * a.dc
		ofStep[betaC] += e * part * a.db
		ofStep[n.alpha] += e * (1 - part) * v[n.alpha] / n.time
		ofStep[n.alpha+1] += e * (1 - part) * v[n.alpha+1] * n.beyond / n.time
		ofStep[gammaAt] += e * ((part*a.log+(1-part)*n.log)/gamma - both/(gamma*gamma))
	}
	count := float64(len(f.rows))
	gradients, steps = math.Sqrt(gradients/count+smooth), math.Sqrt(steps/count+smooth)
	loss = gradients + steps + 1e-3*(gamma-1)*(gamma-1)
	for i := range slope {
		slope[i] = (ofGradient[i]/gradients + ofStep[i]/steps) / count
	}
	slope[gammaAt] += 2e-3 * (gamma - 1)
	for _, i := range [...]int{alphaN, alphaR} {
		ratio := v[i+1] / v[i]
		loss += 1e-2 * ratio * ratio
		slope[i] -= 2e-2 * ratio * ratio
		slope[i+1] += 2e-2 * ratio * ratio
	}
	for i, fixed := range f.fixed {
		if fixed {
			slope[i] = 0
		}
	}
	return loss, slope
}

// smooth is added under square roots, so that they have a derivative at 0.
const smooth = 1e-12

// bound returns the allowed point nearest to x.
func (f *fit) bound(x vector) vector {
	for i := range gammaAt {
		x[i] = min(max(x[i], math.Log(least)), greatestLog)
	}
	x[gammaAt] = min(max(x[gammaAt], 1), mostGamma)
	return x
}

// minimise minimizes the loss by the BFGS method (J. Nocedal, S. Wright, Numerical Optimization, 2006, algorithm 6.1).
// A variable at its bound is fixed while the slope points beyond the bound.
func minimise(f *fit, x vector) vector {
	x = f.bound(x)
	value, slope := f.evaluate(x)
	inverse := unit()
	for range 200 {
		free := f.free(x, slope)
		direction, downhill := inverse.times(slope, free)
		if downhill >= 0 { // the approximation of the second derivatives is bad: start it again
			inverse = unit()
			direction, downhill = inverse.times(slope, free)
		}
		if downhill > -1e-14 {
			break
		}
		next, lower, ahead, ok := f.along(x, direction, value, downhill)
		if !ok {
			if inverse == unit() {
				break
			}
			inverse = unit()
			continue
		}
		done := value-lower < 1e-9*max(value, 1e-3)
		inverse.learn(x, next, slope, ahead)
		x, value, slope = next, lower, ahead
		if done {
			break
		}
	}
	return x
}

// free reports for each variable whether it can move. It cannot if it is at a bound and the slope points beyond it.
func (f *fit) free(x, slope vector) (free [variables]bool) {
	for i := range free {
		lo, hi := math.Log(least), float64(greatestLog)
		if i == gammaAt {
			lo, hi = 1, mostGamma
		}
		free[i] = !f.fixed[i] && !(x[i] <= lo && slope[i] > 0) && !(x[i] >= hi && slope[i] < 0)
	}
	return free
}

// along searches for a point with a lower loss in a direction.
func (f *fit) along(x, direction vector, value, downhill float64) (next vector, lower float64, slope vector, ok bool) {
	longest := slices.MaxFunc(direction[:], func(a, b float64) int {
		if math.Abs(a) < math.Abs(b) {
			return -1
		}
		return 1
	})
	for step := min(1, 2/math.Abs(longest)); step > 1e-10; step /= 2 {
		for i := range x {
			next[i] = x[i] + step*direction[i]
		}
		next = f.bound(next)
		lower, slope = f.evaluate(next)
		if lower <= value+1e-4*step*downhill {
			return next, lower, slope, true
		}
	}
	return x, value, slope, false
}

// matrix approximates the inverse of the matrix of second derivatives.
type matrix [variables]vector

func unit() (m matrix) {
	for i := range m {
		m[i][i] = 1
	}
	return m
}

// times returns −m·slope for the free variables, and its product with the slope.
func (m *matrix) times(slope vector, free [variables]bool) (direction vector, downhill float64) {
	for i := range direction {
		if !free[i] {
			continue
		}
		for k := range slope {
			if free[k] {
				direction[i] -= m[i][k] * slope[k]
			}
		}
		downhill += direction[i] * slope[i]
	}
	return direction, downhill
}

// learn updates the matrix by the change of the slope from x to next.
func (m *matrix) learn(x, next, slope, ahead vector) {
	var s, y, my vector
	sy, yy := 0.0, 0.0
	for i := range s {
		s[i], y[i] = next[i]-x[i], ahead[i]-slope[i]
		sy += s[i] * y[i]
		yy += y[i] * y[i]
	}
	if sy <= 1e-12*yy || sy <= 0 {
		return
	}
	if *m == unit() {
		for i := range m {
			m[i][i] = sy / yy
		}
	}
	ymy := 0.0
	for i := range my {
		for k := range y {
			my[i] += m[i][k] * y[k]
		}
		ymy += y[i] * my[i]
	}
	for i := range m {
		for k := range m[i] {
			m[i][k] += (1+ymy/sy)*s[i]*s[k]/sy - (my[i]*s[k]+s[i]*my[k])/sy
		}
	}
}
