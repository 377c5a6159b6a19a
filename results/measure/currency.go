package measure

import "sync/atomic"

const (
	// Dollars is the unit of money where no experiment names another.
	Dollars = "USD"
	// mixed is shown where experiments with several currencies are shown by one process.
	mixed = "money"
)

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

// SetCurrency sets it to the currency of the experiment that the process runs; others do not change it.
func SetCurrency(name string) { money.Store(&currency{orDollars(name), true}) }

// SeeCurrency adds the currency of an experiment that the process reads.
func SeeCurrency(name string) {
	name = orDollars(name)
	for {
		before := money.Load()
		switch {
		case before != nil && (before.fixed || before.name == name):
			return
		case before != nil:
			name = mixed
		}
		if money.CompareAndSwap(before, &currency{name: name}) {
			return
		}
	}
}

func orDollars(name string) string {
	if name == "" {
		return Dollars
	}
	return name
}

// inCurrency is a metric with the unit of money of this process.
func (m Metric) inCurrency() Metric {
	if m.Unit == Dollars {
		m.Unit = Currency()
	}
	return m
}
