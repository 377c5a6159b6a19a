package estimator

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The expected interval is computed by hand from all parts of its variance.
func TestIntervalByHand(t *testing.T) {
	e := Estimate{Slope: 2, Intercept: 5, UnitSD: 0.3, SlopeSE: 0.05, InterceptSE: 0.4, DF: 6, Rho: 0.5, PaceSD: 0.02, PaceDF: 9,
		Resource: Resource{Threads: 2}, CurveSE: 0.1}
	check := func(what string, p Prediction, seconds, variance, df float64) {
		t.Helper()
		half := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.95) * math.Sqrt(variance)
		near(t, what, p.Seconds, seconds, 1e-9)
		near(t, what+": low", p.Low, seconds-half, 1e-9)
		near(t, what+": high", p.High, seconds+half, 1e-9)
	}
	// 10 units: 25 s.
	within := 0.4*0.4 + 10*10*0.05*0.05 + 10*0.3*0.3*1.5/0.5
	between := math.Pow(10*2*0.02, 2)
	df := square(within+between) / (square(within)/6 + square(between)/9)
	check("as it was sampled", e.Predict(10, 0.9), 25, within+between, df)
	// On one thread the run takes twice as long, and the error of the speed-up curve is added.
	within = 0.4*0.4 + 4*(10*10*0.05*0.05+10*0.3*0.3*1.5/0.5)
	between = math.Pow(10*4*0.02, 2) + math.Pow(10*4*0.1, 2)
	df = square(within+between) / (square(within)/6 + square(between)/9)
	check("on one thread", e.PredictOn(10, 1, 0.9), 45, within+between, df)
	// A spread of up to a quarter applies to the time, a larger spread to the logarithm of the time.
	for sd, log := range map[float64]bool{0.25: false, 0.2500001: true} {
		p := Prediction{Seconds: 10}.around(10*sd, 7, 0.9)
		z := distuv.StudentsT{Sigma: 1, Nu: 7}.Quantile(0.95) * sd
		low, high := 10*(1-z), 10*(1+z)
		if log {
			low, high = 10*math.Exp(-z), 10*math.Exp(z)
		}
		near(t, "low", p.Low, low, 1e-9)
		near(t, "high", p.High, high, 1e-9)
	}
	if p := (Prediction{Seconds: 0, Low: -1, High: -1}).around(1, 5, 0.9); p.Low != -1 {
		t.Errorf("no time at all has %+v", p)
	}
	e.DF = 0
	if p := e.Predict(10, 0.9); p.Low != -1 || p.High != -1 || p.Seconds != 25 {
		t.Errorf("of an unknown spread: %+v", p)
	}
	// At a level of 80%, the fourth of four errors is the limit; at 90% it is multiplied by 5/4.
	e.Residuals = []float64{-0.3, -0.1, 0.1, 0.2}
	for level, q := range map[float64]float64{0.6: 0.2, 0.8: 0.3, 0.9: 0.3 * 5 / 4} {
		p := e.Predict(10, level)
		near(t, "conformal low", p.Low, 25*math.Exp(-q), 1e-9)
		near(t, "conformal high", p.High, 25*math.Exp(q), 1e-9)
	}
}

// The result for the running job is the weighted mean and spread of its groups of units.
func TestLearnedByHand(t *testing.T) {
	e := Estimate{Slope: 1.5, SlopeSE: 0.1, UnitSD: 0.2, DF: 3, PaceSD: 0.04, Rho: 0.1, Resource: Resource{Threads: 2}}
	var l Learned
	var sum, n, before, products, count float64
	var paces, units []float64
	for i := range 12 {
		u, seconds := 1+i%3, 1.0+0.3*float64(i%5)+0.05*float64(i)
		l.Add(e, u, []Held{{seconds / 2, 2}, {seconds, 1}}) // one thread does half as much
		paces, units = append(paces, seconds/float64(u)), append(units, float64(u))
		sum, n = sum+seconds, n+float64(u)
		now := paces[i] - sum/n
		products += float64(u) * before * now
		before, count = now, count+1
	}
	squares := 0.0
	for i, p := range paces {
		squares += units[i] * square(p-sum/n)
	}
	near(t, "mean", l.mean, sum/n, 1e-12)
	near(t, "squares", l.squares, squares, 1e-9)
	near(t, "products", l.products, products, 1e-9)
	pairs := count - 1
	rho := math.Max(0, math.Min(0.9, products/squares*pairs/(pairs+8)))
	near(t, "memory", l.rho(), rho, 1e-9)

	got := e.After(l)
	unit := math.Sqrt((square(0.2)*3 + squares) / (3 + count - 1))
	rho = math.Max(rho, 0.1)
	seen := square(unit)*(1+rho)/(1-rho)/n + square(1.5*momentSD*math.Sqrt(math.Min(1, momentSeconds/sum)))
	prior := square(0.1) + square(1.5*0.04)
	near(t, "spread of a unit", got.UnitSD, unit, 1e-9)
	near(t, "pace", got.Slope, (1.5*seen+sum/n*prior)/(seen+prior), 1e-9)
	near(t, "its error", got.SlopeSE, math.Sqrt(seen*prior/(seen+prior)), 1e-9)
	if got.DF != 3+count-1 || got.PaceSD != restDrift {
		t.Errorf("%+v", got)
	}
	// Without prior knowledge of a job, only its units count.
	got = Estimate{Slope: 9}.After(l)
	near(t, "pace of an unknown job", got.Slope, sum/n, 1e-9)

	// Fewer than nine groups show no correlation, and neither do groups that are all equal.
	var few, alike Learned
	for i := range 9 {
		if i < 8 {
			few.Add(Estimate{}, 1, []Held{{1 + float64(i/4), 1}})
		}
		alike.Add(Estimate{}, 1, []Held{{1, 1}})
	}
	if few.rho() != 0 || alike.rho() != 0 {
		t.Errorf("memories of %g and %g", few.rho(), alike.rho())
	}
	few.Add(Estimate{}, 1, []Held{{2, 1}})
	if few.rho() <= 0 {
		t.Error("nine groups in two halves show no memory")
	}
}
