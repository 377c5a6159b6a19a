package market

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Availability is a record of the number of servers that were available, over time.
type Availability struct {
	// Times ascend. Servers[i] servers are available from Times[i] until Times[i+1].
	Times   []time.Duration
	Servers []int
}

// ForReplicate returns the terms of servers in a replicate; the first replicate is 1. If terms have several records of
// availability, each replicate uses the next one.
func ForReplicate(all []*Terms, replicate int) []*Terms {
	if !slices.ContainsFunc(all, func(t *Terms) bool { return t != nil && len(t.Windows) > 0 }) {
		return all
	}
	own := slices.Clone(all)
	for i, t := range own {
		if t != nil && len(t.Windows) > 0 {
			copied := *t
			copied.Availability, copied.Windows = t.Windows[max(replicate-1, 0)%len(t.Windows)], nil
			own[i] = &copied
		}
	}
	return own
}

// Check returns an error if the record is invalid.
func (a *Availability) Check() error {
	if len(a.Times) == 0 || len(a.Times) != len(a.Servers) {
		return fmt.Errorf("the record of availability is empty")
	}
	for i, t := range a.Times {
		switch {
		case i > 0 && t <= a.Times[i-1]:
			return fmt.Errorf("the time %s does not come after %s", t, a.Times[i-1])
		case a.Servers[i] < 0:
			return fmt.Errorf("%d servers at %s", a.Servers[i], t)
		}
	}
	return nil
}

// At returns the number of servers available at a time. It is 0 before the record, and the last value after it.
func (a *Availability) At(t time.Duration) int {
	i := sort.Search(len(a.Times), func(i int) bool { return a.Times[i] > t })
	if i == 0 {
		return 0
	}
	return a.Servers[i-1]
}

// Next returns the next time after t at which the number changes; Forever after the last change.
func (a *Availability) Next(t time.Duration) time.Duration {
	now := a.At(t)
	for i := sort.Search(len(a.Times), func(i int) bool { return a.Times[i] > t }); i < len(a.Times); i++ {
		if a.Servers[i] != now {
			return a.Times[i]
		}
	}
	return Forever
}
