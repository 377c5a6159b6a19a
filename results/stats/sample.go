package stats

import "slices"

// Sample holds values to sum up. Its mean and Jain's index do not depend on
// whether quantiles were asked for. Millions of values take two to four bytes each.
type Sample struct {
	values       []float64
	packed       []block // the values before them
	n            int
	sum, squares float64
}

// Grow makes room for n more values.
func (s *Sample) Grow(n int) { s.values = slices.Grow(s.values, min(n, packFrom)) }

// Add adds a value.
func (s *Sample) Add(v float64) {
	s.values = append(s.values, v)
	s.n++
	s.sum += v
	s.squares += v * v
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

// Len returns the number of values.
func (s *Sample) Len() int { return s.n }

// Mean returns the mean; NaN over nothing.
func (s *Sample) Mean() float64 { return s.sum / float64(s.n) }

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

// Jain is Jain's fairness index (Σx)² / (n·Σx²): 1 when all are alike, 1/n when
// one has everything (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984); NaN over nothing.
func (s *Sample) Jain() float64 { return s.sum * s.sum / (float64(s.n) * s.squares) }
