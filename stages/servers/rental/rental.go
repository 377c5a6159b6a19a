package rental

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// none is the index of no offer.
const none = -1

// maxOffers is the greatest number of pairs of market and region. Each pair has a bit in a cluster.Room.
const maxOffers = 30

// rental is the state of renting in a run.
type rental struct {
	terms  Terms
	offers []offer
	ofNode []int8 // by node: the index of its offer; none for a node that is not rented
	jobs   []tenant
	ticks  queue.Timers
	due    []int32
	claims []int // by offer: the number of jobs that have chosen it at this time
	share  float64
}

// offer has the nodes of one market in one region.
type offer struct {
	market Market
	region string
	nodes  []int32
	price  float64 // price of its first node per hour; 0 if it is unknown
}

// tenant is the state of renting for a job.
type tenant struct {
	arrived time.Duration
	tick    time.Duration // time of the next tick, or Never
	choice  int8          // index of the offer that the strategy chose, or none
	lost    int8          // index of the offer whose server the job has lost since the last decision, or none
	served  bool          // servers of the choice are held, or on their way
	begun   time.Duration // start of the last attempt
	open    bool
	kept    time.Duration // work kept from the attempts that have ended
	spells  []Availability
	since   time.Duration // start of the present spell
}

// newRental returns the state of renting at the start of a run. It marks the machine's nodes by market. Nodes with
// acquire = "on_request" and a market are rented.
func newRental(terms Terms, c cluster.Cluster, m *cluster.Machine, jobs int) (rental, error) {
	if terms.Tick <= 0 {
		return rental{}, fmt.Errorf("renting of servers: a tick of %s", terms.Tick)
	}
	r := rental{terms: terms, jobs: make([]tenant, jobs), ofNode: make([]int8, len(c.Nodes))}
	for v, n := range c.Nodes {
		r.ofNode[v] = none
		if n.Supply != cluster.OnRequest || n.Market == "" || !r.wanted(n.Region) {
			continue
		}
		market := Spot
		if n.Market == cluster.MarketOnDemand {
			market = OnDemand
		}
		at := slices.IndexFunc(r.offers, func(o offer) bool { return o.market == market && o.region == n.Region })
		if at < 0 {
			at = len(r.offers)
			r.offers = append(r.offers, offer{market: market, region: n.Region, price: n.Price})
		}
		r.offers[at].nodes = append(r.offers[at].nodes, int32(v))
		r.ofNode[v] = int8(at)
	}
	if len(r.offers) == 0 || len(r.offers) > maxOffers {
		return rental{}, fmt.Errorf("rent servers: the nodes with acquire = \"on_request\" have %d markets and regions; 1 to %d are possible",
			len(r.offers), maxOffers)
	}
	r.sort()
	r.claims = make([]int, len(r.offers))
	if onDemand := r.cheapest(OnDemand); onDemand > 0 {
		r.share = r.cheapest(Spot) / onDemand
	}
	for v, n := range c.Nodes {
		bit := int32(0)
		switch {
		case r.ofNode[v] != none:
			bit = 1 << r.ofNode[v]
		case n.Supply == cluster.OnRequest:
			bit = 1 << maxOffers // a bit that no job may use
		}
		m.Whole[v].Market, m.Free[v].Market = bit, bit
	}
	for j := range r.jobs {
		r.jobs[j] = tenant{tick: scheduler.Never, choice: none, lost: none}
	}
	return r, nil
}

// cheapest returns the lowest known price of a market; 0 if none is known.
func (r *rental) cheapest(m Market) (price float64) {
	for _, o := range r.offers {
		if o.market == m && o.price > 0 && (price == 0 || o.price < price) {
			price = o.price
		}
	}
	return price
}

func (r *rental) wanted(region string) bool {
	return len(r.terms.Regions) == 0 || slices.Contains(r.terms.Regions, region)
}

// sort orders the offers by the regions of the terms.
func (r *rental) sort() {
	if len(r.terms.Regions) == 0 {
		return
	}
	slices.SortStableFunc(r.offers, func(a, b offer) int {
		return slices.Index(r.terms.Regions, a.region) - slices.Index(r.terms.Regions, b.region)
	})
	for i, o := range r.offers {
		for _, v := range o.nodes {
			r.ofNode[v] = int8(i)
		}
	}
}

// any reports whether one of the nodes is rented.
func (r *rental) any(nodes []int32) bool {
	return slices.ContainsFunc(nodes, func(v int32) bool { return r.ofNode[v] != none })
}

// arrive records the arrival of a job, at which its first tick begins.
func (r *rental) arrive(j int32, now time.Duration) {
	r.jobs[j].arrived, r.jobs[j].open = now, true
	r.due = append(r.due, j)
	r.wind(j, now)
}

// wind sets the time of a job's next tick: a whole number of ticks after its arrival.
func (r *rental) wind(j int32, now time.Duration) {
	t := &r.jobs[j]
	t.tick = scheduler.Never
	if n := (now-t.arrived)/r.terms.Tick + 1; n < (scheduler.Never-t.arrived)/r.terms.Tick {
		t.tick = t.arrived + n*r.terms.Tick
		r.ticks.Push(queue.Timer{At: t.tick, Of: j})
	}
}

// next returns the time of the next tick of any job.
func (r *rental) next() time.Duration {
	for len(r.ticks) > 0 && r.jobs[r.ticks[0].Of].tick != r.ticks[0].At {
		r.ticks.Pop()
	}
	if len(r.ticks) == 0 {
		return scheduler.Never
	}
	return r.ticks[0].At
}

// ring records that the next tick has begun. On a real clock, now may be later than the tick.
func (r *rental) ring(now time.Duration) {
	j := r.ticks[0].Of
	r.ticks.Pop()
	r.due = append(r.due, j)
	r.wind(j, now)
}

// lose records that a job has lost its servers on a node, so that a decision about it is due.
func (r *rental) lose(j, node int32) {
	if r.ofNode[node] == none {
		return
	}
	t := &r.jobs[j]
	t.choice, t.served, t.lost = none, false, r.ofNode[node]
	r.due = append(r.due, j)
}

// end records that a job has ended.
func (r *rental) end(j int32) {
	r.jobs[j] = tenant{tick: scheduler.Never, choice: none, lost: none}
}

// takeDue returns the jobs about which a decision is due, each once, in the order of their numbers.
func (r *rental) takeDue() []int32 {
	if len(r.due) == 0 {
		return nil
	}
	slices.Sort(r.due)
	clear(r.claims)
	due := slices.DeleteFunc(slices.Compact(r.due), func(j int32) bool { return !r.jobs[j].open })
	r.due = nil
	return due
}

// serve records whether a waiting job has servers of its choice, or whether they are on their way.
func (r *rental) serve(j int32, served bool, now time.Duration) {
	if t := &r.jobs[j]; t.choice != none {
		if served && !t.served {
			t.begun = now
		}
		t.served = served
	}
}

// bars returns the bits of the offers on whose nodes the job may not start, for cluster.Room.Market.
func (r *rental) bars(j int32) int32 {
	bars := int32(1<<(maxOffers+1) - 1)
	if c := r.jobs[j].choice; c != none {
		bars &^= 1 << c
	}
	return bars
}

// keep records the work that a job keeps from an attempt that has ended.
func (r *rental) keep(j int32, work time.Duration) {
	r.jobs[j].kept = work
}

// rentalCase has the inputs of a decision about a job, except those that rental itself records.
type rentalCase struct {
	// Deadline is the time from the arrival to the deadline; 0 for no deadline.
	Deadline time.Duration
	// Work is the predicted run time of the job; 0 without an estimate. Done is the finished part of it.
	Work, Done time.Duration
	// Changeover is the known time that the job needs to start on another server.
	Changeover time.Duration
	// From returns the earliest time from now on at which a server is available for a node; Never if no server will be
	// available.
	From func(node int32) time.Duration
}

// decide lets the strategy choose a market for a job. It reports whether the job must leave its servers for servers of
// another offer, and the name of that offer.
func (r *rental) decide(j int32, now time.Duration, s rentalCase) (leave bool, name string) {
	t := &r.jobs[j]
	v := View{
		Now: now - t.arrived, Deadline: s.Deadline, Work: s.Work, Done: s.Done, Overhead: s.Changeover,
		Tick: r.terms.Tick, Held: r.held(t),
	}
	if v.Work <= 0 {
		v.Work = UnknownWork
	}
	if r.terms.Changeover >= 0 {
		v.Overhead = r.terms.Changeover
	}
	if v.Held != Nothing {
		v.Starting = max(v.Overhead-(now-t.begun), 0)
	}
	spot, soonest := r.first(t, Spot, now, s.From)
	v.Available = spot != none
	t.see(v.Available, t.lost != none && r.offers[t.lost].market == Spot, now)
	v.Spells, v.SpotShare = t.spells, r.share
	choice := r.terms.Strategy.Choose(v)
	before := t.choice
	t.lost = none
	switch {
	case choice == OnDemand && v.Held != OnDemand:
		t.choice, _ = r.first(t, OnDemand, now, s.From)
	case choice == Spot && v.Held != Spot:
		t.choice = spot
	case choice == Nothing:
		t.choice = none
	}
	if t.choice == none && soonest == scheduler.Never && (s.Deadline <= 0 || v.Now >= s.Deadline) {
		t.tick = scheduler.Never // no further decision is needed
	}
	if t.choice != none && (v.Held == Nothing || t.choice != before) {
		r.claims[t.choice]++
	}
	if leave = t.choice != before; leave {
		t.served = false
	}
	return leave && before != none, r.nameOf(t.choice)
}

// see records whether a spot server is available now.
func (t *tenant) see(available, lost bool, now time.Duration) {
	if last := len(t.spells) - 1; last >= 0 {
		t.spells[last].Length = now - t.since
		if t.spells[last].Available == available && !lost {
			return
		}
	}
	t.spells, t.since = append(t.spells, Availability{Available: available}), now
}

// held returns the market of the servers that a job holds, or that are on their way.
func (r *rental) held(t *tenant) Market {
	if t.choice == none || !t.served {
		return Nothing
	}
	return r.offers[t.choice].market
}

// first returns the first region in which a market has a server now, or none, and the earliest time at which it has
// one. The job's present region is tried first. The region in which it has just lost a server is tried last.
func (r *rental) first(t *tenant, m Market, now time.Duration, from func(int32) time.Duration) (at int8,
	soonest time.Duration) {
	at, soonest = none, scheduler.Never
	for i := range r.offers {
		if r.offers[i].market != m {
			continue
		}
		if int8(i) == t.choice && t.served {
			return int8(i), now
		}
		ready := -r.claims[i]
		for _, v := range r.offers[i].nodes {
			when := from(v)
			if when <= now {
				ready++
			}
			soonest = min(soonest, when)
		}
		if ready > 0 && (at == none || at == t.lost) {
			at = int8(i)
		}
	}
	return at, soonest
}

// nameOf returns a phrase for messages: "a spot server".
func (r *rental) nameOf(choice int8) string {
	if choice == none {
		return "no server"
	}
	name := "a spot server"
	if r.offers[choice].market == OnDemand {
		name = "a server on demand"
	}
	if region := r.offers[choice].region; region != "" {
		name += " in " + region
	}
	return name
}
