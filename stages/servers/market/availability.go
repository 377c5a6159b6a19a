package market

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Availability is a record of how many servers of a kind could be had, over time.
type Availability struct {
	// Times ascend; Servers[i] holds from Times[i] on.
	Times   []time.Duration
	Servers []int
}

// ForReplicate returns the terms of servers as they are in a replicate, counted from 1:
// where there are several records of availability, each replicate has the next one.
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

// At returns how many servers are available at an instant. Before the record no
// server is available; after it the last value stays.
func (a *Availability) At(t time.Duration) int {
	i := sort.Search(len(a.Times), func(i int) bool { return a.Times[i] > t })
	if i == 0 {
		return 0
	}
	return a.Servers[i-1]
}

// Next returns the next instant after t at which the number changes, and Forever
// after the last.
func (a *Availability) Next(t time.Duration) time.Duration {
	now := a.At(t)
	for i := sort.Search(len(a.Times), func(i int) bool { return a.Times[i] > t }); i < len(a.Times); i++ {
		if a.Servers[i] != now {
			return a.Times[i]
		}
	}
	return Forever
}
