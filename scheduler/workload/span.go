package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Span is a duration: the same for every job of a batch (Every), or drawn at random for each job (Exponential,
// Normal).
type Span struct {
	Kind     ArrivalKind
	Mean, SD time.Duration
}

// Fixed reports whether the span is the same for every job.
func (s Span) Fixed() bool { return s.Kind != Exponential && s.Kind != Normal }

// Draw returns the span of one job, at least 0.
func (s Span) Draw(rng *rand.Rand) time.Duration {
	mean := float64(s.Mean)
	switch s.Kind {
	case Exponential:
		mean *= rng.ExpFloat64()
	case Normal:
		mean = max(mean+rng.NormFloat64()*float64(s.SD), 0)
	}
	return time.Duration(math.Round(mean))
}

// String returns the span as experiments write it: "500ms", "exponential(1m40s)".
func (s Span) String() string {
	switch s.Kind {
	case Exponential:
		return fmt.Sprintf("exponential(%s)", s.Mean)
	case Normal:
		return fmt.Sprintf("normal(%s, %s)", s.Mean, s.SD)
	}
	return s.Mean.String()
}
