package tuner

import (
	"math"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/estimator/surrogate"
)

func close(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

// TestRungs computes the rungs of contexts by hand. The goal may be at either end of the values, or between.
func TestRungs(t *testing.T) {
	list := func(goal float64, values ...float64) surrogate.Dimension {
		return surrogate.Dimension{Numbers: values, Context: true, Goal: goal}
	}
	for name, c := range map[string]struct {
		dim  surrogate.Dimension
		want []float64
	}{
		"up":            {list(1, 0, 1, 2, 4), []float64{0, 0.25, 0.5, 1}},
		"down":          {list(0, 0, 1, 2, 4), []float64{1, 0.5, 0.25, 0}},
		"to the middle": {list(0.25, 0, 1, 2, 4), []float64{1, 0.5, 0.25}},
		"of eight":      {list(1, 0, 1, 2, 3, 4, 5, 6, 7), []float64{0, 1. / 7, 2. / 7, 3. / 7, 4. / 7, 5. / 7, 6. / 7, 1}},
		"of nine":       {list(1, 1, 2, 3, 4, 5, 6, 7, 8, 9), []float64{0, 0.25, 1}}, // 9, 3, and the least
		"a range":       {surrogate.Dimension{Min: 1, Max: 81, Context: true, Goal: 1}, []float64{0, 0.025, 0.1, 26. / 80, 1}},
		"a range down":  {surrogate.Dimension{Min: 1, Max: 81, Context: true}, []float64{1, 0}},
		"one rung":      {surrogate.Dimension{Min: 10, Max: 20, Context: true, Goal: 1}, []float64{0, 1}},
	} {
		p := &Problem{Space: surrogate.Space{{Max: 1}, c.dim}}
		if got := p.rungs(1); !close(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestHalvingPromotes: the best third of a rung is promoted, from the highest rung on. Otherwise settings are drawn
// that were tried in no context.
func TestHalvingPromotes(t *testing.T) {
	p := &Problem{Space: surrogate.Space{
		{Name: "x", Min: 0, Max: 9, Integer: true}, {Name: "part", Numbers: []float64{1, 3, 9}, Context: true, Goal: 1},
	}}
	at := func(x, rung float64) []float64 { return []float64{x / 9, rung} }
	trial := func(x, rung, objective float64) surrogate.Trial {
		return surrogate.Trial{At: at(x, rung), State: surrogate.Done, Objective: objective}
	}
	low := []surrogate.Trial{trial(4, 0, 3), trial(5, 0, 1), trial(6, 0, 2)}
	suggests := func(trials []surrogate.Trial) []float64 {
		s, err := halving(p, trials)
		if err != nil {
			t.Fatal(err)
		}
		return s.At
	}
	if got := suggests(low); !close(got, at(5, 0.25)) {
		t.Errorf("of three %v goes on", got)
	}
	for _, more := range [][]surrogate.Trial{low[:2], append(slices.Clone(low), trial(5, 0.25, 1)),
		append(slices.Clone(low[:2]), surrogate.Trial{At: at(6, 0), State: surrogate.Crashed})} {
		if got := suggests(more); got[1] != 0 || slices.ContainsFunc(more, func(tr surrogate.Trial) bool { return tr.At[0] == got[0] }) {
			t.Errorf("after %v %v comes next, want new settings at the lowest rung", more, got)
		}
	}
	high := append(slices.Clone(low), trial(1, 0.25, 5), trial(2, 0.25, 6), trial(3, 0.25, 4))
	if got := suggests(high); !close(got, at(3, 1)) {
		t.Errorf("the highest rung comes first: %v", got)
	}
	all := p.Space.Grid()
	var everything []surrogate.Trial
	for _, point := range all {
		everything = append(everything, surrogate.Trial{At: point, State: surrogate.Done})
	}
	if s, err := halving(p, everything); err != ErrDone {
		t.Errorf("after everything: %v, %v", s, err)
	}
	p.Candidates = [][]float64{at(4, 0), at(5, 0), at(6, 0), at(5, 1)} // the rung between is not allowed
	if s, err := halving(p, low); err != ErrDone {
		t.Errorf("what may not be tried: %v, %v", s, err)
	}
}

// TestNeighbours: neighbors differ in one setting by one step, and all steps lead to neighbors.
func TestNeighbours(t *testing.T) {
	finite := &Problem{Space: surrogate.Space{{Min: 0, Max: 4, Integer: true}, {Categories: 3}}}
	for _, c := range []struct {
		a, b []float64
		want bool
	}{
		{[]float64{0.5, 1}, []float64{0.75, 1}, true}, {[]float64{0.5, 1}, []float64{0.25, 1}, true}, {[]float64{0.5, 1}, []float64{1, 1}, false},
		{[]float64{0.5, 1}, []float64{0.5, 0}, true}, {[]float64{0.5, 0}, []float64{0.5, 2}, true}, {[]float64{0.5, 1}, []float64{0.75, 0}, false},
		{[]float64{0.5, 1}, []float64{0.5, 1}, false}, {[]float64{0, 0}, []float64{0.25, 0}, true}, {[]float64{0, 0}, []float64{0, 1}, true},
	} {
		if got := finite.neighbors(c.a, c.b); got != c.want {
			t.Errorf("%v and %v are neighbors: %t", c.a, c.b, got)
		}
	}
	for _, place := range [][]float64{{0.5, 1}, {0, 0}, {1, 2}} {
		steps := finite.steps(place)
		for _, at := range finite.Space.Grid() {
			listed := slices.ContainsFunc(steps, func(s []float64) bool { return close(s, at) })
			if listed != finite.neighbors(place, at) {
				t.Errorf("a step from %v to %v: %t", place, at, listed)
			}
		}
	}
	open := &Problem{Space: surrogate.Space{{Max: 1}, {Max: 2}}}
	if got := open.steps([]float64{0.5, 0}); len(got) != 3 || !close(got[0], []float64{0.4, 0}) || !close(got[1], []float64{0.6, 0}) ||
		!close(got[2], []float64{0.5, 0.1}) {
		t.Errorf("steps on ranges: %v", got)
	}
	if !open.neighbors([]float64{0.5, 0}, []float64{0.6, 0}) || open.neighbors([]float64{0.5, 0}, []float64{0.65, 0}) {
		t.Error("a step on a range is a tenth of it")
	}
}

// TestHillClimbGoesOnFromTheBest: the climb continues with a step from the best place, and starts again if no step is
// left.
func TestHillClimbGoesOnFromTheBest(t *testing.T) {
	p := &Problem{Space: surrogate.Space{{Min: 0, Max: 4, Integer: true}}, Initial: []float64{0.3}}
	trial := func(x, objective float64) surrogate.Trial {
		return surrogate.Trial{At: []float64{x}, State: surrogate.Done, Objective: objective}
	}
	for _, c := range []struct {
		trials []surrogate.Trial
		among  []float64
	}{
		{nil, []float64{0.25}}, // nearest to the initial one
		{[]surrogate.Trial{trial(0.25, 5)}, []float64{0, 0.5}},
		{[]surrogate.Trial{trial(0.25, 5), trial(0.5, 4)}, []float64{0.75}},
		{[]surrogate.Trial{trial(0.25, 5), trial(0.5, 6)}, []float64{0}},
		{[]surrogate.Trial{trial(0.25, 5), trial(0.5, 6), trial(0, 6)}, []float64{0.75, 1}}, // restart
		// steps from the new start
		{[]surrogate.Trial{trial(0.25, 5), trial(0.5, 6), trial(0, 6), trial(1, 9)}, []float64{0.75}},
		{[]surrogate.Trial{trial(0, 5), trial(0.25, 6), trial(0.75, 7)}, []float64{0.5, 1}},               // 0.75 restarted
		{[]surrogate.Trial{trial(0, 1), trial(0.25, 2), trial(0.5, 3), trial(0.75, 4), trial(1, 5)}, nil}, // all were tried
	} {
		s, err := hillClimb(p, c.trials)
		if (err == ErrDone) != (c.among == nil) || err == nil && !slices.ContainsFunc(c.among, func(x float64) bool { return math.Abs(x-s.At[0]) < 1e-9 }) {
			t.Errorf("after %v: %v, %v; want one of %v", c.trials, s.At, err, c.among)
		}
	}
}

// TestDistances: two categories have the distance 1, numbers their difference. The nearest point is one that was not
// tried.
func TestDistances(t *testing.T) {
	p := &Problem{Space: surrogate.Space{{Min: 0, Max: 4, Integer: true}, {Categories: 3}}}
	for _, c := range []struct {
		a, b []float64
		want float64
	}{{[]float64{0.5, 0}, []float64{0.5, 0}, 0}, {[]float64{0.5, 0}, []float64{0.5, 2}, 1}, {[]float64{0.5, 0}, []float64{0, 2}, 1.25}, {[]float64{0, 1}, []float64{1, 1}, 1}} {
		if got := p.distance(c.a, c.b); got != c.want {
			t.Errorf("from %v to %v: %g, want %g", c.a, c.b, got, c.want)
		}
	}
	if got, ok := p.nearest([]float64{0.3, 1}, map[string]bool{surrogate.Key([]float64{0.25, 1}): true}); !ok || !close(got, []float64{0.5, 1}) {
		t.Errorf("nearest: %v, %v", got, ok)
	}
	if got := p.Points(15); len(got) != 15 || p.Points(14) != nil {
		t.Errorf("%d points of at most 15", len(got))
	}
	few := &Problem{Space: p.Space, Candidates: [][]float64{{0, 0}, {1, 1}}}
	if len(few.Points(2)) != 2 || few.Points(1) != nil || !few.Finite() || (&Problem{Space: surrogate.Space{{Max: 1}}}).Finite() {
		t.Error("points of candidates")
	}
}
