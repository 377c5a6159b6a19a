package marks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// atMarks returns when a run had done as much work as another run at each of its marks. A mark of the run within a
// hundredth of the work counts; otherwise the time is interpolated between two marks.
func TestAtMarks(t *testing.T) {
	marks := []Mark{{0, 1}, {100, 11}, {200, 31}, {300, 41}}
	for _, c := range []struct {
		name string
		own  []int
		want []float64
	}{
		{"the same", []int{0, 100, 200, 300}, []float64{11, 31, 41}},
		{"some", []int{0, 200}, []float64{31}},
		{"nearly", []int{0, 101, 199, 300}, []float64{11, 31, 41}},
		{"between", []int{0, 50, 150, 250}, []float64{6, 21, 36}},
		{"a little more than a hundredth before", []int{0, 198}, []float64{30.6}},
		{"beyond", []int{0, 100, 400}, nil},
		{"just beyond", []int{0, 303}, []float64{41}},
		{"too far beyond", []int{0, 304}, nil},
	} {
		var own []Mark
		for _, done := range c.own {
			own = append(own, Mark{Done: done})
		}
		got := atMarks(marks, own)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// paceOf returns the weighted median of the paces of runs with a similar beginning. Each pace is adjusted by how the
// beginning of its run differs.
func TestPaceOf(t *testing.T) {
	runs := []begin{{1, []float64{10, 20}}, {3, []float64{10, 21}}, {2, []float64{40, 80}}}
	for _, c := range []struct{ h, adjust, want float64 }{
		{math.Inf(1), 0, 2}, // all runs have equal weight
		{0.05, 0, 1},        // only the first run has weight
		{0.05, 1, 1},
		{math.Inf(1), 1, 1}, // the adjusted paces are 1, 2.95 and 0.61
	} {
		if got := paceOf([]float64{10, 20}, runs, c.h, c.adjust); got != c.want {
			t.Errorf("nearness %g, adjusted by %g: %g, want %g", c.h, c.adjust, got, c.want)
		}
	}
	if got, want := paceOf([]float64{20, 40}, runs[2:], 1, 0.5), 2+math.Log(0.5)/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("one run, half adjusted: %g, want %g", got, want)
	}
	// A run at the relative distance h has a quarter of the full weight. So three such runs weigh less than one equal
	// run, and five weigh more.
	far := begin{5, []float64{20, 22}}
	for n, want := range map[int]float64{3: 1, 5: 5} {
		got := paceOf([]float64{20, 20}, append(slices.Repeat([]begin{far}, n), begin{1, []float64{20, 20}}), 0.1, 0)
		if got != want {
			t.Errorf("%d runs at the distance 0.1: %g, want %g", n, got, want)
		}
	}
}

// plainAlike computes the mean over all settings directly, as the documentation of alike describes it.
func plainAlike(own []float64, past []begin) (pace float64, residuals []float64) {
	type one struct {
		log    float64
		errors []float64
		sum    float64
	}
	var all []one
	least := math.Inf(1)
	for _, near := range []float64{0.01, 0.02, 0.04, 0.08, math.Inf(1)} {
		for _, adjust := range []float64{0, 0.25, 0.5, 1} {
			s := one{log: paceOf(own, past, near, adjust)}
			for i, b := range past {
				var others []begin
				others = append(others, past[:i]...)
				others = append(others, past[i+1:]...)
				e := b.pace - paceOf(b.at, others, near, adjust)
				s.errors, s.sum = append(s.errors, e), s.sum+math.Abs(e)
			}
			all, least = append(all, s), min(least, s.sum)
		}
	}
	residuals = make([]float64, len(past))
	weights := 0.0
	for _, s := range all {
		w := math.Pow(least/s.sum, 2)
		weights += w
		pace += w * s.log
		for i, e := range s.errors {
			residuals[i] += w * e
		}
	}
	for i := range residuals {
		residuals[i] /= weights
	}
	slices.Sort(residuals)
	return math.Exp(pace / weights), residuals
}

// The prediction uses all settings, weighted by how well each predicts past runs from the other past runs.
func TestAlikeWeighsItsSettings(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	own := []Mark{{0, 0}, {10, 9}, {20, 19}}
	var past []Run
	var begins []begin
	for i := range 12 {
		pace := math.Exp(0.3 * random.NormFloat64())
		r := Run{Length: 50, Seconds: 50 * pace * math.Exp(0.02*random.NormFloat64()),
			Marks: []Mark{{0, 0}, {10, 10 * pace}, {20, 20 * pace * math.Exp(0.03*random.NormFloat64())}}}
		if i == 0 {
			r.Marks = r.Marks[:2] // the run ended before this mark
		} else {
			begins = append(begins, begin{math.Log(r.Seconds / 50), []float64{r.Marks[1].At, r.Marks[2].At}})
		}
		past = append(past, r)
	}
	for _, n := range []int{len(past), leastAlike + 1} {
		e, ok := alike(own, past[:n])
		slope, residuals := plainAlike([]float64{9, 19}, begins[:n-1])
		if !ok || math.Abs(e.Slope/slope-1) > 1e-9 || !slices.EqualFunc(e.Residuals, residuals,
			func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%d runs: %v %+v, want %g %v", n, ok, e, slope, residuals)
		}
	}
	if _, ok := alike(own, past[:leastAlike]); ok {
		t.Error("four runs that came as far are enough")
	}
	same := slices.Repeat(past[1:2], leastAlike)
	if e, ok := alike(own, same); !ok || slices.ContainsFunc(e.Residuals, func(x float64) bool { return x != 0 }) {
		t.Errorf("runs that are all alike: %v %+v", ok, e)
	}
}
