package marks

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
)

// Three gaps that are multiples of a tick reveal the tick of a clock. Gaps of a fine clock reveal none.
func TestTicksOfFewGaps(t *testing.T) {
	marks := func(gaps ...float64) []Mark {
		at, all := 0.0, []Mark{{}}
		for i, g := range gaps {
			at += g
			all = append(all, Mark{Done: i + 1, At: at})
		}
		return all
	}
	for _, c := range []struct {
		gaps []float64
		want float64
	}{
		{slices.Repeat([]float64{60, 120}, 3), 60},
		{[]float64{100, 100, 100.5, 100.5, 101, 101, 100, 100.5}, 0}, // steps of 0.5 in 100
		{[]float64{10, 10, 60, 60, 10, 60}, 0},                       // runs with different paces
		{slices.Repeat([]float64{60}, 6), 0},
	} {
		if got := FindTick([][]Mark{marks(c.gaps...)}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("gaps of %v show a tick of %g, want %g", c.gaps, got, c.want)
		}
	}
	fine := grid{relative: 0.02}
	if got := fine.noise(marks(5, 5, 5, 5)); math.Abs(got-0.2) > 1e-9 {
		t.Errorf("20 s in four gaps are %g s off", got)
	}
	coarse := grid{tick: 60}
	if got := coarse.noise(marks(50, 50)); got != 60 {
		t.Errorf("by a clock of minutes 100 s are %g s off", got)
	}
	if got := coarse.noise(marks(20, 20)); got != 40 {
		t.Errorf("by a clock of minutes 40 s are %g s off", got)
	}
	if e := pool([][]Mark{marks(60)}, 60); len(e.Warnings) > 0 {
		t.Errorf("with a clock that is known: %q", e.Warnings)
	}
}

func TestFindTick(t *testing.T) {
	marks := func(at ...float64) []Mark {
		var m []Mark
		for i, x := range at {
			m = append(m, Mark{10 * i, x})
		}
		return m
	}
	for _, test := range []struct {
		name string
		runs [][]Mark
		want float64
	}{
		{"once a minute", [][]Mark{marks(0, 198, 457, 655), marks(0, 259, 457, 656)}, 60},
		{"a fine clock", [][]Mark{marks(0, 200, 403, 598, 805, 1001)}, 0},
		{"no order", [][]Mark{marks(0, 100, 230, 290, 470, 560)}, 0},
		{"too few", [][]Mark{marks(0, 198, 457)}, 0},
		{"all alike", [][]Mark{marks(0, 10, 20, 30, 40, 50)}, 0},
	} {
		if got := FindTick(test.runs); math.Abs(got-test.want) > 2 {
			t.Errorf("%s: a tick of %g, want %g", test.name, got, test.want)
		}
	}
}

// Very dense, precise or odd marks give finite numbers, not NaN.
func TestPoolOfAllSortsOfMarks(t *testing.T) {
	dense := func(n int, pace float64) []Mark {
		m := make([]Mark, n)
		for i := range m {
			m[i] = Mark{i, float64(i) * pace}
		}
		return m
	}
	for _, test := range []struct {
		name string
		own  []Mark
		pace float64
		tick float64
		also []Mark
	}{
		{"thousands of precise marks", dense(5000, 0.01), 0.01, 0, dense(5000, 0.0101)},
		{"a tick far below the run time", dense(1000, 10), 10, 0.001, dense(1000, 10.2)},
		{"a tick far above it", dense(3, 1), 1, 600, dense(3, 1.1)},
		{"a run of another order", dense(50, 1), 1, 0, dense(50, 1000)},
	} {
		e, _, err := Fit(Pooled, Problem{Own: test.own, Others: []Run{{Marks: test.also, Length: 1 << 20}}, Tick: test.tick})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !(math.Abs(e.Slope/test.pace-1) < 0.3) || !(e.SlopeSE >= 0) || math.IsInf(e.SlopeSE, 0) {
			t.Errorf("%s: a pace of %g ± %g, want about %g", test.name, e.Slope, e.SlopeSE, test.pace)
		}
	}
	still := Problem{Own: []Mark{{0, 0}, {5, 0}}}
	for _, m := range models {
		if _, known, err := Fit(m.name, still); !known || !errors.Is(err, estimator.ErrUnfit) {
			t.Errorf("%s of a run without time: %v", m.name, err)
		}
		if _, _, err := Fit(m.name, Problem{}); !errors.Is(err, estimator.ErrUnfit) {
			t.Errorf("%s of nothing: %v", m.name, err)
		}
	}
	if _, known, _ := Fit("scaling", Problem{Own: dense(9, 1)}); known {
		t.Error("marks have a model of threads")
	}
}

// A run that has only begun is predicted from the other runs. A complete run that is far slower than the others has
// little weight.
func TestJoinedRuns(t *testing.T) {
	marks := func(n int, pace float64) []Mark {
		m := make([]Mark, n+1)
		for i := range m {
			m[i] = Mark{10 * i, 60*math.Ceil(10*float64(i)*pace/60) + 15}
		}
		m[0].At = 0
		return m
	}
	whole := func(pace float64) Run {
		m := marks(16, pace)
		return Run{Length: 160, Seconds: m[16].At, Marks: m}
	}
	p := Problem{Tick: 60, Others: []Run{whole(23), whole(23.2), whole(22.9), whole(40)}}
	for _, own := range []int{0, 1, 3} {
		p.Own = marks(own, 23)
		for _, model := range []string{"history", "auto"} {
			e, _, err := Fit(model, p)
			if err != nil {
				t.Fatal(err)
			}
			if q := e.Predict(160, 0.9); math.Abs(q.Seconds/(23*160)-1) > 0.12 || q.Low >= q.Seconds || q.High <= q.Seconds {
				t.Errorf("%s after %d marks: %+v, want about %d (the mean of the whole runs is 19%% more)", model, own, q,
					23*160)
			}
		}
	}
}

// The posterior of the first run's pace and lag equals a direct sum over all unknown values of the model.
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
		// The expected center of the posterior, by direct sums.
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

// A prior about a lag is a distribution over lags. It is greatest at its own lag, and falls equally on both sides,
// modulo the tick.
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

// The expected paces are computed by hand, with and without a clock that ticks.
func TestPaceOfMarks(t *testing.T) {
	fine := []Mark{{0, 0}, {10, 10}, {20, 30}}
	ss, df := estimator.PriorDF*square(estimator.PriorPaceSD), float64(estimator.PriorDF)
	// The two stretches have paces of 1 and 2: each differs from their mean of 1.5 by a third.
	width := math.Sqrt(6 * (ss + 2.0/9) / (df + 1))
	near(t, "one run", clockless([][]Mark{fine}), width, 1e-12)
	// Runs with only two marks do not show the spread within a run. The spread between their paces, here 1 and 3, is
	// used instead.
	two := [][]Mark{{{0, 0}, {10, 10}}, {{0, 5}, {10, 35}}, {}, {{0, 0}, {5, 0}}}
	near(t, "runs of two marks", clockless(two), math.Sqrt(6*(ss+2.0/4)/(df+1)), 1e-12)
	near(t, "one of them", clockless(two[:1]), math.Sqrt(6*ss/df), 1e-12)

	e, err := fitLinear(fine, 3)
	if err != nil || e.Slope != 1.5 || math.Abs(e.SlopeSE-3/math.Sqrt(6)/20) > 1e-12 || e.DF != clockDF {
		t.Errorf("a tick of 3 s: %+v, %v", e, err)
	}
	e, err = fitLinear(fine, 0)
	if err != nil || math.Abs(e.SlopeSE-width*30/math.Sqrt2/math.Sqrt(6)/20) > 1e-12 || e.DF != estimator.PriorDF+1 || len(e.Warnings) != 0 {
		t.Errorf("a fine clock: %+v, %v", e, err)
	}
	if e, err = fitLinear(fine[:2], 0); err != nil || e.DF != estimator.PriorDF || !slices.Equal(e.Warnings, []string{fewMarks}) {
		t.Errorf("two marks: %+v, %v", e, err)
	}
	if e, err = fitLinear([]Mark{{0, 0}, {10, 100}}, 0); err != nil || !slices.Equal(e.Warnings, []string{assumedClock}) ||
		math.Abs(e.SlopeSE-60/math.Sqrt(6)/10) > 1e-12 {
		t.Errorf("a gap longer than a minute: %+v, %v", e, err)
	}
	for _, still := range [][]Mark{nil, {{0, 0}}, {{0, 0}, {0, 5}}, {{0, 0}, {5, 0}}} {
		if _, err := fitLinear(still, 0); !errors.Is(err, estimator.ErrUnfit) {
			t.Errorf("%v: %v", still, err)
		}
	}
}

// The expected beginnings are computed by hand.
func TestBeginningsByHand(t *testing.T) {
	own := []Mark{{0, 0}, {10, 5}, {20, 9}}
	for _, c := range []struct {
		marks []Mark
		want  []float64
	}{
		{[]Mark{{0, 0}, {10, 4}, {20, 8}, {30, 20}}, []float64{4, 8}},
		{[]Mark{{0, 0}, {20, 8}, {40, 20}}, []float64{4, 8}},          // half-way between two marks
		{[]Mark{{0, 0}, {8, 4}, {16, 8}, {24, 16}}, []float64{5, 12}}, // a quarter, and a half
		{[]Mark{{0, 0}, {10, 4}, {19, 7}}, nil},                       // the run ended before
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

// If the clock of a watcher shows the same first interval in all runs, more runs do not make the pace more certain.
func TestEqualFirstIntervals(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, period := range []float64{60, 10} {
		var runs []Run
		for range 12 {
			pace := 0.55 * math.Exp(0.01*random.NormFloat64())
			end := math.Ceil(4000*pace/period) * period
			runs = append(runs, Run{Length: 4000, Seconds: end,
				Marks: []Mark{{}, {Done: 100, At: math.Ceil(100*pace/period) * period}}})
		}
		p := Problem{Own: runs[0].Marks}
		for _, r := range runs[1:] {
			p.Others = append(p.Others, Run{Length: 4000, Marks: r.Marks})
		}
		e, _, err := Fit(Pooled, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Predict(4000, 0.9); runs[0].Seconds < got.Low || runs[0].Seconds > got.High || len(e.Warnings) == 0 {
			t.Errorf("looked at every %g s: %.0f to %.0f s, and it took %.0f; %v", period, got.Low, got.High, runs[0].Seconds, e.Warnings)
		}
	}
}

// The weight of a lag is 1 within the tick and 0 far outside; at the edges it is the probability under a uniform error.
func TestWithin(t *testing.T) {
	const tick, off = 60, 1
	wide := 2 * math.Sqrt(3) * off
	for lag, want := range map[float64]float64{
		30: 1, wide / 2: 1, tick - wide/2: 1, -wide / 2: 0, tick + wide/2: 0, 0: 0.5, tick: 0.5, wide / 4: 0.75, tick + wide/4: 0.25,
	} {
		near(t, "within", within(lag, tick, off), want, 1e-12)
	}
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %g, want %g ± %g", what, got, want, tol)
	}
}
