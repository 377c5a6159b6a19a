// Package strategies has the strategies by which a policy rents servers: the choices of `provisioning`, one file each.
// Spot servers are cheap but can be revoked. A job must end before a deadline, and each start on another server takes a
// fixed time.
package strategies

import (
	"cmp"
	"embed"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

// Func is a strategy without state between ticks.
type Func func(v rental.View) rental.Market

// Choose implements rental.Strategy.
func (f Func) Choose(v rental.View) rental.Market { return f(v) }

// left returns the remaining work.
func left(v rental.View) time.Duration { return v.Work - v.Done }

// pace compares the progress of the job at time t with even progress to the deadline: −1 if the job is behind, 0 if it
// is equal, 1 if it is ahead.
func pace(v rental.View, t time.Duration) int {
	evenHigh, evenLow := bits.Mul64(uint64(max(t, 0)), uint64(v.Work))
	high, low := bits.Mul64(uint64(v.Done), uint64(v.Deadline))
	return cmp.Or(cmp.Compare(high, evenHigh), cmp.Compare(low, evenLow))
}

// short reports whether a length takes all remaining ticks before the deadline, or more.
func short(v rental.View, length time.Duration) bool {
	return math.Ceil(float64(length)/float64(v.Tick)) >= math.Floor(float64(v.Deadline-v.Now)/float64(v.Tick))
}

// inTime changes a choice that would miss the deadline. If there is no time for two more starts, a job without a spot
// server moves to servers on demand. If there is no time for one, only a spot server that has already started is kept.
func inTime(v rental.View, choice rental.Market) rental.Market {
	if short(v, left(v)+2*v.Overhead) && v.Held != rental.Spot {
		choice = rental.OnDemand
	}
	if short(v, left(v)+v.Overhead) {
		choice = rental.OnDemand
		if v.Held == rental.Spot && v.Available && v.Starting <= 0 {
			choice = rental.Spot
		}
	}
	return choice
}

// rentalSettings are the arguments that several strategies have.
type rentalSettings struct {
	// The time between two decisions of the strategy for a job, from the job's arrival; at least 1ms. The strategy also
	// decides as soon as a job has lost its server. If a record gives the times at which servers are available, use the
	// record's step.
	//
	//	tick = "5m"
	Tick time.Duration `arg:"tick,positive" least:"1ms" default:"10m"`
	// The time that each start on another server costs a job, as the strategy assumes.
	//
	// Default: the `startup` of nodes, `start` of `overheads`, and `restore` of `checkpoint` with the work that a
	// loss costs at most, together.
	//
	//	changeover = "12m"
	Changeover *time.Duration `arg:"changeover"`
	// The regions in which servers are rented, in the order of preference. A region that has just taken a server away
	// is tried last.
	//
	// Default: all, in the order of the node blocks.
	//
	//	regions = ["us-west-2a", "us-west-2b"]
	Regions []string `arg:"regions"`
}

//go:embed provision.go
var source embed.FS

// settings are the descriptions of rentalSettings.
var settings = schema.Described[rentalSettings](source)

// terms returns the terms of renting with a strategy, by a policy's settings.
func terms(s rental.Strategy, given policy.Settings) rental.Terms {
	var set rentalSettings
	given.Fill(&set)
	t := rental.Terms{Strategy: s, Tick: set.Tick, Changeover: -1, Regions: slices.Clone(set.Regions)}
	t.Changeover = schema.Or(set.Changeover, t.Changeover)
	return t
}

// byDeadline registers a strategy that plans by the jobs' deadlines and predicted remaining times.
func byDeadline(name, title, doc string, place, version int, f Func) Choice {
	return register(Choice{
		Choice:   policy.Choice{Name: name, Title: title, Doc: doc, Place: place, Version: version, Estimates: true},
		Strategy: f, Deadline: true, Moves: true, Spot: true, OnDemand: true,
	})
}
