package estimator

import "math"

// Curve is the speed of a job on n threads, relative to one thread:
//
//	n / (1 + Sigma·(n−1) + Kappa·n·(n−1))
//
// This is the universal scalability law (Gunther, "Guerrilla Capacity Planning", 2007). Sigma is the serial part of
// the work; Kappa is the synchronization cost of each pair of threads. If Kappa is 0, it is Amdahl's law (1967); if
// both are 0, the speed is n. Threads beyond Limit add no speed, because the program does not use them; a Limit of 0
// means no limit.
type Curve struct {
	Sigma float64 `json:"sigma"`
	Kappa float64 `json:"kappa,omitempty"`
	Limit float64 `json:"limit,omitempty"`
}

// Speedup returns the speed on n threads, as a multiple of the speed on one thread.
func (c Curve) Speedup(n float64) float64 {
	if c.Limit > 0 {
		n = math.Min(n, c.Limit)
	}
	return n / (1 + c.Sigma*(n-1) + c.Kappa*n*(n-1))
}

// Law returns the name of the curve's form: "linear", "amdahl", "usl", or "limited" if it has a limit.
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
