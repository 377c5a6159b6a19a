package stats

import (
	"math"
	"slices"
)

// Sums holds sums over values. The values themselves are not kept.
type Sums struct {
	n                  int
	sum, squares, most float64
}

// Add adds a value.
func (s *Sums) Add(v float64) {
	if s.n++; s.n == 1 || v > s.most {
		s.most = v
	}
	s.sum += v
	s.squares += v * v
}

// Len returns the number of values.
func (s *Sums) Len() int { return s.n }

// Mean returns the mean, or NaN if there are no values.
func (s *Sums) Mean() float64 { return s.sum / float64(s.n) }

// Most returns the greatest value, or NaN if there are no values.
func (s *Sums) Most() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	return s.most
}

// Jain returns Jain's fairness index (Σx)² / (n·Σx²): 1 if all values are equal, 1/n if all but one are 0, NaN if there
// are no values (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984).
func (s *Sums) Jain() float64 { return s.sum * s.sum / (float64(s.n) * s.squares) }

// Sample holds values to summarize by a mean, Jain's index and quantiles. Large samples are packed: each value takes
// about two bytes if the values are times, six if they are ratios, and less than one if most are equal.
type Sample struct {
	Sums
	values []float64
	packed []block // blocks with the values that were added before
}

// Grow makes room for n more values.
func (s *Sample) Grow(n int) { s.values = slices.Grow(s.values, min(n, packFrom)) }

// Add adds a value.
func (s *Sample) Add(v float64) {
	s.values = append(s.values, v)
	s.Sums.Add(v)
	if len(s.values) == packFrom || len(s.values) == blockSize && s.packed != nil {
		s.pack()
	}
}

// pack moves all values to packed blocks.
func (s *Sample) pack() {
	for some := range slices.Chunk(s.values, blockSize) {
		s.packed = append(s.packed, pack(some))
	}
	if s.values = s.values[:0]; cap(s.values) > blockSize {
		s.values = make([]float64, 0, blockSize)
	}
}

// Quantile returns the q-quantile by the definition of the function Quantile. It changes the order of the values.
func (s *Sample) Quantile(q float64) float64 {
	if s.packed == nil {
		return QuantileOf(s.values, q)
	}
	if len(s.values) > 0 {
		s.pack()
	}
	return quantileOf(s.packed, q)
}
