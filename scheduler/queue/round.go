package queue

import (
	"time"
)

// Rounds are those of a policy that decides at their starts.
type Rounds struct {
	Length time.Duration // 0 for none
	// Fixed rounds start at the multiples of Length; others when the last one is over.
	Fixed bool
	begun bool
	end   time.Duration // never when the next one may start at any instant
	last  time.Duration // start of the last fixed round
}

// Next returns the instant at which the present round ends, while something runs in it; of
// fixed rounds, the instant at which the next one starts, while something runs or waits.
func (r *Rounds) Next(now time.Duration, runs, waits bool) time.Duration {
	switch {
	case r.Length > 0 && r.Fixed && (runs || waits) && r.end != never:
		next := (now + r.Length - 1) / r.Length * r.Length
		if r.begun && next <= r.last {
			next = r.last + r.Length
		}
		return next
	case r.Length == 0 || r.Fixed || !r.begun || !runs:
		return never
	}
	return r.end
}

// Over ends the present round.
func (r *Rounds) Over() { r.end = never }

// Starts reports whether a round can start: the last one is over, or nothing runs in it any more.
func (r *Rounds) Starts(runs bool) bool {
	if r.Fixed {
		return r.end == never
	}
	return !r.begun || !runs || r.end == never
}

// Begin begins a round.
func (r *Rounds) Begin(now time.Duration) { r.begun, r.end, r.last = true, now+r.Length, now }
