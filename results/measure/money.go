package measure

import (
	"math"

	"github.com/tfexp/tfexp/results/stats"
)

// ServerCost is the cost of a job's servers, in dollars, and the number of them that
// were revoked; NaN where unknown.
type ServerCost struct {
	Cost        float64 `csv:"cost_usd"`
	Revocations float64 `csv:"revocations"`
}

// SetMoney sets the cost of a job's servers, if events do not contain it.
func (c *Collector) SetMoney(job int, m ServerCost) {
	if c.money == nil {
		c.money = map[int]ServerCost{}
	}
	c.money[job] = m
}

// paid returns the cost of a job's servers.
func (c *Collector) paid(job int) ServerCost {
	if m, ok := c.money[job]; ok {
		return m
	}
	if c.meter != nil {
		m := ServerCost{Cost: c.meter.JobCost(job)}
		if t := c.lost[job]; t != nil {
			m.Revocations = float64(t.revocations)
		}
		return m
	}
	return ServerCost{math.NaN(), math.NaN()}
}

// Metrics of the cost of servers, and of the number of revocations.
var (
	Cost = Register(Metric{
		Rank: 220, Name: "cost_usd", Title: "cost", Unit: Dollars,
		Shown: Shown{Cells: 10, Summary: 8, Fidelity: 7, Panels: 6},
		Doc:   "cost of the servers of all jobs, in the currency of the experiment (by default US dollars); empty if unknown",
		Compute: func(t *Totals) float64 {
			if m := t.collector.meter; m != nil {
				return m.Cost()
			}
			return t.collector.sum(func(m ServerCost) float64 { return m.Cost })
		},
	})
	Revocations = Register(Metric{
		Rank: 230, Name: "revocations", Title: "revocations", OfAllJobs: true,
		Shown: Shown{Cells: 11, Summary: 10},
		Doc:   "number of servers that were revoked while jobs held them; empty if unknown",
		Compute: func(t *Totals) float64 {
			return t.collector.sum(func(m ServerCost) float64 { return m.Revocations })
		},
	})
)

// sum returns the sum of the known values of the jobs, NaN if none is known.
func (c *Collector) sum(of func(ServerCost) float64) float64 {
	if c.money == nil && c.meter == nil {
		return math.NaN()
	}
	var known stats.Mean
	total := 0.0
	for job := range c.setup.Len() {
		if m := c.paid(job); !math.IsNaN(of(m)) {
			known.Add(of(m))
			total += of(m)
		}
	}
	if math.IsNaN(known.Value()) {
		return math.NaN()
	}
	return total
}
