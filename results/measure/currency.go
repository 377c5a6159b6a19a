package measure

import (
	"cmp"
	"sync/atomic"
)

const (
	// Dollars is the unit of money where no experiment names another.
	Dollars = "USD"
	// mixed is shown where experiments with several currencies are shown by one process.
	mixed = "money"
)

// currency is the unit of money of a process; a fixed one does not change with the experiments that it reads.
type currency struct {
	name  string
	fixed bool
}

var money atomic.Pointer[currency]

// Currency is the unit of money in tables, pictures and sentences. All experiments that a process shows have one.
func Currency() string {
	if c := money.Load(); c != nil {
		return c.name
	}
	return Dollars
}

// SetCurrency sets it to the currency of the experiment that the process runs.
func SetCurrency(name string) { money.Store(&currency{cmp.Or(name, Dollars), true}) }

// SeeCurrency adds the currency of an experiment that the process reads.
func SeeCurrency(name string) {
	switch c, name := money.Load(), cmp.Or(name, Dollars); {
	case c == nil:
		money.CompareAndSwap(nil, &currency{name: name})
	case !c.fixed && c.name != name:
		money.Store(&currency{name: mixed})
	}
}

// inCurrency is a metric with the unit of money of this process.
func (m Metric) inCurrency() Metric {
	if m.Unit == Dollars {
		m.Unit = Currency()
	}
	return m
}
