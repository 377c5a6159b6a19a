// Package rental rents servers for the jobs of a policy, as an extension of the kernel. A strategy chooses, for each job of
// a run, from which market its servers are to come: spot servers, which are cheap and go away, or servers on demand. It
// decides tick by tick from the job's arrival, and at once when a job has lost its server.
package rental

import (
	"math"
	"time"
)

// Market is where a server comes from.
type Market int

// The markets. Nothing is to wait without a server.
const (
	Nothing Market = iota
	Spot
	OnDemand
)

// View is a strategy's information at the beginning of a tick.
type View struct {
	// Now is the time since the job arrived. Deadline is the time within which it must be
	// done; 0 for a job without one.
	Now, Deadline time.Duration
	// Work is the job's length on a server; Done is the finished part of it.
	Work, Done time.Duration
	// Overhead is the time that a start takes; Starting is the rest of the last start.
	Overhead, Starting time.Duration
	// Tick is the time between decisions.
	Tick time.Duration
	// Held is the market of the server that is held. A spot server that has been
	// taken away is held no more.
	Held Market
	// Available says that a spot server is available.
	Available bool
	// Spells are the times with and without a spot server since the job arrived, as the decisions about it have seen
	// them. The last one continues.
	Spells []Availability
	// SpotShare is the price of a spot server as a part of the price on demand; 0 if it is unknown.
	SpotShare float64
}

// Availability is a time for which spot servers were available, or were not. One that is lost ends a spell.
type Availability struct {
	Available bool
	Length    time.Duration
}

// Strategy chooses the market of the coming tick. It must not choose Spot where there
// is no spot server. Strategies are deterministic, and do not see the future.
type Strategy interface {
	Choose(v View) Market
}

// Terms are a policy's terms of renting.
type Terms struct {
	Strategy Strategy
	// Tick is the time between decisions.
	Tick time.Duration
	// Changeover is the strategy's assumption about the cost of a start on another
	// server; below 0 for the known cost of the job.
	Changeover time.Duration
	// Regions are the regions in which servers are rented, in this order; empty for all, in the order of the cluster's
	// nodes.
	Regions []string
}

// UnknownWork is the work of a job without an estimate: longer than any deadline.
const UnknownWork = time.Duration(math.MaxInt64) / 4
