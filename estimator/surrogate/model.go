package surrogate

import "math"

// model holds the processes that model the trials of a search.
type model struct {
	search    *Search
	scale     Scale      // of the objective; Linear if a value is out of its range
	limit     []Limit    // the search's limits, with scales chosen likewise
	worst     float64    // the largest objective so far, on its scale; −Inf before the first
	best      float64    // the smallest feasible objective so far, on its scale; +Inf before the first
	objective *Process   // nil if no trial is done
	limits    []*Process // one for each limit
	finishes  *Process   // models 1 for finished and 0 for crashed trials; nil if none has crashed
	cost      *Process   // nil unless the search divides by cost
}

// model fits the processes to the trials. It assumes the predicted result for trials that still run, so that
// suggestions at the same time differ.
func (s *Search) model(trials []Trial) (*model, error) {
	m := &model{search: s, best: math.Inf(1), worst: math.Inf(-1)}
	m.scales(trials)
	var x, all [][]float64
	var y, cost, ended []float64
	limited := make([][]float64, len(s.Limits))
	crashed := false
	for _, t := range trials {
		if t.State == Running {
			continue
		}
		all = append(all, t.At)
		if t.State == Crashed {
			crashed, ended = true, append(ended, 0)
			continue
		}
		ended = append(ended, 1)
		x, y = append(x, t.At), append(y, m.scale.Modelled(t.Objective)-s.expected(m.scale, t.At))
		cost = append(cost, Log.Modelled(math.Max(t.Cost, leastCost)))
		for i, l := range m.limit {
			limited[i] = append(limited[i], l.modelled(t.Limited[i]))
		}
		m.worst = math.Max(m.worst, m.scale.Modelled(t.Objective))
		if s.feasible(t) {
			m.best = math.Min(m.best, m.scale.Modelled(t.Objective))
		}
	}
	o := Options{Kernel: s.Kernel, Categorical: s.Space.Categorical(), Fixed: s.Fixed}
	if s.Space.Settings() == len(s.Space) {
		o.Additive = additive
	}
	var err error
	fit := func(into **Process, x [][]float64, y []float64) {
		if err == nil && len(x) > 0 {
			*into, err = New(x, y, o)
		}
	}
	o.Least = s.Spread
	fit(&m.objective, x, y)
	o.Least = 0
	m.limits = make([]*Process, len(s.Limits))
	for i := range s.Limits {
		fit(&m.limits[i], x, limited[i])
	}
	if crashed {
		fit(&m.finishes, all, ended)
	}
	if s.PerCost || s.Space.Settings() < len(s.Space) {
		fit(&m.cost, x, cost)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range trials {
		if t.State == Running {
			m.believe(t.At)
		}
	}
	return m, nil
}

// additive is how far settings are assumed to act independently, if all inputs are settings: a sum is learned from
// fewer trials. It was chosen on random tables (scheduler/tuner).
const additive = 0.8

// leastCost is the smallest cost of a trial, to keep its logarithm finite.
const leastCost = 1e-9

// scales chooses the scales of outcomes: the scales of the search, or Linear if a value is out of range.
func (m *model) scales(trials []Trial) {
	s := m.search
	m.scale, m.limit = s.Scale, append([]Limit(nil), s.Limits...)
	for i := range m.limit {
		m.limit[i].Scale = m.limit[i].Scale.Fits(m.limit[i].Bound)
	}
	for _, t := range trials {
		if t.State != Done {
			continue
		}
		m.scale = m.scale.Fits(t.Objective)
		for i := range m.limit {
			m.limit[i].Scale = m.limit[i].Scale.Fits(t.Limited[i])
		}
	}
}

// believe conditions the processes on their own prediction at a point.
func (m *model) believe(at []float64) {
	for _, p := range append([]**Process{&m.objective}, pointers(m.limits)...) {
		if *p == nil {
			continue
		}
		mean, _ := (*p).Expect([][]float64{at})
		if with, err := (*p).With(at, mean[0]); err == nil {
			*p = with
		}
	}
}

func pointers(ps []*Process) []**Process {
	out := make([]**Process, len(ps))
	for i := range ps {
		out[i] = &ps[i]
	}
	return out
}

// views holds the expectations for candidates, by index of the candidate.
type views struct {
	mean, sd []float64 // of the objective, on its scale
	feasible []float64 // log-probability that all limits hold and the trial does not crash
	gain     []float64 // logarithm of the expected improvement; 0 until a feasible trial is known
}

func (m *model) view(candidates [][]float64, best float64) views {
	n := len(candidates)
	v := views{gain: make([]float64, n), feasible: make([]float64, n)}
	for i, l := range m.limit {
		if m.limits[i] == nil {
			continue
		}
		mean, sd := m.limits[i].Expect(candidates)
		for k := range candidates {
			v.feasible[k] += LogProbabilityBelow(l.modelled(l.Bound), mean[k], sd[k])
		}
	}
	if m.finishes != nil {
		mean, sd := m.finishes.Predict(candidates)
		for k := range candidates {
			v.feasible[k] += LogProbabilityBelow(-0.5, -mean[k], sd[k])
		}
	}
	if m.objective != nil {
		v.mean, v.sd = m.objective.Expect(candidates)
		for k, at := range candidates {
			v.mean[k] += m.search.expected(m.scale, at)
		}
	} else {
		v.mean, v.sd = make([]float64, n), make([]float64, n)
	}
	if !math.IsInf(best, 1) {
		for k := range candidates {
			v.gain[k] = LogExpectedImprovement(best, v.mean[k], v.sd[k])
		}
	}
	return v
}

// suggestion returns candidate k as a suggestion.
func (m *model) suggestion(candidates [][]float64, v *views, k int) Suggestion {
	return Suggestion{
		At: candidates[k], Mean: v.mean[k], SD: v.sd[k], Scale: m.scale, Feasible: math.Exp(v.feasible[k]),
	}
}

// Best returns the index of the point that a model of the trials predicts to be best. It has the smallest objective
// of the points that are probably feasible; if none is, it is the point most likely to be feasible.
func (s *Search) Best(trials []Trial, points [][]float64) (int, error) {
	m, err := s.model(trials)
	if err != nil {
		return 0, err
	}
	if len(points) == 0 {
		return 0, ErrExhausted
	}
	v := m.view(points, math.Inf(1))
	score := make([]float64, len(points))
	for k := range points {
		if score[k] = -v.mean[k]; v.feasible[k] < math.Log(0.5) {
			score[k] = -1e9 + v.feasible[k]
		}
	}
	return greatest(score), nil
}

// greatest returns the index of the largest score, the first if several are equal.
func greatest(score []float64) int {
	at := 0
	for k := range score {
		if score[k] > score[at] || math.IsNaN(score[at]) {
			at = k
		}
	}
	return at
}

// choose returns the candidate with the largest product of expected improvement and probability of feasibility, the
// first if several are equal. Until a feasible trial is known, improvement is relative to the worst objective.
func (m *model) choose(candidates [][]float64) Suggestion {
	best := m.best
	if math.IsInf(best, 1) && m.objective != nil {
		best = m.worst
	}
	v := m.view(candidates, best)
	score := make([]float64, len(candidates))
	for k := range score {
		score[k] = v.feasible[k] + v.gain[k]
	}
	if m.cost != nil {
		cost, _ := m.cost.Predict(candidates)
		for k := range candidates {
			score[k] -= cost[k]
		}
	}
	return m.suggestion(candidates, &v, greatest(score))
}

// Kernel is a family of covariance functions on the unit cube.
type Kernel string

// Kernels.
const (
	// Matern52 is Matérn's kernel with ν = 5/2 and a length-scale for each input: s²·(1 + √5·r + 5/3·r²)·exp(−√5·r),
	// r² = Σ (Δ/ℓ)² (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equation 4.17). Its
	// additive part is the mean over inputs of the kernel of that input alone.
	Matern52 Kernel = "matern52"
	// Exponential is exp(−‖Δ‖/ℓ) with one length-scale, the kernel of SelfTF
	// (arXiv 1810.02935).
	Exponential Kernel = "exponential"
)

// Hyper are the hyper-parameters of a Gaussian process.
type Hyper struct {
	// Length is the length-scale of each input, on the unit cube.
	Length []float64
	// Signal and Noise are standard deviations of the standardized outputs.
	Signal, Noise float64
}

// clone returns a copy with its own slice.
func (h Hyper) clone() Hyper {
	h.Length = append([]float64(nil), h.Length...)
	return h
}

// square returns (Δ/ℓ)² for input d. For a category, Δ is 0 if the values are equal, and 1 otherwise.
func (s *shape) square(d int, a, b, length float64) float64 {
	delta := a - b
	if s.categorical[d] && delta != 0 {
		delta = 1
	}
	return delta * delta / (length * length)
}

// shape holds the form of the covariance function.
type shape struct {
	kernel      Kernel
	categorical []bool
	additive    float64
}

// covariance returns k(a, b) without noise.
func (s *shape) covariance(h *Hyper, a, b []float64) float64 {
	r2, each := 0.0, 0.0
	for d := range a {
		square := s.square(d, a[d], b[d], h.Length[d])
		r2 += square
		if s.additive > 0 {
			each += matern52(square)
		}
	}
	if s.kernel == Exponential {
		return h.Signal * h.Signal * math.Exp(-math.Sqrt(r2))
	}
	return h.Signal * h.Signal * ((1-s.additive)*matern52(r2) + s.additive*each/float64(len(a)))
}

func matern52(r2 float64) float64 {
	r := math.Sqrt(5 * r2)
	return (1 + r + r*r/3) * math.Exp(-r)
}

// slope returns the factor of (Δ/ℓ)² in the derivative of k(a, b) by the
// logarithm of a length-scale.
func (s *shape) slope(h *Hyper, r2 float64) float64 {
	if s.kernel == Exponential {
		if r2 == 0 {
			return 0
		}
		r := math.Sqrt(r2)
		return h.Signal * h.Signal * math.Exp(-r) / r
	}
	r := math.Sqrt(5 * r2)
	return h.Signal * h.Signal * 5 / 3 * (1 + r) * math.Exp(-r)
}

// LogExpectedImprovement returns log(σ·(u·Φ(u) + φ(u))) with u = (best − mean)/σ. This is the logarithm of the
// expected amount by which a normal outcome is below the best one so far. It stays finite far from the best, where
// the improvement underflows to 0 (S. Ament and others, Unexpected Improvements to Expected Improvement for Bayesian
// Optimization, 2023).
func LogExpectedImprovement(best, mean, sd float64) float64 {
	if !(sd > 0) {
		if mean < best {
			return math.Log(best - mean)
		}
		return math.Inf(-1)
	}
	u := (best - mean) / sd
	return math.Log(sd) + logH(u)
}

// logH returns log(u·Φ(u) + φ(u)).
func logH(u float64) float64 {
	const c = 0.9189385332046727 // log(2π)/2
	switch {
	case u > -5:
		return math.Log(u*math.Erfc(-u/math.Sqrt2)/2 + math.Exp(-u*u/2-c))
	case u > -1e3:
		// Mills' ratio Φ(u)/φ(u), computed by a continued fraction.
		ratio := mills(-u)
		return -u*u/2 - c + math.Log1p(u*ratio)
	default:
		return -u*u/2 - c - 2*math.Log(-u)
	}
}

// mills returns (1 − Φ(x))/φ(x) for x ≥ 5, by Laplace's continued fraction.
func mills(x float64) float64 {
	f := x
	for k := 60; k >= 1; k-- {
		f = x + float64(k)/f
	}
	return 1 / f
}

// LogProbabilityBelow returns log Φ((limit − mean)/σ), the log-probability that a normal outcome is at most the
// limit.
func LogProbabilityBelow(limit, mean, sd float64) float64 {
	if !(sd > 0) {
		if mean <= limit {
			return 0
		}
		return math.Inf(-1)
	}
	z := (limit - mean) / sd
	switch {
	case z > -5:
		return math.Log(math.Erfc(-z/math.Sqrt2) / 2)
	default:
		return -z*z/2 - 0.9189385332046727 + math.Log(mills(-z))
	}
}
