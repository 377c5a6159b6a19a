package policy

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

var _ = byDeadline("patient", "Patient", "the server that costs least in expectation up to the deadline, by the times for which spot "+
	"servers have come and gone so far", 7, 3, Patient)

// The strategy looks ahead in steps: whole ticks, such that a deadline is at most mostSteps of them away and a start takes at
// most startSteps.
const (
	mostSteps  = 600
	startSteps = 4
)

// usualShare is the price of a spot server as a part of the price on demand where the prices are unknown.
const usualShare = 0.3

// Patient makes the choice with the least expected cost to the deadline. It takes spot servers to come and go as a Markov
// process whose two mean times are unknown and change at times: it weighs all pairs of spotMeans by the spells that the job has
// seen, and knows the least expected cost under each pair (rentalCosts). So it waits while there is slack for it, keeps enough slack for the changes
// that still pay, and passes over spot servers that are taken away before a start has paid for itself.
func Patient(v scheduler.RentalView) scheduler.RentalMarket {
	step := v.Tick * max(ceilOf(v.Deadline, mostSteps*v.Tick), ceilOf(v.Overhead, startSteps*v.Tick), 1)
	steps := func(d time.Duration) float64 { return float64(d) / float64(step) }
	slack, start := steps(v.Deadline-v.Now-left(v)), steps(v.Overhead)
	n := int(math.Round(steps(v.Deadline - v.Now)))
	if v.Work >= scheduler.UnknownPrice || slack < 0 || n <= 0 {
		return inTime(v, SpotOnly(v))
	}
	share := v.SpotShare
	if share <= 0 {
		share = usualShare
	}
	costs := costsOf(start, share)
	costs.Lock()
	defer costs.Unlock()
	costs.extend(n)
	started := 0
	if v.Held == scheduler.Spot {
		started = costs.phases - int(math.Ceil(steps(v.Starting)))
	}
	onDemand := slack - start
	if v.Held == scheduler.OnDemand {
		onDemand = slack - steps(v.Starting)
	}
	there, away := spellWeights(v.Spells, true, step), spellWeights(v.Spells, false, step)
	var onSpot, onRequest, waiting float64
	for i, p := range there {
		for k, q := range away {
			if p*q < 1e-4 {
				continue
			}
			m := &costs.models[i*len(spotMeans)+k]
			soon := m.returns
			if v.Available {
				soon = m.stays
				onSpot += p * q * costs.spot(m, n, slack, max(started, 0))
			}
			onRequest += p * q * costs.onDemand(m, n, onDemand, soon)
			waiting += p * q * costs.wait(m, n, slack, soon)
		}
	}
	choice := scheduler.Nothing
	if onRequest < waiting {
		choice = scheduler.OnDemand
	}
	if v.Available && onSpot <= min(onRequest, waiting) {
		choice = scheduler.Spot
	}
	return inTime(v, choice)
}

func ceilOf(a, b time.Duration) time.Duration { return (a + b - 1) / b }

// spotMeans are the mean times, in steps, for which spot servers stay, or are away.
var spotMeans = [6]float64{1.2, 3.5, 10, 29, 85, 246}

// spotLogs are the logarithms of the probabilities that a spell of each mean time goes on after a step, and that it ends.
var spotLogs = func() (logs [len(spotMeans)]struct{ stays, ends float64 }) {
	for k, mean := range spotMeans {
		logs[k].stays, logs[k].ends = math.Log1p(-1/mean), -math.Log(mean)
	}
	return logs
}()

// forgetting is the weight of each spell of availability as a part of the weight of the next one of its kind: markets change.
const forgetting = 0.9

// spellWeights returns the probabilities of the mean times, given the spells with or without spot servers so far. Before the
// first spell all are equally probable.
func spellWeights(spells []scheduler.RentalSpell, available bool, step time.Duration) (weights [len(spotMeans)]float64) {
	weight, last, most := 1.0, len(spells)-1, math.Inf(-1)
	for i := last; i >= 0 && weight > 0.03; i-- {
		if spells[i].Available != available {
			continue
		}
		lasted := float64(spells[i].Length) / float64(step)
		for k, log := range spotLogs {
			if i == last { // it continues
				weights[k] += weight * lasted * log.stays
			} else {
				weights[k] += weight * (max(lasted-1, 0)*log.stays + log.ends)
			}
		}
		weight *= forgetting
	}
	for _, w := range weights {
		most = max(most, w)
	}
	sum := 0.0
	for k := range weights {
		weights[k] = math.Exp(weights[k] - most)
		sum += weights[k]
	}
	for k := range weights {
		weights[k] /= sum
	}
	return weights
}
