package external

import (
	"fmt"
	"time"
)

// A program is ended if it requests maxIdleWakeups wake-ups within idleSpan and changes nothing.
const (
	timerEvent     = "timer" // the event of a wake-up
	maxIdleWakeups = 10_000
	idleSpan       = time.Second
)

// idleWakeups counts consecutive wake-ups at which no event had happened and the program changed nothing.
type idleWakeups struct {
	changed bool // the next message has an event other than a wake-up
	count   int
	since   time.Duration // time of the first of them
}

// decided is called after each answer. It returns an error if the run makes no progress.
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
