package losscurve

import (
	"math"
	"math/rand/v2"
)

// combined mixes the continuations of its members.
var combined = Model{
	Name: "combined",
	Doc: "trend, inverse and exponential, weighted by the likelihood that each, fitted to the first three " +
		"quarters of the window, gives to the rest",
	draw: drawCombined,
}

// member is a model with a likelihood.
type member struct {
	draw       func(w window, n int, rng *rand.Rand) []float64
	likelihood func(w window, n int) float64
	prior      float64 // its weight before any loss is seen
}

// Laws with a floor often fit what they have seen well, and extrapolate it badly.
var members = []member{
	{drawTrend, trendLikelihood, 0.9},
	{inverseLaw.drawMember, inverseLaw.likelihood, 0.05},
	{exponentialLaw.drawMember, exponentialLaw.likelihood, 0.05},
}

// heldOut is the part of a window, its latest, by which members are weighted, and
// leastHeldOut the least number of points in it: with fewer there is only the
// trend.
const (
	heldOut      = 0.25
	leastHeldOut = 3
)

func drawCombined(w window, n int, rng *rand.Rand) []float64 {
	held := int(heldOut * float64(len(w.points)))
	if held < leastHeldOut {
		return drawTrend(w, n, rng)
	}
	shares := make([]float64, len(members))
	for i, m := range members {
		shares[i] = math.Log(m.prior) + m.likelihood(w, len(w.points)-held)
	}
	total := logSum(shares)
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return drawTrend(w, n, rng)
	}
	var out []float64
	carry := 0.0
	for i, m := range members {
		carry += float64(n) * math.Exp(shares[i]-total)
		if count := min(int(math.Round(carry))-len(out), n-len(out)); count > 0 {
			out = append(out, m.draw(w, count, rng)...)
		}
	}
	if len(out) < n { // shares are rounded
		out = append(out, drawTrend(w, n-len(out), rng)...)
	}
	return out
}
