package stats

import "slices"

// Sample holds values to sum up. Its mean and Jain's index do not depend on
// whether quantiles were asked for.
type Sample struct {
	values       []float64
	sum, squares float64
}

// Grow makes room for n more values.
func (s *Sample) Grow(n int) { s.values = slices.Grow(s.values, n) }

// Add adds a value.
func (s *Sample) Add(v float64) {
	s.values = append(s.values, v)
	s.sum += v
	s.squares += v * v
}

// Len returns the number of values.
func (s *Sample) Len() int { return len(s.values) }

// Mean returns the mean; NaN over nothing.
func (s *Sample) Mean() float64 { return s.sum / float64(len(s.values)) }

// Quantile is the q-quantile, as Quantile returns it; it reorders the values.
func (s *Sample) Quantile(q float64) float64 { return QuantileOf(s.values, q) }

// Jain is Jain's fairness index (Σx)² / (n·Σx²): 1 when all are alike, 1/n when
// one has everything (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984); NaN over nothing.
func (s *Sample) Jain() float64 { return s.sum * s.sum / (float64(len(s.values)) * s.squares) }
