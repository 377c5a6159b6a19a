package market

import (
	"errors"
	"fmt"
	"sort"
	"time"
)

// Price is the price of a server over time, in US dollars per hour: a step function.
type Price struct {
	// Times ascend from 0. PerHour[i] is the price from Times[i] until Times[i+1]. A fixed price has one entry.
	Times   []time.Duration
	PerHour []float64
}

// Fixed returns a price that never changes.
func Fixed(perHour float64) Price {
	return Price{Times: []time.Duration{0}, PerHour: []float64{perHour}}
}

// Check returns an error if the price is invalid.
func (p Price) Check() error {
	if len(p.Times) == 0 || len(p.Times) != len(p.PerHour) || p.Times[0] > 0 {
		return errors.New("the first price must be at time 0")
	}
	for i, v := range p.PerHour {
		if !(v >= 0) {
			return fmt.Errorf("a price of %g $/h is negative", v)
		}
		if i > 0 && p.Times[i] <= p.Times[i-1] {
			return fmt.Errorf("the times of prices must increase, but %s comes after %s", p.Times[i], p.Times[i-1])
		}
	}
	return nil
}

// At returns the price at an instant, in dollars per hour.
func (p Price) At(t time.Duration) float64 {
	i := sort.Search(len(p.Times), func(i int) bool { return p.Times[i] > t })
	return p.PerHour[max(i-1, 0)]
}

// Cost returns the cost of a server from one instant to another, in dollars.
func (p Price) Cost(from, to time.Duration) float64 {
	sum := 0.0
	for i, v := range p.PerHour {
		lo, hi := p.Times[i], Forever
		if i == 0 {
			lo = min(lo, from)
		}
		if i+1 < len(p.Times) {
			hi = p.Times[i+1]
		}
		if lo, hi = max(lo, from), min(hi, to); hi > lo {
			sum += v * (hi - lo).Hours()
		}
	}
	return sum
}

// Cost returns the cost of a server in dollars, by the times at which it was created, could be used, and ended. If it
// never could be used, up is after end.
func (b Billing) Cost(p Price, created, up, end time.Duration) float64 {
	from := created
	if !b.Startup {
		from = min(up, end)
	}
	paid := max(end-from, b.Minimum)
	if b.Unit > 0 {
		paid = (paid + b.Unit - 1) / b.Unit * b.Unit
	}
	return p.Cost(from, from+paid)
}
