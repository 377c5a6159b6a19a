package measure

import (
	"cmp"
	"sync/atomic"
)

const (
	// Dollars is the unit of money if the experiment names no other.
	Dollars = "USD"
	// mixed is the unit shown when a process shows experiments with different currencies.
	mixed = "money"
)

// currency is the unit of money of a process. If fixed, it stays the same when other experiments are read.
type currency struct {
	name  string
	fixed bool
}

var money atomic.Pointer[currency]

// Currency returns the unit of money in tables, pictures and texts. A process uses one for all experiments that it
// shows.
func Currency() string {
	if c := money.Load(); c != nil {
		return c.name
	}
	return Dollars
}

// SetCurrency sets the unit to the currency of the experiment that the process runs.
func SetCurrency(name string) { money.Store(&currency{cmp.Or(name, Dollars), true}) }

// SeeCurrency notes the currency of an experiment that the process reads. A second currency makes the unit "money".
func SeeCurrency(name string) {
	switch c, name := money.Load(), cmp.Or(name, Dollars); {
	case c == nil:
		money.CompareAndSwap(nil, &currency{name: name})
	case !c.fixed && c.name != name:
		money.Store(&currency{name: mixed})
	}
}

// inCurrency returns the metric with the process's unit of money.
func (m Metric) inCurrency() Metric {
	if m.Unit == Dollars {
		m.Unit = Currency()
	}
	return m
}
