package estimator

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The posterior of the first run's pace and lag, summed over all that is not known as it is written down in the model.
func TestPosteriorIsTheSum(t *testing.T) {
	mark := func(done ...float64) []Mark {
		m := []Mark{{0, 0}}
		for i, at := range done {
			m = append(m, Mark{10 * (i + 1), at})
		}
		return m
	}
	for _, c := range []struct {
		tick float64
		runs [][]Mark
	}{
		{0, [][]Mark{mark(10.2, 20.1), mark(11, 22.3, 33.1)}},
		{4, [][]Mark{mark(12, 20), mark(12, 24), mark(16, 24)}},
		{4, [][]Mark{mark(), mark(12, 24)}},
	} {
		g := newGrid(c.runs, c.tick)
		if len(g.at) > 200 {
			t.Fatalf("%d paces are too many for a test", len(g.at))
		}
		likely := make([][][]float64, len(c.runs))
		for i, r := range c.runs {
			likely[i] = g.likely(r)
		}
		var density []float64 // by how far apart
		want := make([][]float64, len(g.lags))
		for u := range want {
			want[u] = make([]float64, len(g.at))
		}
		for _, spread := range spreads {
			density = density[:0]
			for d := range g.at {
				z := float64(d) * g.width / spread
				density = append(density, math.Pow(1+z*z/freedom, -(freedom+1)/2.0)/spread)
			}
			for _, k := range g.kernels {
				for common := range g.at {
					others := k.prior
					for _, run := range likely[1:] {
						m := 0.0
						for u, row := range run {
							for at, l := range row {
								m += k.lags[u] * l * density[max(at-common, common-at)]
							}
						}
						others *= m
					}
					for u := range want {
						for at := range g.at {
							want[u][at] += others * k.lags[u] * likely[0][u][at] * density[max(at-common, common-at)]
						}
					}
				}
			}
		}
		got := g.posterior(likely)
		total := func(w [][]float64) (sum float64) {
			for _, row := range w {
				for _, v := range row {
					sum += v
				}
			}
			return sum
		}
		a, b := total(got), total(want)
		for u := range want {
			for at := range want[u] {
				if math.Abs(got[u][at]/a-want[u][at]/b) > 1e-9 {
					t.Fatalf("tick %g, lag %d, pace %d: %g, want %g", c.tick, u, at, got[u][at]/a, want[u][at]/b)
				}
			}
		}
		// Its center, by plain sums.
		var mean, sq, lag, below float64
		for u := range want {
			for at, w := range want[u] {
				w /= b
				mean, sq, lag = mean+w*g.at[at], sq+w*g.at[at]*g.at[at], lag+w*g.lags[u]
			}
		}
		median, sd, middle := g.center(got)
		near(t, "standard deviation", sd, math.Sqrt(sq-mean*mean), 1e-6)
		near(t, "lag", middle, lag, 1e-9)
		for u := range want {
			for at, w := range want[u] {
				switch low, high := g.at[at]*math.Exp(-g.width/2), g.at[at]*math.Exp(g.width/2); {
				case high <= median:
					below += w / b
				case low < median:
					below += w / b * math.Log(median/low) / g.width
				}
			}
		}
		near(t, "what is below the median", below, 0.5, 1e-9)
	}
}

// Beliefs about lags are distributions; one about a lag has its greatest value there, and falls alike on both sides,
// round the clock.
func TestLagsOf(t *testing.T) {
	lags, kernels := lagsOf(60)
	prior := 0.0
	for h, k := range kernels {
		prior += k.prior
		near(t, "a belief", stat.Mean(k.lags, nil)*mostLags, 1, 1e-12)
		if h == 0 {
			continue
		}
		center := h - 1
		for d := range mostLags / 2 {
			near(t, "both sides", k.lags[(center+d)%mostLags], k.lags[(center-d+mostLags)%mostLags], 1e-12)
			if d > 0 && k.lags[(center+d)%mostLags] >= k.lags[(center+d-1)%mostLags] {
				t.Errorf("belief %d does not fall at %d", h, d)
			}
		}
		if far := k.lags[(center+mostLags/2)%mostLags]; math.Abs(far-0.2/mostLags) > 1e-6 {
			t.Errorf("far off a lag has %g", far)
		}
	}
	near(t, "all beliefs", prior, 1, 1e-12)
	for i, lag := range lags {
		near(t, "a lag", lag, 5*float64(i)+2.5, 1e-12)
	}
}

// The weight of a lag: all within the tick, nothing outside, and between them a share of the uniform error.
func TestWithin(t *testing.T) {
	const tick, off = 60, 1
	wide := 2 * math.Sqrt(3) * off
	for lag, want := range map[float64]float64{
		30: 1, wide / 2: 1, tick - wide/2: 1, -wide / 2: 0, tick + wide/2: 0, 0: 0.5, tick: 0.5, wide / 4: 0.75, tick + wide/4: 0.25,
	} {
		near(t, "within", within(lag, tick, off), want, 1e-12)
	}
}

// An interval by hand: every part of its variance counts, as well as it is known.
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
	// On one thread all takes twice as long, and the curve may be off.
	within = 0.4*0.4 + 4*(10*10*0.05*0.05+10*0.3*0.3*1.5/0.5)
	between = math.Pow(10*4*0.02, 2) + math.Pow(10*4*0.1, 2)
	df = square(within+between) / (square(within)/6 + square(between)/9)
	check("on one thread", e.PredictOn(10, 1, 0.9), 45, within+between, df)
	// A spread of up to a quarter is the spread of the time, a larger one the spread of its logarithm.
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
	// Of four errors the fourth, for 80%; for 90% it is stretched by 5/4.
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

	// Fewer than nine groups show no memory, nor do groups all alike.
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

// A pace from marks by hand, with and without a clock that ticks.
func TestPaceOfMarks(t *testing.T) {
	fine := []Mark{{0, 0}, {10, 10}, {20, 30}}
	ss, df := priorDF*square(priorPaceSD), float64(priorDF)
	// Against the mean pace of 1.5 the two stretches are a third off.
	width := math.Sqrt(6 * (ss + 2.0/9) / (df + 1))
	near(t, "one run", clockless([][]Mark{fine}), width, 1e-12)
	// Runs of two marks do not show it: then it is how their paces differ, here 1 and 3.
	two := [][]Mark{{{0, 0}, {10, 10}}, {{0, 5}, {10, 35}}, {}, {{0, 0}, {5, 0}}}
	near(t, "runs of two marks", clockless(two), math.Sqrt(6*(ss+2.0/4)/(df+1)), 1e-12)
	near(t, "one of them", clockless(two[:1]), math.Sqrt(6*ss/df), 1e-12)

	e, err := fitMarks(fine, 3)
	if err != nil || e.Slope != 1.5 || math.Abs(e.SlopeSE-3/math.Sqrt(6)/20) > 1e-12 || e.DF != clockDF {
		t.Errorf("a tick of 3 s: %+v, %v", e, err)
	}
	e, err = fitMarks(fine, 0)
	if err != nil || math.Abs(e.SlopeSE-width*30/math.Sqrt2/math.Sqrt(6)/20) > 1e-12 || e.DF != priorDF+1 || len(e.Warnings) != 0 {
		t.Errorf("a fine clock: %+v, %v", e, err)
	}
	if e, err = fitMarks(fine[:2], 0); err != nil || e.DF != priorDF || !slices.Equal(e.Warnings, []string{fewMarks}) {
		t.Errorf("two marks: %+v, %v", e, err)
	}
	if e, err = fitMarks([]Mark{{0, 0}, {10, 100}}, 0); err != nil || !slices.Equal(e.Warnings, []string{assumedClock}) ||
		math.Abs(e.SlopeSE-60/math.Sqrt(6)/10) > 1e-12 {
		t.Errorf("a gap longer than a minute: %+v, %v", e, err)
	}
	for _, still := range [][]Mark{nil, {{0, 0}}, {{0, 0}, {0, 5}}, {{0, 0}, {5, 0}}} {
		if _, err := fitMarks(still, 0); !errors.Is(err, ErrUnfit) {
			t.Errorf("%v: %v", still, err)
		}
	}
}

// Runs that began like this one, by hand.
func TestBeginningsByHand(t *testing.T) {
	own := []Mark{{0, 0}, {10, 5}, {20, 9}}
	for _, c := range []struct {
		marks []Mark
		want  []float64
	}{
		{[]Mark{{0, 0}, {10, 4}, {20, 8}, {30, 20}}, []float64{4, 8}},
		{[]Mark{{0, 0}, {20, 8}, {40, 20}}, []float64{4, 8}},          // half-way in between
		{[]Mark{{0, 0}, {8, 4}, {16, 8}, {24, 16}}, []float64{5, 12}}, // a quarter, and a half
		{[]Mark{{0, 0}, {10, 4}, {19, 7}}, nil},                       // not as far
		{[]Mark{{0, 0}, {10, 4}, {198, 90}}[:2], nil},
	} {
		if got := atMarks(c.marks, own); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%v: %v, want %v", c.marks, got, c.want)
		}
	}
	runs := []begin{{1, []float64{5, 10}}, {2, []float64{5, 10}}, {3, []float64{50, 100}}}
	at := []float64{5, 10}
	near(t, "the like ones", paceOf(at, runs[1:], 0.01, 0), 2, 0)
	near(t, "all alike", paceOf(at, runs, math.Inf(1), 0), 2, 0)
	near(t, "adjusted by how it began", paceOf(at, runs[2:], 0.01, 0.5), 3+0.5*math.Log(0.1), 1e-12)
	// Relative to the last mark this one is off by 0.1: at twice that distance it has a weight of 16/25 against 1.
	off := []begin{{1, []float64{5, 10}}, {2, []float64{5, 11}}, {3, []float64{5, 11}}}
	near(t, "near ones count", paceOf(at, off, 0.2, 0), 2, 0)
	near(t, "far ones do not", paceOf(at, off, 0.02, 0), 1, 0)
}

// Levels of knowledge from past runs, by hand.
func TestRememberByHand(t *testing.T) {
	run := func(job, kind, host string, pace float64) Run {
		return Run{Job: job, Kind: kind, Resource: Resource{Host: host, Threads: 2}, Length: 10, Seconds: 10 * math.Exp(pace)}
	}
	p := Problem{Job: "j", Kind: "k"}
	asked := Resource{Host: "b", Threads: 2}
	check := func(what string, past []Run, mean, precision, spread float64) {
		t.Helper()
		b, s, known := remember(p, past, asked, 0)
		if !known || math.Abs(b.mean-mean) > 1e-9 || math.Abs(b.precision/precision-1) > 1e-9 || math.Abs(s-spread) > 1e-12 {
			t.Errorf("%s: %+v, %g, %v; want %g, %g, %g", what, b, s, known, mean, precision, spread)
		}
	}
	if _, _, known := remember(p, []Run{run("x", "", "b", 1), run("x", "y", "b", 1)}, asked, 0); known {
		t.Error("jobs of other kinds are known to say something")
	}
	if _, _, known := remember(Problem{Job: "j"}, []Run{run("x", "", "b", 1)}, asked, 0); known {
		t.Error("jobs without a kind are of one kind")
	}
	// Two jobs of the kind, at 1 and 3.
	kind := []Run{run("x", "k", "b", 1), run("y", "k", "b", 3)}
	check("its kind", kind, 2, 1/((1+2)/2.0*1.5), priorPaceSD)
	// Two runs of the job elsewhere, at 1 and 1.2, and no job that ran on both.
	away := []Run{run("j", "k", "a", 1), run("j", "k", "a", 1.2)}
	check("elsewhere", away, 1.1, 1/(square(unknownRatio)+square(priorPaceSD)/2), priorPaceSD)
	// Others ran on both: twice, at ratios of 0.5 and 0.7. They are of another kind.
	both := append([]Run{run("u", "o", "a", 2), run("v", "o", "a", 1)}, away...)
	both = append(both, run("u", "o", "b", 2.5), run("v", "o", "b", 1.7))
	v := (priorDF*square(priorHostSD) + 0.02) / (priorDF + 1) * 1.5
	check("elsewhere, with others", both, 1.1+0.6, 1/(v+square(priorPaceSD)/2), priorPaceSD)
	// Runs of the job here give their spread.
	here := []Run{run("j", "k", "b", 1), run("j", "k", "b", 1.1)}
	own := (priorDF*square(priorPaceSD) + 0.005) / (priorDF + 1)
	check("here", here, 1.05, 2/own, math.Sqrt(own))
	// Two sources are joined by their precision.
	precision := 2/own + 1/(3.0/2*1.5)
	check("here, and its kind", append(here, kind...), (1.05*2/own+2/(3.0/2*1.5))/precision, precision, math.Sqrt(own))
}

// Fractions by hand.
func TestFractionByHand(t *testing.T) {
	line := func(at ...float64) (s []Sample) {
		for i := 0; i < len(at); i += 2 {
			s = append(s, Sample{Length: int(at[i]), Wall: at[i+1], Threads: 1})
		}
		return s
	}
	f, err := Fraction{}.Fit(Problem{Samples: line(2, 6, 4, 8, 0, 9, 5, 0)})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "fraction", f.Slope, 14.0/6, 1e-12) // paces 3 and 2
	spread := math.Sqrt((priorDF*square(priorPaceSD) + 0.5/square(14.0/6)) / (1 + priorDF))
	near(t, "its error", f.SlopeSE, 14.0/6*spread/math.Sqrt2, 1e-12)
	near(t, "its pace", f.PaceSD, math.Hypot(spread, momentSD*math.Sqrt(momentSeconds/14)), 1e-12)
	if f.Samples != 2 || f.DF != 1+priorDF {
		t.Errorf("%+v", f)
	}
}
