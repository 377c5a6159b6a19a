package table

import (
	"math"
	"time"
)

// Micros is an instant or a duration in whole microseconds. All times are rounded when they are read, so sums of
// durations are exact.
type Micros int64

// ToMicros rounds a duration to whole microseconds.
func ToMicros(d time.Duration) Micros {
	if half := time.Microsecond / 2; d >= 0 && d <= math.MaxInt64-half {
		return Micros((d + half) / time.Microsecond)
	}
	return Micros(d.Round(time.Microsecond) / time.Microsecond)
}

// Seconds returns m in seconds.
func (m Micros) Seconds() float64 { return float64(m) / 1e6 }

// Duration returns m as a time.Duration.
func (m Micros) Duration() time.Duration { return time.Duration(m) * time.Microsecond }
