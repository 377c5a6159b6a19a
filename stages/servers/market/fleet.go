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
	OnDemand = "on_demand" // never revoked
	Spot     = "spot"      // cheaper, but can be revoked
)

// The kinds of servers that replace a revoked server.
const (
	Never        = "never"
	Same         = "same"
	WithOnDemand = "on_demand" // a server on demand, at its own price
)

// Terms are the terms on which the servers of a node are rented. The zero value is a server that is available at once,
// is never revoked, and costs nothing.
type Terms struct {
	Market, Region string
	Price          Price
	Billing        Billing
	// Startup is the time from the creation of a server until it can be used.
	Startup workload.Span
	// Life is the time from then on until the server is revoked; nil means never.
	Life Life
	// Availability is the number of available servers over time; nil means always enough. The node can have a server
	// while the number is above Slot.
	Availability *Availability
	Slot         int
	// Windows has a record of availability for each replicate; see ForReplicate. Availability is then the first one.
	Windows []*Availability
	// MaxLife is the longest life that the provider allows; 0 means no limit.
	MaxLife time.Duration
	// Warning is the time from the warning to the revocation of a server.
	Warning time.Duration
	// Replace is the kind of server that replaces a revoked one. The new server is created Delay after the revocation,
	// at most Limit times (0: no limit). Empty means Same.
	Replace string
	Delay   time.Duration
	Limit   int
	// OnDemand is the price of a server that WithOnDemand creates.
	OnDemand Price
}

// PriceIn returns the price of a server with these terms in a market.
func (t *Terms) PriceIn(market string) Price {
	if market == OnDemand && t.Market != OnDemand {
		return t.OnDemand
	}
	return t.Price
}

// Rate returns the price in a market at a time, in dollars per hour.
func (t *Terms) Rate(market string, at time.Duration) float64 { return t.PriceIn(market).At(at) }

// Charge returns the cost of a server in a market from one time to another, in dollars.
func (t *Terms) Charge(market string, from, to time.Duration) float64 {
	return t.PriceIn(market).Cost(from, to)
}

// Bill returns the cost of a server in dollars, by the times at which it was created, could be used, and ended.
func (t *Terms) Bill(market string, created, up, end time.Duration) float64 {
	return t.Billing.Cost(t.PriceIn(market), created, up, end)
}

// Fleet has the servers of a run. It draws their lives and reports when they come and go. A draw depends only on the
// seed, the node and the number of the node's server, so that all policies have the same revocations.
type Fleet struct {
	seed  int64
	nodes []place
}

// place is a node with its present server.
type place struct {
	name          string
	terms         *Terms // nil for a permanent node
	servers       int    // number of servers so far
	lost          int    // number of revoked servers
	last          time.Duration
	up, warn, end time.Duration // times of the present server's next events; Forever if past, or without a server
}

// NewFleet returns the servers of a cluster. terms are by node; nil for permanent nodes.
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

// Acquire creates a server for a node. It returns nil if the terms allow no further server.
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

// From returns the earliest time from now on at which a server is available for a node without one; Forever if no
// server will be available.
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
	if t.Startup != (workload.Span{}) { // the startup of the server that Acquire would create now
		startup = t.Startup.Draw(workload.Stream(f.seed, "servers", p.name, strconv.Itoa(p.servers+1)))
	}
	created, _, _ := t.available(from, startup)
	return created
}

// available returns the first period from a time on in which the node has a server for longer than its startup.
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

// Release returns the server of a node to the provider.
func (f *Fleet) Release(node int) {
	p := &f.nodes[node]
	p.up, p.warn, p.end = Forever, Forever, Forever
}

// Next returns the time of the next event of any node.
func (f *Fleet) Next() time.Duration {
	at := Forever
	for i := range f.nodes {
		at = min(at, f.nodes[i].next())
	}
	return at
}

func (p *place) next() time.Duration { return min(p.up, p.warn, p.end) }

// Take appends the events up to now to news, in the order of scheduler.CompareNotices.
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

// Between returns the mean time between losses of a job that holds these nodes: 1 / the sum of the nodes' rates. It is
// Forever if none of them is ever lost.
func (f *Fleet) Between(nodes []int) time.Duration {
	terms := schema.Each(nodes, func(v int) *Terms { return f.nodes[v].terms })
	return Between(terms)
}

// Between is Fleet.Between for nodes with these terms; nil for permanent nodes.
func Between(terms []*Terms) time.Duration {
	rate, mean := 0.0, time.Duration(0)
	for i, t := range terms {
		if t == nil {
			continue
		}
		if i == 0 || t != terms[i-1] { // nodes of one block have the same terms
			mean = t.MeanLife()
		}
		if mean < Forever {
			rate += 1 / float64(mean)
		}
	}
	return duration(1 / rate)
}

// longest is the longest life that counts in a mean, if the provider sets no limit.
const longest = 30 * 24 * time.Hour

// MeanLife returns the mean life of a server; Forever if it is never revoked.
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
