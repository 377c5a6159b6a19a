package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Span is a length of time that is the same for every job of a batch (Every),
// or drawn for each (Exponential, Normal).
type Span struct {
	Kind     ArrivalKind
	Mean, SD time.Duration
}

// Fixed reports whether the span is the same for every job.
func (s Span) Fixed() bool { return s.Kind != Exponential && s.Kind != Normal }

// Draw returns a job's own span, at least 0.
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

// String writes the span as the language does: "500ms", "exponential(1m40s)".
func (s Span) String() string {
	switch s.Kind {
	case Exponential:
		return fmt.Sprintf("exponential(%s)", s.Mean)
	case Normal:
		return fmt.Sprintf("normal(%s, %s)", s.Mean, s.SD)
	}
	return s.Mean.String()
}
