package market

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// The markets of servers.
const (
	OnDemand = "on_demand" // nobody takes them away
	Spot     = "spot"      // cheaper, and taken away when the provider wants them
)

// The replacements of a server that was taken away.
const (
	Never        = "never"
	Same         = "same"
	WithOnDemand = "on_demand" // a server that stays, at its own price
)

// Terms are the terms on which the servers of a node are rented. The zero value is a
// server that is available at once, stays and costs nothing.
type Terms struct {
	Market, Region string
	Price          Price
	Billing        Billing
	// Startup is the time from a server's creation until it can be used.
	Startup workload.Span
	// Life is how long a server lives from then on until it is taken away; nil means
	// as long as it is wanted.
	Life Life
	// Availability, if it is set, is how many servers were available: the node has one
	// while more than Slot could.
	Availability *Availability
	Slot         int
	// Windows are records, one for each replicate; see ForReplicate. Availability is
	// then the first.
	Windows []*Availability
	// MaxLife is the longest life that the provider allows; 0 for no limit.
	MaxLife time.Duration
	// Warning is how long before its end a server gets notice.
	Warning time.Duration
	// Replace is the kind of server that replaces a taken server, created Delay
	// later, at most Limit times (0: any number of times). Empty means Same.
	Replace string
	Delay   time.Duration
	Limit   int
	// OnDemand is the price of a server that Replace puts in its place.
	OnDemand Price
}

// PriceIn returns the price of a server of these terms that was rented in a market.
func (t *Terms) PriceIn(market string) Price {
	if market == OnDemand && t.Market != OnDemand {
		return t.OnDemand
	}
	return t.Price
}

// Rate is the price in a market at an instant, in dollars per hour.
func (t *Terms) Rate(market string, at time.Duration) float64 { return t.PriceIn(market).At(at) }

// Charge is the cost of a server in a market from one instant to another.
func (t *Terms) Charge(market string, from, to time.Duration) float64 {
	return t.PriceIn(market).Cost(from, to)
}

// Bill is the cost of a server that was created, could be used, and ended at these instants.
func (t *Terms) Bill(market string, created, up, end time.Duration) float64 {
	return t.Billing.Cost(t.PriceIn(market), created, up, end)
}

// Fleet is the servers of a run: it draws their lives, and says when they come and go.
// The draws depend on the seed, the node and the number of its server alone, so that
// the same losses hit all policies.
type Fleet struct {
	seed  int64
	nodes []place
}

// place is a node and its present server.
type place struct {
	name          string
	terms         *Terms // nil for a node that stands
	servers       int    // that it has had
	lost          int    // that were taken away
	last          time.Duration
	up, warn, end time.Duration // instants to come of the present server; Forever when past or none
}

// NewFleet returns the servers of a cluster; terms has nil for permanent nodes.
func NewFleet(c scheduler.Cluster, terms []*Terms, seed int64) (*Fleet, error) {
	if len(terms) != len(c.Nodes) {
		return nil, fmt.Errorf("fleet: %d nodes, but the terms of %d", len(c.Nodes), len(terms))
	}
	f := &Fleet{seed: seed, nodes: make([]place, len(terms))}
	for i := range f.nodes {
		f.nodes[i] = place{name: c.Nodes[i].Name, terms: terms[i], up: Forever, warn: Forever, end: Forever}
	}
	return f, nil
}

// Acquire creates a server for a node, or returns nil when the terms allow no more.
func (f *Fleet) Acquire(node int, now time.Duration) *scheduler.Server {
	p := &f.nodes[node]
	t, kind, created := p.terms, p.terms.Market, now
	if p.lost > 0 {
		if t.Replace == Never || t.Limit > 0 && p.lost > t.Limit {
			return nil
		}
		if t.Replace == WithOnDemand {
			kind = OnDemand
		}
		created = max(created, p.last+t.Delay)
	}
	p.servers++
	rng := workload.Stream(f.seed, "servers", p.name, strconv.Itoa(p.servers))
	startup := t.Startup.Draw(rng)
	life := Forever
	if t.Life != nil && kind == t.Market {
		life = Draw(t.Life, rng)
	}
	if t.MaxLife > 0 && kind == t.Market {
		life = min(life, t.MaxLife)
	}
	up := created + startup
	if t.Availability != nil && kind == t.Market {
		var gone time.Duration
		if created, up, gone = t.available(created, startup); up == Forever {
			return nil
		}
		life = min(life, gone-up)
	}
	p.up, p.end = up, Forever
	if life < Forever-up {
		p.end = up + max(life, 1)
	}
	p.warn = Forever
	if t.Warning > 0 && p.end < Forever {
		if p.warn = max(p.end-t.Warning, up+1); p.warn >= p.end {
			p.warn = Forever
		}
	}
	return &scheduler.Server{Created: created, Market: kind}
}

// From returns the earliest time from now on at which a server is available for a node
// without one, and Forever if none ever is.
func (f *Fleet) From(node int, now time.Duration) time.Duration {
	p := &f.nodes[node]
	t, from := p.terms, now
	if p.lost > 0 {
		if t.Replace == Never || t.Limit > 0 && p.lost > t.Limit {
			return Forever
		}
		from = max(from, p.last+t.Delay)
	}
	if t.Availability == nil || p.lost > 0 && t.Replace == WithOnDemand {
		return from
	}
	startup := time.Duration(0)
	if t.Startup != (workload.Span{}) { // the startup of the server that Acquire would create
		startup = t.Startup.Draw(workload.Stream(f.seed, "servers", p.name, strconv.Itoa(p.servers+1)))
	}
	created, _, _ := t.available(from, startup)
	return created
}

// available returns the first stretch from an instant on in which the node has a server,
// long enough for its start.
func (t *Terms) available(from, startup time.Duration) (created, up, gone time.Duration) {
	a := t.Availability
	for at := from; at < Forever; {
		if a.At(at) <= t.Slot {
			at = a.Next(at)
			continue
		}
		end := a.Next(at)
		for end < Forever && a.At(end) > t.Slot {
			end = a.Next(end)
		}
		if startup < end-at {
			return at, at + startup, end
		}
		at = end
	}
	return Forever, Forever, Forever
}

// Release returns the server of a node.
func (f *Fleet) Release(node int) {
	p := &f.nodes[node]
	p.up, p.warn, p.end = Forever, Forever, Forever
}

// Next returns the next instant at which something happens to a node.
func (f *Fleet) Next() time.Duration {
	at := Forever
	for i := range f.nodes {
		at = min(at, f.nodes[i].next())
	}
	return at
}

func (p *place) next() time.Duration { return min(p.up, p.warn, p.end) }

// Take appends the events on nodes up to an instant, in the order of
// scheduler.CompareNotices.
func (f *Fleet) Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice {
	begin := len(news)
	for i := range f.nodes {
		for p := &f.nodes[i]; p.next() <= now; {
			at := p.next()
			n := scheduler.Notice{At: at, Node: i}
			switch {
			case p.up <= at:
				n.Kind, p.up = scheduler.NodeUp, Forever
			case p.warn <= at:
				n.Kind, n.Until, p.warn = scheduler.NodeWarned, p.end, Forever
			default:
				n.Kind, p.end = scheduler.NodeDown, Forever
				p.lost, p.last = p.lost+1, at
			}
			news = append(news, n)
		}
	}
	slices.SortStableFunc(news[begin:], func(a, b scheduler.Notice) int {
		return cmp.Compare(a.At, b.At)
	})
	return news
}

// Between returns the mean time between losses of a job that holds these nodes: one over
// the sum of their rates, Forever when none of them is ever lost.
func (f *Fleet) Between(nodes []int) time.Duration {
	terms := schema.Each(nodes, func(v int) *Terms { return f.nodes[v].terms })
	return Between(terms)
}

// Between is Fleet.Between for nodes of these terms; the terms of a node that never goes away are nil.
func Between(terms []*Terms) time.Duration {
	rate, mean := 0.0, time.Duration(0)
	for i, t := range terms {
		if t == nil {
			continue
		}
		if i == 0 || t != terms[i-1] { // the nodes of a block have the same terms
			mean = t.MeanLife()
		}
		if mean < Forever {
			rate += 1 / float64(mean)
		}
	}
	return duration(1 / rate)
}

// longest bounds the lives that count for a mean, where the provider does not.
const longest = 30 * 24 * time.Hour

// MeanLife returns the mean life of a server; Forever when it is never taken away.
func (t *Terms) MeanLife() time.Duration {
	switch l := t.Life.(type) {
	case nil:
		if t.Availability == nil && t.MaxLife > 0 {
			return t.MaxLife
		}
		return Forever
	case Exponential:
		if t.MaxLife == 0 {
			return l.Mean
		}
	}
	most := t.MaxLife
	most = cmp.Or(most, longest)
	return Mean(t.Life, most)
}
