package surrogate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plane is a space of two settings without a grid.
func plane() Space { return Space{{Name: "a", Min: 0, Max: 1}, {Name: "b", Min: 0, Max: 1}} }

// The search first suggests the points of the start, in their order, without points that were tried; then a model
// decides. If only some candidates are allowed, each start point is replaced by a candidate.
func TestStart(t *testing.T) {
	s := Search{Space: plane(), Start: 4, Seed: 7, Fixed: &Hyper{Length: []float64{1, 1}, Signal: 1, Noise: 0.1}}
	want := s.Space.LatinHypercube(4, rand.New(rand.NewPCG(7, 0)))
	suggest := func(trials []Trial) Suggestion {
		t.Helper()
		got, err := s.Suggest(trials)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var trials []Trial
	add := func(at []float64) {
		trials = append(trials, Trial{At: at, State: Done, Objective: float64(len(trials)), Cost: 1})
	}
	for i, p := range want {
		got := suggest(trials)
		if !slices.Equal(got.At, p) || got.SD != 0 || got.Feasible != 1 {
			t.Errorf("suggestion %d is %+v, want %v", i, got, p)
		}
		add(got.At)
	}
	if got := suggest(trials); got.SD == 0 {
		t.Errorf("after the start there is no model: %+v", got)
	}
	trials = nil
	add(want[1]) // this trial replaces the first point
	if got := suggest(trials).At; !slices.Equal(got, want[2]) {
		t.Errorf("after the second point it goes on with %v, want %v", got, want[2])
	}
	trials = nil
	add(want[3])
	add([]float64{0.25, 0.75})
	if got := suggest(trials).At; !slices.Equal(got, want[2]) {
		t.Errorf("after two others it goes on with %v, want %v", got, want[2])
	}
	s.Candidates = [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	trials = nil
	for range 4 {
		add(suggest(trials).At)
	}
	for _, c := range s.Candidates {
		if !slices.ContainsFunc(trials, func(t Trial) bool { return slices.Equal(t.At, c) }) {
			t.Errorf("of the candidates %v is not tried: %+v", c, trials)
		}
	}
	if got, err := s.Suggest(trials); !errors.Is(err, ErrExhausted) {
		t.Errorf("a fifth one: %+v, %v", got, err)
	}
	s.Start, trials = 9, nil
	for range 4 {
		add(suggest(trials).At)
	}
	if got, err := s.Suggest(trials); !errors.Is(err, ErrExhausted) {
		t.Errorf("of a start of nine points there is a fifth of four: %+v, %v", got, err)
	}
}

// Some points are drawn from the whole space. If feasible trials are done, others are drawn near the three best of
// them.
func TestDrawnPoints(t *testing.T) {
	s := Search{Space: append(plane(), Dimension{Name: "c", Categories: 3}), Limits: []Limit{{Bound: 5}}}
	trial := func(state State, objective, limited float64) Trial {
		at := []float64{objective / 10, objective / 10, 1}
		return Trial{At: at, State: state, Objective: objective, Limited: []float64{limited}}
	}
	for _, c := range []struct {
		name   string
		trials []Trial
		near   []float64
	}{
		{"none", nil, nil},
		{"one that crashed", []Trial{{At: []float64{0, 0, 0}, State: Crashed}}, nil},
		{"one that is not feasible", []Trial{trial(Done, 1, 6)}, nil},
		{"one that runs", []Trial{trial(Running, 1, 1)}, nil},
		{"one", []Trial{trial(Done, 3, 5)}, []float64{0.3}},
		{"the three best", []Trial{trial(Done, 9, 1), trial(Done, 5, 1), trial(Done, 1, 9), trial(Done, 2, 1), trial(Done, 7, 1)},
			[]float64{0.2, 0.5, 0.7}},
	} {
		var best []float64
		for _, p := range s.best(c.trials) {
			best = append(best, p[0])
		}
		if !slices.Equal(best, c.near) {
			t.Errorf("%s: the best are %g, want %g", c.name, best, c.near)
		}
		points := s.drawn(c.trials)
		want := filling
		if len(c.near) > 0 {
			want += nearby
		}
		if len(points) != want {
			t.Errorf("%s: %d points, want %d", c.name, len(points), want)
			continue
		}
		quarters, others, far := [4]int{}, 0, 0
		for i, p := range points {
			if min(p[0], p[1]) < 0 || max(p[0], p[1]) > 1 || p[2] != 0 && p[2] != 1 && p[2] != 2 {
				t.Fatalf("%s: point %d is %g", c.name, i, p)
			}
			if i < filling {
				quarters[int(min(p[0]*2, 1))*2+int(min(p[1]*2, 1))]++
				continue
			}
			from := c.near[(i-filling)%len(c.near)]
			if max(math.Abs(p[0]-from), math.Abs(p[1]-from)) > 0.45 { // the longest steps are 0.32, the median step is 0.03
				far++
			}
			if p[2] != 1 {
				others++
			}
		}
		if slices.Min(quarters[:]) < filling/4-15 {
			t.Errorf("%s: the quarters of the space have %v points", c.name, quarters)
		}
		if far > nearby/20 {
			t.Errorf("%s: %d of %d are far from the best", c.name, far, nearby)
		}
		if len(c.near) > 0 && (others < nearby/20 || others > nearby/4) {
			t.Errorf("%s: %d of %d have another category, want about two thirds of a fifth", c.name, others, nearby)
		}
	}
	if again := s.drawn(nil); !slices.Equal(again[5], s.drawn(nil)[5]) || slices.Equal(again[5], s.drawn([]Trial{trial(Running, 1, 1)})[5]) {
		t.Error("points are to be drawn alike for the same trials, and otherwise for more")
	}
}

// The prior expectation of a point is added to the model's prediction of the difference, on the scale of the search.
func TestExpectations(t *testing.T) {
	prior := func(at []float64) float64 { return 5 * at[0] }
	s := Search{Space: plane(), Scale: Log, Prior: prior, Spread: 0.1, Fixed: &Hyper{Length: []float64{0.3, 0.3}, Signal: 1, Noise: 1e-4}}
	var trials []Trial
	points := [][]float64{{0, 0}, {0.5, 0.2}, {1, 0.9}}
	for i, at := range points {
		trials = append(trials, Trial{At: at, State: Done, Objective: math.Exp(5*at[0] + 0.1*float64(i)), Cost: 1})
	}
	m, err := s.model(trials)
	if err != nil {
		t.Fatal(err)
	}
	v := m.view(points, m.best)
	for i, at := range points {
		if want := 5*at[0] + 0.1*float64(i); math.Abs(v.mean[i]-want) > 1e-3 {
			t.Errorf("at %v it expects %g, want %g", at, v.mean[i], want)
		}
	}
	far := [][]float64{{0.25, 0.6}}
	if got := m.view(far, m.best).mean[0]; math.Abs(got-1.25-0.1) > 0.15 {
		t.Errorf("between them it expects %g, want about 1.35", got)
	}
	if s.expected(Linear, points[1]) != 0 || s.expected(Log, points[1]) != 2.5 {
		t.Error("something is expected on another scale")
	}
	if k, err := s.Best(trials, points); err != nil || k != 0 {
		t.Errorf("the best is point %d, %v", k, err)
	}
	if _, err := s.Best(trials, nil); !errors.Is(err, ErrExhausted) {
		t.Errorf("of no points the best is one: %v", err)
	}
}

func TestGreatestIsTheFirst(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		score []float64
		want  int
	}{{[]float64{1}, 0}, {[]float64{1, 3, 3, 2}, 1}, {[]float64{nan, 1, 2}, 2}, {[]float64{nan, nan}, 1}, {[]float64{2, nan, 2}, 0}} {
		if got := greatest(c.score); got != c.want && !math.IsNaN(c.score[got]) {
			t.Errorf("of %g the greatest is %d, want %d", c.score, got, c.want)
		}
	}
}

// With many observations, hyper-parameters are fitted to a part of them. They stay within their bounds.
func TestFitsAreBounded(t *testing.T) {
	x, y := wave(3*fitPoints, 2)
	p, err := prepare(x, y, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if q := p.part(); len(q.x) != fitPoints || len(q.y) != fitPoints || !near(q.x[fitPoints-1], x[len(x)-1]) {
		t.Fatalf("it is fitted to %d of %d", len(q.x), len(x))
	}
	small, err := prepare(x[:5], y[:5], Options{})
	if err != nil {
		t.Fatal(err)
	}
	middle := func() Hyper { return Hyper{Length: []float64{1}, Signal: 1, Noise: 0.1} }
	for name, bound := range map[string]struct {
		set  func(*Hyper, float64)
		low  float64
		high float64
	}{
		"length": {func(h *Hyper, v float64) { h.Length[0] = v }, leastLength, mostLength},
		"signal": {func(h *Hyper, v float64) { h.Signal = v }, leastSignal, mostSignal},
		"noise":  {func(h *Hyper, v float64) { h.Noise = v }, leastNoise, mostNoise},
	} {
		for v, within := range map[float64]bool{bound.low * 1.01: true, bound.low * 0.99: false, bound.high * 0.99: true, bound.high * 1.01: false} {
			h := middle()
			bound.set(&h, v)
			if got := !math.IsInf(small.posterior(small.parameters(h), nil, &workspace{}), -1); got != within {
				t.Errorf("a %s of %g is within its bounds: %t", name, v, got)
			}
		}
	}
}

// The same point can be observed twice without noise, because jitter is added.
func TestTheSamePointAgain(t *testing.T) {
	p, err := New([][]float64{{0.2}, {0.8}}, []float64{1, 2}, Options{Fixed: &Hyper{Length: []float64{0.5}, Signal: 1}})
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.With([]float64{0.2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if mean, _ := q.Predict([][]float64{{0.2}, {0.8}}); math.Abs(mean[0]-1) > 1e-3 || math.Abs(mean[1]-2) > 1e-3 {
		t.Errorf("it predicts %g", mean)
	}
}

// The cheapest context is the farthest context from the goal.
func TestCheapest(t *testing.T) {
	for _, c := range []struct {
		d    Dimension
		want float64
	}{{Dimension{Min: 0, Max: 1, Goal: 1}, 0}, {Dimension{Min: 0, Max: 1, Goal: 0}, 1}, {Dimension{Min: 0, Max: 1, Goal: 0.5}, 0},
		{Dimension{Min: 0, Max: 1, Goal: 0.4}, 1}} {
		c.d.Context = true
		if got := c.d.Cheapest(); got != c.want {
			t.Errorf("for the goal %g it is %g", c.d.Goal, got)
		}
	}
}

// Far from the best value, the expected improvement falls as φ(u)/u²·(1 − 3/u² + 15/u⁴ − …).
func TestTailOfTheImprovement(t *testing.T) {
	for _, u := range []float64{-15, -30, -100, -900, -1100, -1e4, -1e5} {
		want := -2*math.Log(-u) + math.Log1p(-3/(u*u)+15/math.Pow(u, 4)-105/math.Pow(u, 6))
		if got := logH(u) + u*u/2 + math.Log(2*math.Pi)/2; math.Abs(got-want) > 1e-4 {
			t.Errorf("u = %g: %g beside φ(u), want %g", u, got, want)
		}
	}
}

// A point that is probably feasible is better than a point that is not, whatever their expected values. Of points that
// are probably not feasible, the more probable is better.
func TestBestIsFeasible(t *testing.T) {
	s := Search{Space: plane(), Limits: []Limit{{Bound: 5}}, Fixed: &Hyper{Length: []float64{0.3, 0.3}, Signal: 1, Noise: 1e-2}}
	var trials []Trial
	points := [][]float64{{0, 1}, {0, 0}, {1, 1}}
	for i, limited := range []float64{20, 10, 0} {
		trials = append(trials, Trial{At: points[i], State: Done, Objective: float64(i), Limited: []float64{limited}, Cost: 1})
	}
	for n, want := range map[int]int{3: 2, 2: 1, 1: 0} {
		if k, err := s.Best(trials, points[:n]); k != want || err != nil {
			t.Errorf("of %d points the best is %d, %v; want %d", n, k, err, want)
		}
	}
}

// If no trial at the goal is feasible yet, the incumbent is the least expected value at the goal, over tried settings
// that are probably feasible. spentCheaply returns the cost of all trials after the last feasible trial at the goal.
func TestTrialsThatDoNotCount(t *testing.T) {
	s := Search{Space: Space{{Name: "x", Max: 1}, {Name: "part", Max: 1, Context: true, Goal: 1}}, Limits: []Limit{{Bound: 5}},
		Fixed: &Hyper{Length: []float64{0.3, 3}, Signal: 1, Noise: 1e-2}}
	trial := func(x, part, objective, limited float64) Trial {
		return Trial{At: []float64{x, part}, State: Done, Objective: objective, Limited: []float64{limited}, Cost: 10 * (x + 1)}
	}
	trials := []Trial{trial(0, 0, 1, 9), trial(0.5, 0, 3, 1), trial(1, 0, 4, 1), {At: []float64{0.2, 0}, State: Crashed, Cost: 99}}
	m, err := s.model(trials)
	if err != nil {
		t.Fatal(err)
	}
	v := m.view([][]float64{{0.5, 1}}, math.Inf(1))
	if got := m.incumbent(trials); !math.IsInf(m.best, 1) || math.Abs(got-v.mean[0]) > 1e-9 {
		t.Errorf("to be improved on is %g, want the %g that is expected of the second", got, v.mean[0])
	}
	if got := m.spentCheaply(trials); got != 10+15+20 {
		t.Errorf("trials that do not count have cost %g, want 45", got)
	}
	trials = append(trials, trial(0.5, 1, 7, 1), trial(1, 0.5, 1, 1))
	if m, err = s.model(trials); err != nil {
		t.Fatal(err)
	}
	if got := m.incumbent(trials); got != 7 || m.best != 7 {
		t.Errorf("to be improved on is %g, want 7", got)
	}
	if got := m.spentCheaply(trials); got != 20 {
		t.Errorf("since the one that counts others have cost %g, want 20", got)
	}
	if got, err := s.Suggest(trials); err != nil || len(got.At) != 2 {
		t.Errorf("it suggests %+v, %v", got, err)
	}
}

// With many observations, the process uses the least, the latest, and an even selection of the others.
func TestManyObservations(t *testing.T) {
	const n = 4000
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = []float64{float64(i) / n}, float64((i*997+500)%n)
	}
	kept, outputs := subset(x, y, mostConditioned)
	place := func(i int) int { return int(math.Round(kept[i][0] * n)) }
	least, spread, before := 0, 0, -1
	for i := range kept {
		k := place(i)
		if k <= before || y[k] != outputs[i] {
			t.Fatalf("observation %d follows %d, with %g", k, before, outputs[i])
		}
		if y[k] < 100 {
			least++
		}
		spread, before = max(spread, k-before), k
	}
	if len(kept) != mostConditioned || least < 95 || spread > 40 || place(mostConditioned*3/4) != n-mostConditioned/4 {
		t.Errorf("%d observations, %d of the least 100, gaps of up to %d", len(kept), least, spread)
	}
	if all, _ := subset(x[:mostConditioned], y[:mostConditioned], mostConditioned); len(all) != mostConditioned {
		t.Errorf("%d of few observations are left", len(all))
	}
}
