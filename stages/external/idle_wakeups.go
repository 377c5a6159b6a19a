package external

import (
	"fmt"
	"time"
)

// A program that asks for maxIdleWakeups wake-ups within idleSpan, and changes nothing, is ended.
const (
	timerEvent     = "timer" // of a wake-up
	maxIdleWakeups = 10_000
	idleSpan       = time.Second
)

// idleWakeups counts the wake-ups in a row at which nothing had happened and the program changed nothing.
type idleWakeups struct {
	changed bool // the next message has an event that is not a wake-up
	count   int
	since   time.Duration // the first of them
}

// decided is called after each answer; it errs when the run makes no progress.
func (i *idleWakeups) decided(now time.Duration) error {
	if i.changed || now-i.since > idleSpan {
		*i = idleWakeups{since: now}
		return nil
	}
	if i.count++; i.count < maxIdleWakeups {
		return nil
	}
	return fmt.Errorf("since %s it has asked %d times to be called again (call_at_ns), and changed nothing: ask for a later "+
		"moment, or leave call_at_ns out to be called when something happens", i.since, i.count)
}
