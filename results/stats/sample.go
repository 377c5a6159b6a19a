package stats

import (
	"math"
	"slices"
)

// Sums are over values that are not kept.
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

// Mean returns the mean; NaN over nothing.
func (s *Sums) Mean() float64 { return s.sum / float64(s.n) }

// Most returns the greatest value; NaN of nothing.
func (s *Sums) Most() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	return s.most
}

// Jain is Jain's fairness index (Σx)² / (n·Σx²): 1 when all are alike, 1/n when
// one has everything (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984); NaN over nothing.
func (s *Sums) Jain() float64 { return s.sum * s.sum / (float64(s.n) * s.squares) }

// Sample holds values to sum up. Its mean and Jain's index do not depend on
// whether quantiles were asked for. Of millions, times take two bytes each, ratios six, and equal values less than one.
type Sample struct {
	Sums
	values []float64
	packed []block // the values before them
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

// pack packs the values so far.
func (s *Sample) pack() {
	for some := range slices.Chunk(s.values, blockSize) {
		s.packed = append(s.packed, pack(some))
	}
	if s.values = s.values[:0]; cap(s.values) > blockSize {
		s.values = make([]float64, 0, blockSize)
	}
}

// Quantile is the q-quantile, as Quantile returns it; it reorders the values.
func (s *Sample) Quantile(q float64) float64 {
	if s.packed == nil {
		return QuantileOf(s.values, q)
	}
	if len(s.values) > 0 {
		s.pack()
	}
	return quantileOf(s.packed, q)
}
