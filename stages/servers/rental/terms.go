// Package rental rents servers for the jobs of a policy, as an extension of the kernel. For each job, a strategy
// chooses the market of its servers: spot servers, which are cheap but can be revoked, or servers on demand. It decides
// at each tick from the job's arrival on, and when the job has lost its server.
package rental

import (
	"math"
	"time"
)

// Market is the market from which a server is rented.
type Market int

// The markets. Nothing means to wait without a server.
const (
	Nothing Market = iota
	Spot
	OnDemand
)

// View is the information that a strategy has at the beginning of a tick.
type View struct {
	// Now is the time since the job arrived. Deadline is the time from its arrival to its deadline; 0 for no deadline.
	Now, Deadline time.Duration
	// Work is the run time of the job on a server. Done is the finished part of it.
	Work, Done time.Duration
	// Overhead is the time of a start. Starting is the remaining time of the present start.
	Overhead, Starting time.Duration
	// Tick is the time between decisions.
	Tick time.Duration
	// Held is the market of the server that the job holds. It is Nothing after a revocation.
	Held Market
	// Available reports whether a spot server is available now.
	Available bool
	// Spells are the periods with and without an available spot server since the job's arrival, as seen at its
	// decisions. The last one has not ended.
	Spells []Availability
	// SpotShare is the price of a spot server divided by the price on demand; 0 if it is unknown.
	SpotShare float64
}

// Availability is a period in which spot servers were available, or were not. A revocation also ends a period.
type Availability struct {
	Available bool
	Length    time.Duration
}

// Strategy chooses the market until the next tick. It must not choose Spot if no spot server is available. Strategies
// are deterministic, and do not know the future.
type Strategy interface {
	Choose(v View) Market
}

// Terms are the settings of renting that a policy has.
type Terms struct {
	Strategy Strategy
	// Tick is the time between decisions.
	Tick time.Duration
	// Changeover is the time of a start on another server that the strategy assumes; a negative value means the job's
	// known time.
	Changeover time.Duration
	// Regions are the regions in which servers are rented, in the order in which they are tried. Empty means all
	// regions, in the order of the nodes.
	Regions []string
}

// UnknownWork is the work of a job without an estimate. It is longer than any deadline.
const UnknownWork = time.Duration(math.MaxInt64) / 4
