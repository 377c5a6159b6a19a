package estimator

import "math"

// Curve is how much faster a job runs on n threads than on one:
//
//	n / (1 + Sigma·(n−1) + Kappa·n·(n−1))
//
// Sigma is the serial part of the work (Amdahl 1967), Kappa the
// synchronization cost of each pair of threads: the universal scalability law
// (Gunther, "Guerrilla Capacity Planning", 2007). With Kappa 0 it is Amdahl's
// law, with both 0 the speed-up is n. Beyond Limit threads, where it is not 0,
// more make no difference: the program does not use them.
type Curve struct {
	Sigma float64 `json:"sigma"`
	Kappa float64 `json:"kappa,omitempty"`
	Limit float64 `json:"limit,omitempty"`
}

// Speedup is the speed on n threads, in multiples of that on one thread.
func (c Curve) Speedup(n float64) float64 {
	if c.Limit > 0 {
		n = math.Min(n, c.Limit)
	}
	return n / (1 + c.Sigma*(n-1) + c.Kappa*n*(n-1))
}

// Law names the curve's form: "linear", "amdahl", "usl", or "limited" where
// it has a limit.
func (c Curve) Law() string {
	switch {
	case c.Limit > 0:
		return "limited"
	case c.Kappa > 0:
		return "usl"
	case c.Sigma > 0:
		return "amdahl"
	}
	return "linear"
}
