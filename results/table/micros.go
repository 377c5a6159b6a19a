package table

import (
	"math"
	"time"
)

// Micros is an instant or a span in whole microseconds. Every instant is
// rounded on input: sums over spans are then exact, and printed values add up
// to the last digit.
type Micros int64

// ToMicros rounds to a whole microsecond.
func ToMicros(d time.Duration) Micros {
	if half := time.Microsecond / 2; d >= 0 && d <= math.MaxInt64-half {
		return Micros((d + half) / time.Microsecond)
	}
	return Micros(d.Round(time.Microsecond) / time.Microsecond)
}

// Seconds returns it in seconds.
func (m Micros) Seconds() float64 { return float64(m) / 1e6 }

// Duration returns it as a time.Duration.
func (m Micros) Duration() time.Duration { return time.Duration(m) * time.Microsecond }
