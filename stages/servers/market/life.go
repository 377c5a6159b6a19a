// Package market models rented servers: their lifetimes, their availability and their costs.
package market

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Forever is the life of a server that is never revoked.
const Forever = time.Duration(math.MaxInt64)

// Life is a distribution of the time until a server is revoked.
type Life interface {
	// Survival returns the probability that a server lives longer than t.
	Survival(t time.Duration) float64
	// Quantile returns the time at which a part u of the servers (0 ≤ u < 1) has been revoked; Forever if a
	// part as large is never revoked.
	Quantile(u float64) time.Duration
	// String returns the distribution as the language writes it.
	String() string
}

// Draw returns a random life.
func Draw(l Life, r *rand.Rand) time.Duration { return l.Quantile(r.Float64()) }

// Mean returns the mean life, in which longer lives count as `most`: the integral of the survival function up to
// `most`.
func Mean(l Life, most time.Duration) time.Duration {
	const parts = 20_000
	sum := 0.0
	for i := range parts {
		sum += l.Survival(time.Duration((float64(i) + 0.5) / parts * float64(most)))
	}
	return time.Duration(sum / parts * float64(most))
}

// Exponential is a life with a constant hazard.
type Exponential struct{ Mean time.Duration }

// Survival implements Life.
func (e Exponential) Survival(t time.Duration) float64 {
	return math.Exp(-math.Max(float64(t), 0) / float64(e.Mean))
}

// Quantile implements Life.
func (e Exponential) Quantile(u float64) time.Duration {
	return duration(-math.Log1p(-u) * float64(e.Mean))
}

func (e Exponential) String() string { return fmt.Sprintf("exponential(%q)", e.Mean) }

// Weibull is a life whose hazard falls (Shape below 1) or rises (above 1) with age:
// S(t) = exp(−(t/Scale)^Shape).
type Weibull struct {
	Shape float64
	Scale time.Duration
}

// Survival implements Life.
func (w Weibull) Survival(t time.Duration) float64 {
	return math.Exp(-math.Pow(math.Max(float64(t), 0)/float64(w.Scale), w.Shape))
}

// Quantile implements Life.
func (w Weibull) Quantile(u float64) time.Duration {
	return duration(float64(w.Scale) * math.Pow(-math.Log1p(-u), 1/w.Shape))
}

func (w Weibull) String() string { return fmt.Sprintf("weibull(%g, %q)", w.Shape, w.Scale) }

// Bathtub is a life with many early revocations, few in the middle, and all others before a deadline: F(t) = A·(1 −
// e^(−t/τ1) + e^((t−b)/τ2)), within 0 and 1 (J. Kadupitiya, V. Jadhao and P. Sharma, Modeling the Temporally
// Constrained Preemptions of Transient Cloud VMs, 2020).
type Bathtub struct {
	A               float64
	Tau1, Tau2, End time.Duration // τ1, τ2 and b
}

// Survival implements Life.
func (b Bathtub) Survival(t time.Duration) float64 {
	if t <= 0 {
		return 1
	}
	f := b.A * (1 - math.Exp(-float64(t)/float64(b.Tau1)) + math.Exp(float64(t-b.End)/float64(b.Tau2)))
	return 1 - math.Min(math.Max(f, 0), 1)
}

// Quantile implements Life.
func (b Bathtub) Quantile(u float64) time.Duration {
	if !(b.A > 0) {
		return Forever
	}
	// F increases without bound, so that doubling hi passes the quantile.
	lo, hi := time.Duration(0), max(b.End, time.Second)
	for 1-b.Survival(hi) < u || 1-b.Survival(hi) == 0 {
		if hi > Forever/2 {
			return Forever
		}
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; 1-b.Survival(mid) < u || mid == 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func (b Bathtub) String() string {
	return fmt.Sprintf("bathtub(%g, %q, %q, %q)", b.A, b.Tau1, b.Tau2, b.End)
}

// duration converts nanoseconds to a duration; Forever if they are too many.
func duration(ns float64) time.Duration {
	if !(ns < math.MaxInt64) {
		return Forever
	}
	return time.Duration(ns)
}
