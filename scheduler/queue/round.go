package queue

import (
	"time"
)

// Rounds are those of a policy that decides at their starts.
type Rounds struct {
	Length time.Duration // 0 for none
	begun  bool
	end    time.Duration // never when the next one may start at any instant
}

// Next returns the instant at which the present round ends, while something runs in it.
func (r *Rounds) Next(runs bool) time.Duration {
	if r.Length == 0 || !r.begun || !runs {
		return never
	}
	return r.end
}

// Over ends the present round.
func (r *Rounds) Over() { r.end = never }

// Starts reports whether a round can start: the last one is over, or nothing runs in it any more.
func (r *Rounds) Starts(runs bool) bool { return !r.begun || !runs || r.end == never }

// Begin begins a round.
func (r *Rounds) Begin(now time.Duration) { r.begun, r.end = true, now+r.Length }
