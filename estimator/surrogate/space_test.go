package surrogate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

// wave returns random points of the unit square, and the values of a smooth function there.
func wave(n int, seed uint64) (x [][]float64, y []float64) {
	random := rand.New(rand.NewPCG(seed, 1))
	for range n {
		p := []float64{random.Float64(), random.Float64()}
		x, y = append(x, p), append(y, math.Sin(4*p[0])+p[1]*p[1])
	}
	return x, y
}

// TestDimensions checks values and coordinates of each kind of setting against values computed by hand.
func TestDimensions(t *testing.T) {
	categories := Dimension{Categories: 3}
	list := Dimension{Numbers: []float64{1, 10, 100}, Log: true}
	whole := Dimension{Min: 2, Max: 6, Integer: true}
	plain := Dimension{Min: 10, Max: 20}
	for _, c := range []struct {
		d    Dimension
		size int
		all  []float64
	}{
		{categories, 3, []float64{0, 1, 2}}, {list, 3, []float64{0, 0.5, 1}}, {whole, 5, []float64{0, 0.25, 0.5, 0.75, 1}},
		{plain, 0, []float64{}}, {Dimension{Min: 3, Max: 3, Integer: true}, 1, []float64{0.5}},
	} {
		if got := c.d.All(); c.d.Size() != c.size || !near(got, c.all) {
			t.Errorf("%+v: %d values at %v, want %v", c.d, c.d.Size(), got, c.all)
		}
	}
	for _, c := range []struct {
		d        Dimension
		at, want float64
	}{
		{categories, 2, 2}, {list, 0.7, 10}, {list, 0.76, 100}, {list, 0.2, 1}, {whole, 0.6, 4}, {whole, 0.65, 5}, {whole, 1, 6},
		{plain, 0.25, 12.5}, {plain, -1, 10}, {plain, 2, 20}, {Dimension{Min: 1, Max: 100, Log: true}, 0.5, 10},
	} {
		if got := c.d.Value(c.at); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: the value at %g is %g, want %g", c.d, c.at, got, c.want)
		}
	}
	for _, c := range []struct {
		d    Dimension
		at   float64
		want []float64
	}{
		{categories, 1, []float64{0, 2}}, {list, 0, []float64{0.5}}, {list, 0.5, []float64{0, 1}}, {list, 1, []float64{0.5}},
		{whole, 0.25, []float64{0, 0.5}}, {plain, 0.5, []float64{0.4, 0.6}}, {plain, 0.05, []float64{0.15}}, {plain, 1, []float64{0.9}},
		{plain, 0.1, []float64{0, 0.2}}, {plain, 0.9, []float64{0.8, 1}},
	} {
		if got := c.d.Near(c.at, 0.1); !near(got, c.want) {
			t.Errorf("%+v: next to %g are %v, want %v", c.d, c.at, got, c.want)
		}
	}
	// Each value of a list has an equal part of the unit interval.
	for _, d := range []Dimension{categories, list} {
		counts := map[float64]int{}
		for i := range 300 {
			counts[d.cell(float64(i)/300)]++
		}
		for at, n := range counts {
			if n != 100 || len(counts) != 3 {
				t.Errorf("%+v: %d of 300 parts are %g", d, n, at)
			}
		}
	}
	space := Space{categories, whole}
	grid := space.Grid()
	if len(grid) != 15 || !near(grid[1], []float64{0, 0.25}) || !near(grid[5], []float64{1, 0}) || space.Size(15) != 15 ||
		space.Size(14) != 0 || (Space{categories, plain}).Size(1e6) != 0 {
		t.Errorf("a grid of %d points, %v", len(grid), grid[:6])
	}
	for i, p := range grid {
		for _, q := range grid[:i] {
			if near(p, q) {
				t.Errorf("%v is in the grid twice", p)
			}
		}
	}
	for d := range 2 {
		parts := map[int]bool{}
		for _, p := range (Space{plain, plain}).LatinHypercube(7, rand.New(rand.NewPCG(1, 2))) {
			parts[int(p[d]*7)] = true
			if middle := p[d]*7 - math.Floor(p[d]*7); math.Abs(middle-0.5) > 1e-9 {
				t.Errorf("%g is not the middle of a part", p[d])
			}
		}
		if len(parts) != 7 {
			t.Errorf("a setting takes %d of 7 parts", len(parts))
		}
	}
}

// TestContexts checks which trials are at the goal, and which context is cheapest.
func TestContexts(t *testing.T) {
	s := Space{{Name: "x", Max: 1}, {Name: "part", Max: 1, Context: true, Goal: 1}, {Name: "of", Numbers: []float64{1, 2, 5}, Context: true, Goal: 0.25}}
	if s.Settings() != 1 || s.AtGoal([]float64{0, 1, 0}) || s.AtGoal([]float64{0, 0.5, 0.25}) || !s.AtGoal([]float64{0.3, 1, 0.25}) {
		t.Error("a trial counts elsewhere than at the goal")
	}
	if got := s.ToGoal([]float64{0.3, 0.5, 0}); !near(got, []float64{0.3, 1, 0.25}) {
		t.Errorf("at the goal: %v", got)
	}
	if got := s.ToCheapest([]float64{0.3, 0.5, 0}); !near(got, []float64{0.3, 0, 1}) {
		t.Errorf("the cheapest: %v", got)
	}
	if got := (Dimension{Goal: 0.4}).Cheapest(); got != 1 {
		t.Errorf("farthest from 0.4 is %g", got)
	}
	at := s.inContexts([]float64{0.3, 0.5, 0})
	want := [][]float64{{0.3, 1, 0.25}, {0.3, 0, 0}, {0.3, 0.25, 0}, {0.3, 0.5, 0}, {0.3, 0.75, 0}, {0.3, 1, 0}, {0.3, 0.5, 0}, {0.3, 0.5, 0.25},
		{0.3, 0.5, 1}}
	if !slices.EqualFunc(at, want, near) {
		t.Errorf("in contexts: %v", at)
	}
	many := Space{{Numbers: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, Context: true, Goal: 1}}
	if got := many.inContexts([]float64{0}); len(got) != 1+5 {
		t.Errorf("of nine values %d are steps", len(got)-1)
	}
	many[0].Numbers = many[0].Numbers[:8]
	if got := many.inContexts([]float64{0}); len(got) != 1+8 {
		t.Errorf("of eight values %d are steps", len(got)-1)
	}
}

// TestStepsAreEntered: a context step may be tried after the step before it, starting with the cheapest, and only with
// settings that were tried there.
func TestStepsAreEntered(t *testing.T) {
	s := Space{{Max: 1}, {Max: 1, Context: true, Goal: 1}}
	trial := func(x, part float64) Trial { return Trial{At: []float64{x, part}, State: Done} }
	for _, c := range []struct {
		trials []Trial
		x      float64
		part   float64
		want   bool
	}{
		{nil, 0.2, 0, true}, {nil, 0.2, 0.5, false}, {nil, 0.2, 1, false},
		{[]Trial{trial(0.2, 0)}, 0.2, 0.25, true}, {[]Trial{trial(0.2, 0)}, 0.2, 0.3, true}, {[]Trial{trial(0.2, 0)}, 0.2, 0.31, false},
		{[]Trial{trial(0.2, 0)}, 0.3, 0.25, false}, {[]Trial{trial(0.2, 0)}, 0.3, 0, true},
		{[]Trial{trial(0.2, 0), trial(0.2, 0.5)}, 0.2, 0.75, true}, {[]Trial{trial(0.2, 0), trial(0.2, 0.5)}, 0.2, 1, false},
		{[]Trial{trial(0.2, 0), trial(0.2, 0.75)}, 0.2, 1, true}, {[]Trial{trial(0.2, 0.75)}, 0.3, 1, true},
		{[]Trial{{At: []float64{0.2, 0.75}, State: Crashed}}, 0.2, 1, false},
	} {
		steps := stepsOf(s, c.trials)
		if got := steps.allows([]float64{c.x, c.part}); got != c.want {
			t.Errorf("after %v, %g in the context %g is allowed: %t", c.trials, c.x, c.part, got)
		}
	}
}

// TestPosteriorIsItsFormula compares the posterior with the marginal likelihood of a normal vector times log-normal
// priors, computed with a plain inverse.
func TestPosteriorIsItsFormula(t *testing.T) {
	x, y := wave(9, 5)
	for _, kernel := range []Kernel{Matern52, Exponential} {
		p, err := prepare(x, y, Options{Kernel: kernel, Additive: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		h := Hyper{Length: []float64{0.4, 0.7}, Signal: 1.2, Noise: 0.03}
		if kernel == Exponential {
			h.Length[1] = 0.4
		}
		k := mat.NewSymDense(len(x), nil)
		p.covariances(&h, k)
		var inverse mat.Dense
		if err := inverse.Inverse(k); err != nil {
			t.Fatal(err)
		}
		v := mat.NewVecDense(len(p.y), p.y)
		want := -0.5*mat.Inner(v, &inverse, v) - 0.5*math.Log(mat.Det(k)) - 9*math.Log(2*math.Pi)/2
		lengths := h.Length
		if kernel == Exponential {
			lengths = lengths[:1]
		}
		for _, l := range lengths {
			want -= math.Pow(math.Log(l/0.5), 2) / 2
		}
		want -= math.Pow(math.Log(1.2/1.5), 2)/2 + math.Pow(math.Log(0.03/0.05), 2)/2
		if got := p.posterior(p.parameters(h), nil, &workspace{}); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %g, want %g", kernel, got, want)
		}
		for name, bad := range map[string]Hyper{
			"length": {[]float64{0.009, 0.009}, 1, 0.1}, "lengths": {[]float64{101, 101}, 1, 0.1}, "signal": {[]float64{1, 1}, 0.04, 0.1},
			"signals": {[]float64{1, 1}, 21, 0.1}, "noise": {[]float64{1, 1}, 1, 0.9e-4}, "noises": {[]float64{1, 1}, 1, 2.1},
		} {
			if got := p.posterior(p.parameters(bad), nil, &workspace{}); !math.IsInf(got, -1) {
				t.Errorf("%s: beyond the bound of %s it is %g", kernel, name, got)
			}
		}
		p.fit() // and no neighbor of the fit is better
		best := p.parameters(p.hyper)
		top := p.posterior(best, nil, &workspace{})
		for i := range best {
			for _, by := range []float64{-0.1, 0.1} {
				moved := slices.Clone(best)
				if moved[i] += by; p.posterior(moved, nil, &workspace{}) > top+1e-2 {
					t.Errorf("%s: parameter %d moved by %g is better by %g", kernel, i, by, p.posterior(moved, nil, &workspace{})-top)
				}
			}
		}
	}
}

// TestExplainedIsWhatAnObservationTells compares Explained with the decrease of the variance after the point is
// observed.
func TestExplainedIsWhatAnObservationTells(t *testing.T) {
	x, y := wave(6, 7)
	p, err := New(x, y, Options{Fixed: &Hyper{Length: []float64{0.5, 0.9}, Signal: 1.3, Noise: 0.2}})
	if err != nil {
		t.Fatal(err)
	}
	points := [][]float64{{0.1, 0.9}, {0.5, 0.5}, {0.95, 0.1}, {0.3, 0.3}}
	goals := [][]float64{{0.2, 0.9}, {0.5, 0.5}, {0.1, 0.9}, {0.9, 0.9}}
	for i, part := range p.Explained(points, goals) {
		q, err := p.With(points[i], 1)
		if err != nil {
			t.Fatal(err)
		}
		_, before := p.Predict(goals[i : i+1])
		_, after := q.Predict(goals[i : i+1])
		if want := 1 - after[0]*after[0]/(before[0]*before[0]); math.Abs(part-want) > 1e-6 || part < 0 || part > 1 {
			t.Errorf("%v tells %g of %v, want %g", points[i], part, goals[i], want)
		}
	}
}

// TestProbabilityBelow compares with the normal distribution. Far away the formula is another one; there must be no
// jump.
func TestProbabilityBelow(t *testing.T) {
	for _, z := range []float64{-8, -6, -5.01, -4.99, -1, 0, 2} {
		want := math.Log(math.Erfc(-z/math.Sqrt2) / 2)
		if got := LogProbabilityBelow(3+2*z, 3, 2); math.Abs(got-want) > 1e-9*math.Abs(want)+1e-12 {
			t.Errorf("%g deviations below: %g, want %g", z, got, want)
		}
	}
	if LogProbabilityBelow(1, 1, 0) != 0 || !math.IsInf(LogProbabilityBelow(0.9, 1, 0), -1) {
		t.Error("without a deviation the mean decides")
	}
}

// TestSingularMatricesGetJitter: two equal observations without noise do not make the computation fail.
func TestSingularMatricesGetJitter(t *testing.T) {
	fixed := &Hyper{Length: []float64{0.5}, Signal: 1, Noise: 0}
	p, err := New([][]float64{{0.2}, {0.2}, {0.8}}, []float64{1, 1, 3}, Options{Fixed: fixed})
	if err != nil {
		t.Fatal(err)
	}
	if mean, _ := p.Predict([][]float64{{0.2}, {0.8}}); math.Abs(mean[0]-1) > 1e-3 || math.Abs(mean[1]-3) > 1e-3 {
		t.Errorf("it predicts %v", mean)
	}
	if q, err := p.With([]float64{0.8}, 3); err != nil {
		t.Error(err)
	} else if mean, _ := q.Predict([][]float64{{0.8}}); math.Abs(mean[0]-3) > 1e-3 {
		t.Errorf("it predicts %v", mean)
	}
}

// TestSuggestionsAreTheGreatest: in a finite space, the suggestion has the greatest acquisition value of all untried
// points. This value is the expected improvement times the probability of feasibility, relative to the cost.
func TestSuggestionsAreTheGreatest(t *testing.T) {
	space := Space{{Name: "a", Min: 0, Max: 8, Integer: true}, {Name: "b", Categories: 2}}
	random := rand.New(rand.NewPCG(5, 6))
	for _, perCost := range []bool{false, true} {
		s := &Search{Space: space, Seed: 3, Limits: []Limit{{Bound: 0.6, AtLeast: true}}, PerCost: perCost, Start: 2}
		var trials []Trial
		for len(trials) < 9 {
			at := space.Draw(random)
			state := Done
			if len(trials) == 4 {
				state = Crashed
			}
			trials = append(trials, Trial{At: at, State: state, Objective: math.Pow(at[0]-0.3, 2) + at[1], Limited: []float64{at[0]},
				Cost: 1 + at[0]})
		}
		got, err := s.Suggest(trials)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.model(trials)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for _, tr := range trials {
			if tr.State == Done && tr.Limited[0] >= 0.6 {
				best = min(best, tr.Objective)
			}
		}
		top, want := math.Inf(-1), []float64(nil)
		for _, p := range space.Grid() {
			if slices.ContainsFunc(trials, func(tr Trial) bool { return near(tr.At, p) }) {
				continue
			}
			one := [][]float64{p}
			mean, sd := m.objective.Expect(one)
			limit, limitSD := m.limits[0].Expect(one)
			ends, endsSD := m.finishes.Predict(one)
			score := LogExpectedImprovement(best, mean[0], sd[0]) + LogProbabilityBelow(-0.6, limit[0], limitSD[0]) +
				LogProbabilityBelow(-0.5, -ends[0], endsSD[0])
			if perCost {
				cost, _ := m.cost.Predict(one)
				score -= cost[0]
			}
			if score > top+1e-9 {
				top, want = score, p
			}
		}
		if !near(got.At, want) {
			t.Errorf("by cost %t: %v is suggested, want %v", perCost, got.At, want)
		}
		if b := s.best(trials); len(b) > 3 || len(b) == 0 {
			t.Errorf("the best are %v", b)
		}
	}
}

// TestStartsNearCandidates: if only some points are allowed, the start uses the points nearest to the hypercube, each
// once. The distance of the context counts before the distances of settings.
func TestStartsNearCandidates(t *testing.T) {
	s := &Search{Space: Space{{Max: 1}, {Categories: 2}, {Max: 1, Context: true, Goal: 1}}, Candidates: [][]float64{
		{0.1, 0, 0}, {0.2, 1, 0}, {0.5, 0, 1}, {0.9, 1, 0}}}
	for _, c := range []struct {
		p     []float64
		taken []int
		want  int
	}{
		{[]float64{0.12, 0, 0}, nil, 0}, {[]float64{0.12, 0, 0}, []int{0}, 1}, {[]float64{0.5, 0, 0}, []int{0}, 1}, {[]float64{0.5, 1, 1}, nil, 2},
		{[]float64{0.85, 1, 0}, nil, 3},
	} {
		taken := map[string]bool{}
		for _, k := range c.taken {
			taken[Key(s.Candidates[k])] = true
		}
		if got := s.nearest(c.p, taken); !near(got, s.Candidates[c.want]) {
			t.Errorf("nearest to %v beside %v is %v", c.p, c.taken, got)
		}
	}
	var trials []Trial
	for range s.Candidates {
		got, err := s.Suggest(trials)
		if err != nil {
			break
		}
		if slices.ContainsFunc(trials, func(tr Trial) bool { return near(tr.At, got.At) }) {
			t.Errorf("%v is suggested twice", got.At)
		}
		trials = append(trials, Trial{At: got.At, State: Done, Objective: got.At[0], Cost: 1})
	}
	for _, n := range []struct{ settings, start int }{{1, 3}, {6, 3}, {7, 4}, {8, 4}, {10, 5}} {
		if got := (&Search{Space: make(Space, n.settings)}).defaultStart(); got != n.start {
			t.Errorf("a search of %d settings starts with %d trials", n.settings, got)
		}
	}
}

// TestScalesOfOutcomes checks that the transformations of outcomes can be inverted, and which values each scale
// accepts.
func TestScalesOfOutcomes(t *testing.T) {
	for _, s := range []Scale{Linear, Log, LogGap} {
		for _, v := range []float64{0.1, 0.5, 0.999} {
			if got := s.Natural(s.Modelled(v)); math.Abs(got-v) > 1e-9 {
				t.Errorf("%s: %g comes back as %g", s, v, got)
			}
		}
	}
	for _, c := range []struct {
		s    Scale
		v    float64
		want Scale
	}{{Log, 1, Log}, {Log, 0, Linear}, {LogGap, 1, LogGap}, {LogGap, 1.1, Linear}, {Linear, -3, Linear}} {
		if got := c.s.Fits(0.5, c.v); got != c.want {
			t.Errorf("%s of %g is %s", c.s, c.v, got)
		}
	}
	for _, c := range []struct {
		l    Limit
		v    float64
		want bool
	}{{Limit{Bound: 2}, 2, true}, {Limit{Bound: 2}, 2.1, false}, {Limit{Bound: 2, AtLeast: true}, 2, true}, {Limit{Bound: 2, AtLeast: true}, 1.9, false}} {
		if c.l.Holds(c.v) != c.want {
			t.Errorf("%+v holds of %g: %t", c.l, c.v, !c.want)
		}
		for _, s := range []Scale{Linear, Log} {
			c.l.Scale = s
			if got := c.l.modelled(c.v) <= c.l.modelled(c.l.Bound); got != c.want {
				t.Errorf("%+v as it is modelled holds of %g: %t", c.l, c.v, got)
			}
		}
	}
	gap := Limit{Bound: 0.9, AtLeast: true, Scale: LogGap}
	if gap.modelled(0.95) >= gap.modelled(0.9) {
		t.Error("a greater accuracy is worse")
	}
}

// TestWhatATrialTells: the information of a trial is the mean over the objective and the limits, relative to the
// expected cost.
func TestWhatATrialTells(t *testing.T) {
	x, y := wave(7, 11)
	s := &Search{Space: Space{{Max: 1}, {Max: 1, Context: true, Goal: 1}}, Limits: []Limit{{Bound: 5}}, Start: 2}
	var trials []Trial
	for i := range x {
		trials = append(trials, Trial{At: x[i], State: Done, Objective: y[i], Limited: []float64{3 * x[i][0]}, Cost: 1 + x[i][1]})
	}
	m, err := s.model(trials)
	if err != nil {
		t.Fatal(err)
	}
	points, goals := [][]float64{{0.3, 0.2}, {0.6, 0.9}}, [][]float64{{0.3, 1}, {0.6, 1}}
	a, b := m.objective.Explained(points, goals), m.limits[0].Explained(points, goals)
	for k, got := range m.removed(points, goals) {
		if want := (a[k] + b[k]) / 2; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v tells %g, want %g", points[k], got, want)
		}
	}
	if got := LogExpectedImprovement(3, 1, 0); math.Abs(got-math.Ln2) > 1e-12 || !math.IsInf(LogExpectedImprovement(1, 3, 0), -1) {
		t.Errorf("what is surely 2 better is worth %g", got)
	}
	if p, err := prepare([][]float64{{0}, {1}}, []float64{1e6, 1e6 + 1e-7}, Options{}); err != nil || p.scale != 1 {
		t.Errorf("outputs that are alike up to rounding have the scale %v, %v", p.scale, err)
	}
	p, err := New(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := Hyper{Length: []float64{0.31, 0.77}, Signal: 1.1, Noise: 0.02}
	if got, least := p.posterior(p.parameters(p.hyper), nil, &workspace{}), p.posterior(p.parameters(start), nil, &workspace{}); got < least {
		t.Errorf("the fit comes to %g, less than at %+v: %g", got, start, least)
	}
}
