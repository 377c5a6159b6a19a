package losscurve

import (
	"math"
	"math/rand/v2"
)

// annealing is how a loss follows the rate of learning. The training goes on with the sum of the rates of its steps,
// and not with their number; and a part of the loss is noise of the steps, which falls with the rate: the loss is in
// proportion to a power of it. (H. Tissue and others, Scaling Law with Learning Rate Annealing, 2024, have the same
// two parts in a sum; G. Zhang and others, Which Algorithmic Choices Matter at Which Batch Sizes, 2019, derive the
// noise.)
type annealing struct {
	power float64 // of the rate
	delays
}

// delays are after how many steps at the greatest rate parts of the noise have followed it: those of the steepest
// directions first, each further part after so many times as many.
type delays struct {
	first, longer float64
}

// parts is how many parts of the noise there are, alike in size.
const parts = 4

// The powers and delays that are tried; each is as likely as the others before a loss is seen.
const mostPower, powerSteps = 1.2, 12

var annealingDelays = []delays{{0.1, 4}, {0.4, 4}, {1.5, 4}, {0.7, 1}, {3, 1}}

// training is how far a training has come, by steps: the sum of the rates of learning, as parts of the greatest, and
// the rate as the noise follows it.
type training struct {
	step, sum float64
	rates     [parts]float64 // as each part of the noise follows it
}

// to goes on to a step, at a rate that is a part of the greatest.
func (a annealing) to(t training, step, rate float64) training {
	sum := rate * (step - t.step)
	delay := a.first
	for i := range t.rates {
		t.rates[i] += (rate - t.rates[i]) * (1 - math.Exp(-sum/delay))
		delay *= a.longer
	}
	t.step, t.sum = step, t.sum+sum
	return t
}

// above is how much higher the logarithm of the loss is than at the greatest rate.
func (a annealing) above(t training) float64 {
	sum := 0.0
	for _, r := range t.rates {
		sum += r / parts
	}
	return a.power * math.Log(sum)
}

// newAnnealed is the family that follows a loss as it would be at the greatest rate.
var newAnnealed = newRegime

// annealed is a family that was moved through a window, with the evidence for it.
type annealed struct {
	annealing
	filters  []filter
	now      training
	evidence float64
}

// follow moves the filters through the window of a whole training.
func (s rates) follow(w window, a annealing) annealed {
	t := training{}
	for i := range t.rates {
		t.rates[i] = w.points[0].Rate / s.top
	}
	v := w
	v.points = make([]Point, len(w.points))
	for i, p := range w.points {
		t = a.to(t, p.Step, p.Rate/s.top)
		v.points[i] = Point{Step: t.sum, Loss: p.Loss * math.Exp(-a.above(t))}
	}
	fs := newAnnealed.after(v)
	return annealed{a, fs, t, evidence(fs)}
}

// draw draws continuations of the window of a whole training.
func (s rates) draw(w window, n int, rng *rand.Rand) []float64 {
	var all []annealed
	var shares []float64
	for _, delay := range annealingDelays {
		for i := range powerSteps + 1 {
			a := s.follow(w, annealing{mostPower * float64(i) / powerSteps, delay})
			all, shares = append(all, a), append(shares, a.evidence)
		}
	}
	total := logSum(shares)
	out := make([]float64, 0, n)
	carry := 0.0
	for i, a := range all {
		carry += float64(n) * math.Exp(shares[i]-total)
		if count := min(int(math.Round(carry))-len(out), n-len(out)); count > 0 {
			out = append(out, drawEach(a.filters, count, rng, func(f *filter) float64 { return s.left(w, a, f, rng) })...)
		}
	}
	for len(out) < n { // shares are rounded
		out = append(out, math.Inf(1))
	}
	return out
}

// left draws how many steps are left as a filter says, along one of the courses of the rate.
func (s rates) left(w window, a annealed, f *filter, rng *rand.Rand) float64 {
	course, t := s.pick(rng), a.now
	return f.runAlong(w, func(step float64) (time, above float64) {
		if step > t.step {
			t = a.to(t, step, course.at(step)/s.top)
		}
		return clock(t.sum), a.above(t)
	}, rng)
}
