package strategies

import (
	"math"
	"sort"
	"sync"
)

// rentalCosts has the least expected costs of a job up to its deadline. It changes servers only while this cannot make
// the job late. Times are in steps, and costs in the price of a step on demand. A state has the steps to the deadline,
// the slack (these steps less the remaining work), the held server, and whether a spot server is available. The costs
// follow from the costs with one step less (dynamic programming), so they are the same for jobs of any length.
type rentalCosts struct {
	sync.Mutex
	start  float64 // length of a start in steps
	share  float64 // price of a spot server divided by the price on demand
	phases int     // steps until a spot server has started, at least 1
	slacks []float64
	fine   int // number of slacks with the distance fineSlack
	models []rentalModel
}

// rentalModel is a Markov process of spot servers, and the costs under it.
type rentalModel struct {
	// probabilities that a spot server is available after a step: if it was before, and if it was not
	stays, returns float64
	costs          [][]float32 // by steps to the deadline, then by state and slack
}

// The states of a job at the beginning of a step. After onSpot follow the phases of a start on a spot server.
const (
	without = iota // no server held, and no spot server available
	withoutSpot
	onDemandAway // on demand, and no spot server available
	onDemandSpot
	onSpot
)

// changeRate is the probability per step that the mean times change. The new values are equally probable.
const changeRate = 0.005

// fineSlack is the distance of small slacks in the table. slackGrowth is the ratio of two successive large slacks.
const (
	fineSlack   = 0.5
	slackGrowth = 1.3
)

// keptCosts are the most recently used tables, the last one first.
var keptCosts struct {
	sync.Mutex
	tables []*rentalCosts
}

// costsOf returns the table for a start of `start` steps, rounded up to eighths, and for a share, rounded to
// hundredths.
func costsOf(start, share float64) *rentalCosts {
	start, share = math.Ceil(start*8-1e-6)/8, math.Round(share*100)/100
	kept := &keptCosts
	kept.Lock()
	defer kept.Unlock()
	for i, c := range kept.tables {
		if c.start == start && c.share == share {
			copy(kept.tables[1:i+1], kept.tables[:i])
			kept.tables[0] = c
			return c
		}
	}
	const most = 4 // further tables are dropped, and computed again if needed
	kept.tables = append([]*rentalCosts{newRentalCosts(start, share)}, kept.tables[:min(len(kept.tables), most-1)]...)
	return kept.tables[0]
}

func newRentalCosts(start, share float64) *rentalCosts {
	c := &rentalCosts{start: start, share: share, phases: max(int(math.Ceil(start)), 1)}
	x := 0.0
	for ; x < 4*start+10; x += fineSlack {
		c.slacks = append(c.slacks, x)
	}
	c.fine = len(c.slacks)
	for ; c.slacks[len(c.slacks)-1] < mostSteps; x *= slackGrowth {
		c.slacks = append(c.slacks, x)
	}
	for _, there := range spotMeans {
		for _, away := range spotMeans {
			c.models = append(c.models, rentalModel{stays: 1 - 1/there, returns: 1 / away})
		}
	}
	return c
}

// extend computes the costs up to n steps before the deadline.
func (c *rentalCosts) extend(n int) {
	for len(c.models[0].costs) <= n {
		mean := make([]float32, (onSpot+c.phases)*len(c.slacks))
		for i := range c.models {
			for k, cost := range c.step(&c.models[i]) {
				mean[k] += cost / float32(len(c.models))
			}
		}
		for i := range c.models {
			row := c.models[i].costs[len(c.models[i].costs)-1]
			for k := range row {
				row[k] += changeRate * (mean[k] - row[k])
			}
		}
	}
}

// step returns the costs for one step more to the deadline.
func (c *rentalCosts) step(m *rentalModel) []float32 {
	n, width := len(m.costs), len(c.slacks)
	row := make([]float32, (onSpot+c.phases)*width)
	m.costs = append(m.costs, row)
	set := func(state, i int, cost float64) { row[state*width+i] = float32(cost) }
	for i, slack := range c.slacks {
		work := float64(n) - slack
		if work <= 0 {
			break
		}
		waits := math.Inf(1)
		set(without, i, work+c.start)
		set(withoutSpot, i, work+c.start)
		set(onDemandAway, i, work)
		set(onDemandSpot, i, work)
		changes := slack >= 2*c.start+1 // inTime allows a change of servers
		if changes {
			away, spot := c.wait(m, n, slack, m.returns), c.spot(m, n, slack, 0)
			waits = c.wait(m, n, slack, m.stays)
			set(without, i, min(away, c.onDemand(m, n, slack-c.start, m.returns)))
			set(withoutSpot, i, min(waits, spot, c.onDemand(m, n, slack-c.start, m.stays)))
			set(onDemandAway, i, min(away, c.onDemand(m, n, slack, m.returns)))
			set(onDemandSpot, i, min(waits, spot, c.onDemand(m, n, slack, m.stays)))
		}
		for phase := 1; phase <= c.phases; phase++ {
			cost := work + c.start
			if slack >= c.start+1 || phase == c.phases && slack >= c.start {
				cost = min(waits, c.spot(m, n, slack, phase), c.onDemand(m, n, slack-c.start, m.stays))
			}
			set(onSpot+phase-1, i, cost)
		}
	}
	return row
}

// spot returns the expected cost of a step on a spot server, and of all later steps. held is the number of steps for
// which it has been held.
func (c *rentalCosts) spot(m *rentalModel, n int, slack float64, held int) float64 {
	if slack >= float64(n) {
		return 0
	}
	i, part := c.place(slack - min(max(c.start-float64(held), 0), 1))
	return c.share + m.stays*c.at(m, n-1, onSpot+min(held, c.phases-1), i, part) +
		(1-m.stays)*c.at(m, n-1, without, i, part)
}

// onDemand returns the expected cost of a step on demand without a start, and of all later steps. available is the
// probability of a spot server after the step.
func (c *rentalCosts) onDemand(m *rentalModel, n int, slack, available float64) float64 {
	if slack >= float64(n) {
		return 0
	}
	i, part := c.place(slack)
	return 1 + available*c.at(m, n-1, onDemandSpot, i, part) + (1-available)*c.at(m, n-1, onDemandAway, i, part)
}

// wait returns the expected cost of all steps after one without a server.
func (c *rentalCosts) wait(m *rentalModel, n int, slack, available float64) float64 {
	if slack >= float64(n) {
		return 0
	}
	i, part := c.place(slack - 1)
	return available*c.at(m, n-1, withoutSpot, i, part) + (1-available)*c.at(m, n-1, without, i, part)
}

// place returns the index of the greatest slack in the table that is at most slack, and the part of the way to the next
// one.
func (c *rentalCosts) place(slack float64) (i int, part float64) {
	last := len(c.slacks) - 1
	if i = int(max(slack, 0) / fineSlack); i >= c.fine {
		i = c.fine + sort.SearchFloat64s(c.slacks[c.fine:last], slack) - 1
	}
	return i, min(max((slack-c.slacks[i])/(c.slacks[i+1]-c.slacks[i]), 0), 1)
}

// at interpolates the cost between two slacks of the table.
func (c *rentalCosts) at(m *rentalModel, n, state, i int, part float64) float64 {
	at := m.costs[n][state*len(c.slacks)+i:]
	return float64(at[0]) + part*float64(at[1]-at[0])
}
