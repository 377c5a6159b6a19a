package surrogate

import "math"

// Kernel is the family of a covariance between two points of the unit cube.
type Kernel string

// The kernels.
const (
	// Matern52 is Matérn's with ν = 5/2 and a length-scale for each input:
	// s²·(1 + √5·r + 5/3·r²)·exp(−√5·r), r² = Σ (Δ/ℓ)² (Rasmussen and Williams,
	// Gaussian Processes for Machine Learning, 2006, equation 4.17).
	Matern52 Kernel = "matern52"
	// Exponential is exp(−‖Δ‖/ℓ) with one length-scale, the kernel of SelfTF
	// (arXiv 1810.02935).
	Exponential Kernel = "exponential"
)

// Hyper are the hyper-parameters of a Gaussian process.
type Hyper struct {
	// Length has the length-scale of each input, on the unit cube.
	Length []float64
	// Signal and Noise are standard deviations of the standardized outputs.
	Signal, Noise float64
}

// clone returns a copy that shares nothing.
func (h Hyper) clone() Hyper {
	h.Length = append([]float64(nil), h.Length...)
	return h
}

// square returns (Δ/ℓ)² of one input. Categories are apart or not.
func (s *shape) square(d int, a, b, length float64) float64 {
	delta := a - b
	if s.categorical[d] && delta != 0 {
		delta = 1
	}
	return delta * delta / (length * length)
}

// shape is what the covariance of two points depends on beside them.
type shape struct {
	kernel      Kernel
	categorical []bool
}

// covariance returns k(a, b) without noise.
func (s *shape) covariance(h *Hyper, a, b []float64) float64 {
	r2 := 0.0
	for d := range a {
		r2 += s.square(d, a[d], b[d], h.Length[d])
	}
	if s.kernel == Exponential {
		return h.Signal * h.Signal * math.Exp(-math.Sqrt(r2))
	}
	r := math.Sqrt(5 * r2)
	return h.Signal * h.Signal * (1 + r + r*r/3) * math.Exp(-r)
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
