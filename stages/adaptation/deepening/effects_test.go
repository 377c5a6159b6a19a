package deepening

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The parts of a table add up to the table and are orthogonal. Together they have as many degrees of freedom as there
// are sequences, less one for the mean.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, dims := range [][2]int{{3, 4}, {1, 3}, {2, 2}, {4, 2}, {5, 3}} {
		d := newDesign(dims[0], dims[1])
		values := make([]float64, len(d.class))
		for i := range values {
			values[i] = r.Float64()
		}
		mean, split := d.split(values)
		degrees := 1.0
		for p, part := range split {
			degrees += d.degrees[p]
			if d.degrees[p] == 0 && slices.ContainsFunc(part, func(v float64) bool { return math.Abs(v) > 1e-12 }) {
				t.Errorf("%v: part %d has no degrees of freedom, but values", dims, p)
			}
			for q, other := range split[:p] {
				if got := product(part, other); math.Abs(got) > 1e-12 {
					t.Errorf("%v: parts %d and %d have %g in common", dims, p, q, got)
				}
			}
		}
		if degrees != float64(len(values)) {
			t.Errorf("%v: %g degrees of freedom of %d", dims, degrees, len(values))
		}
		for i, v := range values {
			sum := mean
			for _, part := range split {
				sum += part[i]
			}
			if !near(sum, v, 1e-12) {
				t.Errorf("%v: sequence %d is %g, and its parts add up to %g", dims, i, v, sum)
			}
		}
	}
}

func product(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// made returns a study of scenarios whose effects are known: effects of blocks, which all scenarios share, of the
// order, of pairs and of each scenario. Single trainings have noise; truth has the accuracies without it.
func made(r *rand.Rand, scenarios int, noise float64) (s *Study, truth [][]float64) {
	const decisions, actions = 3, 4
	draw := func(deviation float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = deviation * r.NormFloat64()
		}
		return out
	}
	block, order, pair := draw(.02, actions), draw(.003, decisions*actions), draw(.006, 2*actions)
	s = &Study{Name: "made", Seeds: 1}
	for range scenarios {
		own := draw(.004, actions)
		t := &OutcomeTable{Decisions: decisions, Actions: actions, Accuracy: make([]float64, 64)}
		var exact []float64
		for i := range t.Accuracy {
			sequence := t.Sequence(i)
			v := .7
			for d, a := range sequence {
				v += block[a] + own[a] + order[d*actions+a]
				for _, b := range sequence[:d] {
					v += pair[a+b]
				}
			}
			exact = append(exact, v)
			t.Accuracy[i] = v + noise*r.NormFloat64()
		}
		s.Tables, truth = append(s.Tables, t), append(truth, exact)
	}
	return s, truth
}

// On tables whose true effects are known, the effects of decisions predict a new scenario better than the means of the
// other scenarios' tables. Without noise, both are equally good.
func TestPredictedBeatsBestElsewhere(t *testing.T) {
	for _, c := range []struct{ noise, most float64 }{{.02, .6}, {.001, 1.3}} {
		lost := map[string]float64{}
		for i := range 60 {
			s, truth := made(rand.New(rand.NewPCG(uint64(i), 2)), 3, c.noise)
			for k, table := range s.Tables {
				for _, kind := range []string{"best_elsewhere", "best_predicted"} {
					chosen := s.Play(&Controller{Kind: kind}, table, 1, nil).Sequence
					lost[kind] += (slices.Max(truth[k]) - truth[k][chosen]) / 180
				}
			}
		}
		t.Logf("noise %g: true regret %.4f elsewhere, %.4f predicted", c.noise, lost["best_elsewhere"],
			lost["best_predicted"])
		if lost["best_predicted"] > c.most*lost["best_elsewhere"] {
			t.Errorf("noise %g: true regret %.4f by prediction, %.4f without", c.noise, lost["best_predicted"],
				lost["best_elsewhere"])
		}
	}
}

// Smoothed accuracies are nearer to the truth than single trainings. Tables without noise do not change.
func TestSmoothed(t *testing.T) {
	for _, c := range []struct{ noise, most float64 }{{.02, .012}, {0, 1e-5}} {
		s, truth := made(rand.New(rand.NewPCG(7, 7)), 3, c.noise)
		for k, table := range Smoothed(s.Tables) {
			sum := 0.0
			for i, a := range table.Accuracy {
				sum += (a - truth[k][i]) * (a - truth[k][i]) / float64(len(table.Accuracy))
			}
			if off := math.Sqrt(sum); off > c.most {
				t.Errorf("noise %g: smoothed accuracies are off by %.5f", c.noise, off)
			}
		}
	}
	if got := Smoothed([]*OutcomeTable{{Decisions: 1, Actions: 2, Accuracy: []float64{.5,
		.5}}})[0].Accuracy; !near(got[0], .5, 1e-12) {
		t.Errorf("two sequences that come to the same: %v", got)
	}
}

// A few runs in the new scenario, each chosen by the results of the earlier ones.
func TestPredictedTries(t *testing.T) {
	s := adaptRecorded(t)
	for _, c := range []struct {
		runs int
		most float64
	}{{3, .01}, {5, .01}, {8, .001}, {64, 0}, {1000, 0}} {
		k := &Controller{Kind: "best_predicted", Runs: c.runs}
		if got := mean(s, k); got > c.most {
			t.Errorf("%d runs: mean regret %.4f, want at most %.4f", c.runs, got, c.most)
		}
		if got := s.Play(k, s.Tables[0], 1, nil).Runs; got != min(c.runs, 64) {
			t.Errorf("%d runs were asked for, and %d made", c.runs, got)
		}
	}
}
