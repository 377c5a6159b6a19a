package strategies

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = byDeadline("patient", "Patient", "a spot server, a server on demand or no server, by the lowest expected "+
	"cost until the deadline", 7, 3, Patient)

// The strategy computes in steps of whole ticks. A deadline is at most mostSteps away, and a start takes at most
// startSteps. The length of a step follows from the deadline alone, so results do not depend on the speed of the
// machine.
const (
	mostSteps  = 600
	startSteps = 4
)

// usualShare is the assumed price of a spot server divided by the price on demand, if the prices are unknown.
const usualShare = 0.3

// Patient makes the choice with the least expected cost up to the deadline. It models spot servers as a Markov process
// with two unknown mean times, which sometimes change. It weighs all pairs of spotMeans by the spells that the job has
// seen; rentalCosts has the least expected cost for each pair. Patient therefore waits while it has slack. It keeps
// enough slack for changes that pay off, and skips spot servers that would be revoked too soon to pay for the start.
func Patient(v rental.View) rental.Market {
	step := v.Tick * max(ceilOf(v.Deadline, mostSteps*v.Tick), ceilOf(v.Overhead, startSteps*v.Tick), 1)
	steps := func(d time.Duration) float64 { return float64(d) / float64(step) }
	slack, start := steps(v.Deadline-v.Now-left(v)), steps(v.Overhead)
	n := int(math.Round(steps(v.Deadline - v.Now)))
	if v.Work >= rental.UnknownWork || slack < 0 || n <= 0 {
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
	if v.Held == rental.Spot {
		started = costs.phases - int(math.Ceil(steps(v.Starting)))
	}
	onDemand := slack - start
	if v.Held == rental.OnDemand {
		onDemand = slack - steps(v.Starting)
	}
	there, away := spellWeights(v.Spells, true, step), spellWeights(v.Spells, false, step)
	var onSpot, onRequest, waiting float64
	for i, p := range there {
		for k, q := range away {
			if p*q < 1e-4 { // the skipped pairs together change no cost by more than 0.4%
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
	choice := rental.Nothing
	if onRequest < waiting {
		choice = rental.OnDemand
	}
	if v.Available && onSpot <= min(onRequest, waiting) {
		choice = rental.Spot
	}
	return inTime(v, choice)
}

func ceilOf(a, b time.Duration) time.Duration { return (a + b - 1) / b }

// spotMeans are mean times in steps, for periods with and without spot servers.
var spotMeans = [6]float64{1.2, 3.5, 10, 29, 85, 246}

// spotLogs has for each of spotMeans the logarithms of two probabilities: that a spell lasts for another step, and that
// it ends.
var spotLogs = func() (logs [len(spotMeans)]struct{ stays, ends float64 }) {
	for k, mean := range spotMeans {
		logs[k].stays, logs[k].ends = math.Log1p(-1/mean), -math.Log(mean)
	}
	return logs
}()

// forgetting is the weight of a spell relative to the next one of its kind, since markets change.
const forgetting = 0.9

// spellWeights returns the probability of each of spotMeans, for spells with or without spot servers. It averages two
// assumptions, weighted by how well they predicted earlier spells: all spells have the same mean, or each has its own,
// drawn from the means of earlier spells. At first all means are equally probable.
func spellWeights(spells []rental.Availability, available bool, step time.Duration) (weights meanWeights) {
	var logs, counts, one, many meanWeights // probabilities under the two assumptions
	one.normalize(func(int) float64 { return 1 })
	// logarithm of the ratio of how well the second and the first assumption predicted the spells
	many, odds := one, 0.0
	for i := max(len(spells)-120, 0); i < len(spells); i++ { // earlier spells have weights below 0.002
		if spells[i].Available != available {
			continue
		}
		lasted, ends := float64(spells[i].Length)/float64(step), i < len(spells)-1
		var likely meanWeights
		for k, log := range spotLogs {
			l := lasted * log.stays
			if ends {
				l = max(lasted-1, 0)*log.stays + log.ends
			}
			likely[k] = math.Exp(l)
			logs[k] = forgetting*logs[k] + l
		}
		foreseen := many.normalize(func(k int) float64 { return many[k] * likely[k] })
		odds = forgetting*odds + math.Log(foreseen/one.normalize(func(k int) float64 { return one[k] * likely[k] }))
		most := slices.Max(logs[:])
		one.normalize(func(k int) float64 { return math.Exp(logs[k] - most) })
		if ends {
			for k := range counts {
				counts[k] = forgetting*counts[k] + many[k]
			}
			many.normalize(func(k int) float64 { return counts[k] + 1/float64(len(counts)) })
		}
	}
	part := 1 / (1 + math.Exp(odds))
	weights.normalize(func(k int) float64 { return part*one[k] + (1-part)*many[k] })
	return weights
}

// meanWeights are the probabilities of spotMeans.
type meanWeights [len(spotMeans)]float64

// normalize sets the weights in proportion to f, and returns the sum of f.
func (w *meanWeights) normalize(f func(k int) float64) (sum float64) {
	for k := range w {
		w[k] = f(k)
		sum += w[k]
	}
	for k := range w {
		w[k] /= sum
	}
	return sum
}
