package tuner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// table has the measurements of an invented job at all settings of a space.
type table struct {
	name   string
	space  surrogate.Space
	limits []surrogate.Limit
	rows   map[string]surrogate.Trial
	points [][]float64
}

// newTable returns a table. cost returns for values from 0 to 1 the logarithm of the objective, an accuracy, and
// whether the job crashes. noise is the standard deviation of the logarithm of a measurement. kept is the part of the
// rows that the table has.
func newTable(name string, seed uint64, space surrogate.Space, bound, noise, kept float64,
	cost func(at []float64) (log, accuracy float64, crashes bool)) *table {
	t := &table{name: name, space: space, rows: map[string]surrogate.Trial{}}
	if bound > 0 {
		t.limits = []surrogate.Limit{{Bound: bound, AtLeast: true, Scale: surrogate.LogGap}}
	}
	r := rand.New(rand.NewPCG(seed, 7))
	for _, at := range space.Grid() {
		log, accuracy, crashes := cost(at)
		log += noise * r.NormFloat64()
		if r.Float64() >= kept {
			continue
		}
		one := surrogate.Trial{At: at, State: surrogate.Done, Objective: math.Exp(log), Cost: math.Exp(log)}
		if bound > 0 {
			one.Limited = []float64{accuracy}
		}
		if crashes {
			one = surrogate.Trial{At: at, State: surrogate.Crashed}
		}
		t.points, t.rows[fmt.Sprint(at)] = append(t.points, at), one
	}
	return t
}

// numbers returns n settings with the given number of values each, by factors of two.
func numbers(n, values int) (s surrogate.Space) {
	for i := range n {
		d := surrogate.Dimension{Name: fmt.Sprintf("n%d", i), Log: true}
		for v := range values {
			d.Numbers = append(d.Numbers, math.Pow(2, float64(v)))
		}
		s = append(s, d)
	}
	return s
}

// made returns tables of many shapes: many settings or few, with and without an order, with constraints and noise, with
// few rows and with many.
func made() []*table {
	bowl := func(at []float64, to ...float64) float64 {
		sum := 0.0
		for i, v := range to {
			sum += 4 * (at[i] - v) * (at[i] - v)
		}
		return sum
	}
	kinds := func(n int) surrogate.Dimension {
		return surrogate.Dimension{Name: fmt.Sprint("kind", n), Categories: n}
	}
	return []*table{
		newTable("six settings, three of which count", 1, numbers(6, 3), 0, 0.02, 1,
			func(at []float64) (float64, float64, bool) {
				return bowl(at, 0.5, 1, 0), 0, false
			}),
		newTable("kinds without an order", 2, append(numbers(2, 4), kinds(4), kinds(5), kinds(3)), 0, 0.05, 1,
			func(at []float64) (float64, float64, bool) {
				return bowl(at, 0.66, 0.33) + []float64{0.8, 0, 0.5, 1}[int(at[2])] +
					[]float64{0.3, 0.9, 0.1, 0, 0.6}[int(at[3])], 0, false
			}),
		newTable("a narrow constraint", 3, numbers(2, 12), 0.95, 0.02, 1, func(at []float64) (float64, float64, bool) {
			return 2*at[0] + 1.5*at[1], 1 - 0.3*math.Exp(-2.2*(at[0]+0.7*at[1])), false
		}),
		newTable("noise of 15%", 4, numbers(4, 4), 0, 0.15, 1, func(at []float64) (float64, float64, bool) {
			return bowl(at, 0.33, 0.66, 1, 0), 0, false
		}),
		newTable("few rows", 5, numbers(4, 4), 0, 0.05, 0.1, func(at []float64) (float64, float64, bool) {
			return bowl(at, 0.33, 0.66, 1, 0), 0, false
		}),
		newTable("many rows", 6, numbers(4, 8), 0, 0.03, 1, func(at []float64) (float64, float64, bool) {
			return bowl(at, 0.2, 0.7, 0.9, 0.4) + at[0]*at[1], 0, false
		}),
		newTable("a third crashes", 7, numbers(3, 6), 0, 0.03, 1, func(at []float64) (float64, float64, bool) {
			return 3 - 1.5*at[0] - at[1] + bowl(at[2:], 0.4), 0, at[0]+at[1] > 1.2
		}),
	}
}

// trialsTo returns the number of trials until a method is within 10% of the least feasible objective, or most if it is
// not.
func (t *table) trialsTo(tb testing.TB, m tuner.Method, seed uint64, most int) int {
	p := &tuner.Problem{
		Space: t.space, Candidates: t.points, Scale: surrogate.Log, Limits: t.limits, Trials: most, Seed: seed, Initial: t.points[0],
	}
	best := math.Inf(1)
	for _, one := range t.rows {
		if p.Feasible(one) {
			best = math.Min(best, one.Objective)
		}
	}
	var trials []surrogate.Trial
	for len(trials) < most {
		next, err := m.Suggest(p, trials)
		if err != nil {
			tb.Fatalf("%s on %s: %v", m.Name, t.name, err)
		}
		one := t.rows[fmt.Sprint(next.At)]
		trials = append(trials, one)
		if p.Feasible(one) && one.Objective <= 1.1*best {
			break
		}
	}
	return len(trials)
}

// TestOnATable compares Bayesian optimization with random search on one of the tables; BenchmarkTables compares them on
// all tables.
func TestOnATable(t *testing.T) {
	bo, _ := tuner.Find("bo")
	random, _ := tuner.Find("random")
	one := made()[2]
	sum := map[string]int{}
	for seed := range uint64(4) {
		sum["bo"] += one.trialsTo(t, bo, seed, 30)
		sum["random"] += one.trialsTo(t, random, seed, 60)
	}
	if sum["bo"]*2 > sum["random"] {
		t.Errorf("on %q bo needs %d trials in 4 searches, random ones %d", one.name, sum["bo"], sum["random"])
	}
}

// BenchmarkTables reports, by method and table, the median number of trials until one is within 10% of the best, over
// ten seeds.
func BenchmarkTables(b *testing.B) {
	for _, one := range made() {
		for _, name := range []string{"bo", "selftf", "lhs", "random"} {
			m, _ := tuner.Find(name)
			b.Run(one.name+"/"+name, func(b *testing.B) {
				if testing.Short() && len(one.points) > 1000 {
					b.Skip("a large table: make bench-large")
				}
				for b.Loop() {
					var counts []float64
					for seed := range uint64(10) {
						counts = append(counts, float64(one.trialsTo(b, m, seed, min(60, len(one.points)))))
					}
					slices.Sort(counts)
					b.ReportMetric((counts[4]+counts[5])/2, "trials")
				}
			})
		}
	}
}
