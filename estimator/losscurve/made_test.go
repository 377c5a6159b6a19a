package losscurve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// madeUp is a family of computed loss curves with random settings and a known loss without noise at each step.
type madeUp struct {
	name  string
	noise float64 // standard deviation of the logarithm of a loss around the curve
	most  float64 // largest relative error at 60% of a run
	draw  func(r *rand.Rand) []Point
}

// madeUpSteps is the number of steps of a made-up curve. The target is the loss without noise at a random step in the
// last third.
const madeUpSteps, madeUpRuns = 120, 4

func curveOf(loss func(k float64) float64) []Point { return series(madeUpSteps, loss) }

// descent is the expected loss of stochastic gradient descent on a noisy quadratic
// (G. Zhang and others, 2019): along direction i with curvature λi the squared
// distance shrinks by (1 − rate·λi)² a step, and noise adds rate²·λi.
func descent(floor, noise, curvature float64, rate func(epoch int) float64) []Point {
	const directions, batches = 40, 20
	e := make([]float64, directions)
	for i := range e {
		e[i] = 1
	}
	points := make([]Point, madeUpSteps)
	for epoch := range points {
		loss := 0.0
		for i := range e {
			lambda := math.Pow(float64(i+1), -curvature)
			keep := square(1 - rate(epoch)*lambda)
			add := square(rate(epoch)) * lambda * noise
			for range batches {
				e[i] = keep*e[i] + add
			}
			loss += lambda * e[i] / 2
		}
		points[epoch] = Point{Step: float64(epoch + 1), Loss: floor + loss, Rate: rate(epoch)}
	}
	return points
}

func between(r *rand.Rand, low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }

var madeUps = []madeUp{
	{"power", 0.02, 0.3, func(r *rand.Rand) []Point {
		a := between(r, 0.4, 1.2)
		return curveOf(func(k float64) float64 { return 2 * math.Pow(k, -a) })
	}},
	{"power, noisy", 0.15, 0.4, func(r *rand.Rand) []Point {
		a := between(r, 0.6, 1.2)
		return curveOf(func(k float64) float64 { return 2 * math.Pow(k, -a) })
	}},
	{"inverse with floor", 0.02, 0.3, func(r *rand.Rand) []Point {
		a, c := between(r, 0.05, 0.5), between(r, 0.01, 0.1)
		return curveOf(func(k float64) float64 { return 1/(a*k+0.5) + c })
	}},
	{"exponential with floor", 0.01, 0.5, func(r *rand.Rand) []Point {
		a, c := between(r, 15, 40), between(r, 0.01, 0.1)
		return curveOf(func(k float64) float64 { return 2*math.Exp(-k/a) + c })
	}},
	{"descent, constant rate", 0.02, 0.45, func(r *rand.Rand) []Point {
		rate := between(r, 0.02, 0.1)
		return descent(between(r, 0.01, 0.05), between(r, 0.01, 0.1), between(r, 1, 1.6), func(int) float64 { return rate })
	}},
	{"flat start", 0.01, 0.25, func(r *rand.Rand) []Point {
		t0, a := between(r, 5, 20), between(r, 1, 2)
		return curveOf(func(k float64) float64 { return 2.3 * math.Pow(1+math.Pow(k/t0, 3), -a/3) })
	}},
	{"plateau in the middle", 0.02, 0.35, func(r *rand.Rand) []Point {
		t0, a := between(r, 20, 40), between(r, 8, 20)
		return curveOf(func(k float64) float64 {
			return 1.5/(1+k/3) + 0.5/(1+math.Exp((k-t0)/4))*1 + 1/(1+math.Max(k-t0, 0)/a)*0.3
		})
	}},
	{"step decay", 0.02, 0.46, func(r *rand.Rand) []Point {
		rate, at := between(r, 0.05, 0.15), int(between(r, 20, 35))
		return descent(between(r, 0.005, 0.02), between(r, 0.5, 2), between(r, 1, 1.5), func(e int) float64 {
			return rate * math.Pow(0.1, float64(min(e/at, 1)))
		})
	}},
	{"step decay, twice", 0.02, 1, func(r *rand.Rand) []Point {
		rate, at := between(r, 0.05, 0.15), int(between(r, 30, 40))
		return descent(between(r, 0.005, 0.02), between(r, 0.5, 2), between(r, 1, 1.5), func(e int) float64 {
			return rate * math.Pow(0.3, float64(e/at))
		})
	}},
	{"sudden drop", 0.02, 0.45, func(r *rand.Rand) []Point {
		at, a, tau := math.Floor(between(r, 20, 35)), between(r, 0.5, 0.9), between(r, 2, 6)
		return curveOf(func(k float64) float64 {
			before := 2 * math.Pow(min(k, at), -a)
			if k <= at {
				return before
			}
			return before * (0.25 + 0.75*math.Exp(-(k-at)/2)) * math.Pow(1+(k-at)/tau, -0.4)
		})
	}},
	{"drop of the rate, noisy", 0.05, 0.8, func(r *rand.Rand) []Point {
		at, a := math.Floor(between(r, 15, 40)), between(r, 0.3, 0.5)
		return curveOf(func(k float64) float64 {
			if k <= at {
				return 0.8 + 1.5*math.Pow(k, -a)
			}
			return 0.2 + (0.6+1.5*math.Pow(at, -a))/(1+(k-at)/2)
		})
	}},
	{"cosine decay", 0.02, 0.9, func(r *rand.Rand) []Point {
		rate := between(r, 0.05, 0.15)
		return descent(between(r, 0.005, 0.02), between(r, 0.5, 2), between(r, 1, 1.5), func(e int) float64 {
			return rate * (0.505 + 0.495*math.Cos(math.Pi*float64(e)/madeUpSteps))
		})
	}},
	{"language model", 0.005, 0.35, func(r *rand.Rand) []Point {
		a, c := between(r, 0.2, 0.5), between(r, 1.5, 2.5)
		return curveOf(func(k float64) float64 { return c + 6*math.Pow(k, -a) })
	}},
}

func (m madeUp) curves(rated bool) []curve {
	n := uint64(madeUpRuns)
	if need.Long() {
		n = 20
	}
	var out []curve
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 77))
		losses := m.draw(r)
		end := int(between(r, madeUpSteps*2/3, madeUpSteps)) - 1
		c := curve{name: m.name, target: losses[end].Loss}
		for _, p := range losses {
			p.Loss *= math.Exp(m.noise * r.NormFloat64())
			if !rated {
				p.Rate = 0
			}
			c.points = append(c.points, p)
			if p.Loss <= c.target {
				break
			}
		}
		out = append(out, c)
	}
	return out
}

// At 60% of a run, the mean relative error is at most the family's bound, and intervals have the right coverage.
// The losses so far do not show a later drop of the learning rate, so such families have larger bounds.
func TestRemainingStepsOfMadeUpCurves(t *testing.T) {
	covered, n := 0.0, 0.0
	for _, m := range madeUps {
		line := ""
		for _, part := range []float64{0.4, 0.6} {
			q := judge(t, combined, m.curves(false), part)
			line += fmt.Sprintf("  %2.0f%%: off by %5.1f%%, covered %3.0f%%", 100*part, 100*q.off, 100*q.covered)
			if part == 0.6 && q.off > m.most {
				t.Errorf("%s: off by %.1f%% at 60%% of the run", m.name, 100*q.off)
			}
			covered, n = covered+q.covered, n+1
		}
		t.Logf("%-24s%s", m.name, line)
	}
	if covered/n < 0.8 {
		t.Errorf("the 90%% intervals hold %.0f%%", 100*covered/n)
	}
}

// If trainings report changes of the learning rate, the error at 60% of a run is at most half of the bound for
// predictions from losses alone.
func TestRatesOfLearningAreFollowed(t *testing.T) {
	for _, m := range madeUps {
		curves := m.curves(true)
		if first, last := curves[0].points[0].Rate, curves[0].points[len(curves[0].points)-1].Rate; first == last {
			continue // the rate is unknown or constant
		}
		early, q := judge(t, combined, curves, 0.4), judge(t, combined, curves, 0.6)
		t.Logf("%-24s  40%%: off by %5.1f%%, covered %3.0f%%  60%%: off by %5.1f%%, covered %3.0f%%", m.name, 100*early.off,
			100*early.covered, 100*q.off, 100*q.covered)
		if q.off > m.most/2 || q.covered < 0.5 {
			t.Errorf("%s: off by %.1f%%, covered %.0f%%", m.name, 100*q.off, 100*q.covered)
		}
	}
}

// A schedule of learning rates is recognized from its first rates.
func TestSchedulesAreForeseen(t *testing.T) {
	for name, rate := range map[string]func(step float64) float64{
		"cosine":      func(k float64) float64 { return 0.1 * (0.51 + 0.49*math.Cos(math.Pi*k/120)) },
		"linear":      func(k float64) float64 { return 0.1 * (1 - k/130) },
		"exponential": func(k float64) float64 { return 0.1 * math.Pow(0.97, k) },
		"power":       func(k float64) float64 { return 0.1 / math.Sqrt(k) },
		"inverse":     func(k float64) float64 { return 0.1 / (1 + k/10) },
		"steps":       func(k float64) float64 { return 0.1 * math.Pow(0.3, math.Floor((k-1)/15)) },
		"warm-up": func(k float64) float64 {
			return 0.1 * math.Min(k/5, 1) * (1 + math.Cos(math.Pi*math.Max(k-5, 0)/115)) / 2
		},
	} {
		points := series(40, func(float64) float64 { return 1 })
		for i := range points {
			points[i].Rate = rate(points[i].Step)
		}
		courses := continueRates(points)
		for k := 41.0; k <= 110; k++ {
			if got, want := courses[0].at(k), rate(k); len(courses) > 1 || math.Abs(got/want-1) > 0.1 {
				t.Errorf("%s, %d courses: %.4g at step %v, want %.4g", name, len(courses), got, k, want)
				break
			}
		}
	}
}

// A loss that stays above the target is not predicted to reach it within twice the time.
func TestTargetsOutOfReach(t *testing.T) {
	for seed := range uint64(madeUpRuns) {
		r := rand.New(rand.NewPCG(seed, 5))
		a, floor := between(r, 0.5, 1.5), between(r, 0.3, 1)
		points := series(60, func(k float64) float64 {
			return (floor + 2*math.Pow(k, -a)*math.Exp(-k/30)) * math.Exp(0.01*r.NormFloat64())
		})
		f, _ := combined.Forecast(points, Ask{Target: floor / 3, Level: 0.9, Most: 60, Seed: 1})
		if f.Never < 0.8 {
			t.Errorf("floor %.2f: chance of never %.2f", floor, f.Never)
		}
	}
}

// A change of regime is found at the right report, and no change is found on a curve without one.
func TestChangesOfRegimeAreFound(t *testing.T) {
	for at, rate := range map[int]float64{0: 0.3, 25: 0.3} {
		r := rand.New(rand.NewPCG(3, 3))
		points := series(40, func(k float64) float64 {
			loss := 2 * math.Pow(k, -rate)
			if at > 0 && int(k) > at {
				loss *= 0.4
			}
			return loss * math.Exp(0.02*r.NormFloat64())
		})
		if w := newWindow(points, 0.1).regime(); int(w.before) != at {
			t.Errorf("a change after %v reports, want %d", w.before, at)
		}
	}
}

func BenchmarkForecast(b *testing.B) {
	for _, n := range []int{10, 30, 100, 300} {
		points := series(n, func(k float64) float64 { return 2 / (k + 3) })
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				combined.Forecast(points, Ask{Target: 0.5 / float64(n), Level: 0.9, Seed: 1})
			}
		})
	}
}
