package tuner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// surface is a randomly drawn function of the points of a space.
type surface func(at []float64) float64

// surfaces are kinds of functions, drawn over a space. Their standard deviation over the points is about one.
var surfaces = []struct {
	name string
	draw func(space surrogate.Space, r *rand.Rand) surface
}{
	{"smooth", bowls},
	{"rough", func(space surrogate.Space, r *rand.Rand) surface {
		smooth, own := bowls(space, r), levels(space, r, len(space))
		return func(at []float64) float64 { return 0.8*smooth(at) + 0.6*own(at) }
	}},
	{"noisy", bowls},
	{"cliff", func(space surrogate.Space, r *rand.Rand) surface {
		normal, edge := make([]float64, len(space)), 0.0
		for d := range normal {
			normal[d] = r.NormFloat64()
			edge += normal[d] * (0.3 + 0.4*r.Float64())
		}
		return func(at []float64) float64 {
			sum, slope := 0.0, 0.0
			for d, u := range unit(space, at) {
				sum, slope = sum+normal[d]*u, slope+0.2*u
			}
			if sum > edge {
				return 1 + slope
			}
			return slope - 1
		}
	}},
	{"additive", func(space surrogate.Space, r *rand.Rand) surface { return levels(space, r, 1) }},
	{"interaction", func(space surrogate.Space, r *rand.Rand) surface {
		single, pairs := levels(space, r, 1), levels(space, r, 2)
		return func(at []float64) float64 { return 0.6*single(at) + 0.8*pairs(at) }
	}},
}

// unit maps a point to the unit cube, including its categories.
func unit(space surrogate.Space, at []float64) []float64 {
	out := slices.Clone(at)
	for d, dim := range space {
		if dim.Categories > 0 {
			out[d] /= float64(dim.Categories)
		}
	}
	return out
}

// bowls returns the sum of a slope and a bowl along each setting, of random sizes. Along a setting without order,
// values are independent.
func bowls(space surrogate.Space, r *rand.Rand) surface {
	n := len(space)
	slope, depth, center := make([]float64, n), make([]float64, n), make([]float64, n)
	own := make([]surface, n)
	for d := range space {
		size := math.Exp(0.8 * r.NormFloat64())
		slope[d], depth[d], center[d] = size*r.NormFloat64(), 3*size*r.Float64(), r.Float64()
		own[d] = levels(space[d:d+1], r, 1)
	}
	return func(at []float64) float64 {
		sum := 0.0
		for d, dim := range space {
			if dim.Categories > 0 {
				sum += own[d](at[d : d+1])
				continue
			}
			sum += slope[d]*at[d] + depth[d]*(at[d]-center[d])*(at[d]-center[d])
		}
		return sum
	}
}

// levels returns a function with an independent value for each combination of the given number of settings.
func levels(space surrogate.Space, r *rand.Rand, together int) surface {
	known := map[string]float64{}
	var sets [][]int
	for d := range space {
		set := []int{d}
		for k := 1; k < together; k++ {
			set = append(set, (d+k)%len(space))
		}
		if slices.Sort(set); !slices.ContainsFunc(sets, func(s []int) bool { return slices.Equal(s, set) }) {
			sets = append(sets, set)
		}
	}
	for _, at := range space.Grid() { // in a fixed order
		for s, set := range sets {
			key := fmt.Sprint(s)
			for _, d := range set {
				key += fmt.Sprint(" ", at[d])
			}
			if _, ok := known[key]; !ok {
				known[key] = r.NormFloat64() / math.Sqrt(float64(len(sets)))
			}
		}
	}
	return func(at []float64) float64 {
		sum := 0.0
		for s, set := range sets {
			key := fmt.Sprint(s)
			for _, d := range set {
				key += fmt.Sprint(" ", at[d])
			}
			sum += known[key]
		}
		return sum
	}
}

// drawnSpace returns settings with numbers and categories. It has 40 to 64 points, or many times as many if large is
// set.
func drawnSpace(r *rand.Rand, large bool) surrogate.Space {
	for {
		space := numbers(1+r.IntN(2), 2+r.IntN(5))
		space = append(space, numbers(1, 2+r.IntN(4))...)
		for range r.IntN(3) {
			space = append(space, surrogate.Dimension{Name: fmt.Sprint("kind", len(space)), Categories: 2 + r.IntN(3)})
		}
		if n := space.Size(1 << 20); !large && n >= 40 && n <= 64 || large && n >= 200 && n <= 400 {
			return space
		}
	}
}

// drawnTable draws a table. The settings with the best objective do not keep the constraint.
func drawnTable(kind int, seed uint64, large bool) *table {
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	for {
		space := drawnSpace(r, large)
		cost, own := surfaces[kind].draw(space, r), surfaces[kind].draw(space, r)
		noise := 0.03
		if surfaces[kind].name == "noisy" {
			noise = 0.2
		}
		together := 0.5 + r.Float64() // cheap settings are inaccurate
		var costs, errors []float64
		points := space.Grid()
		for _, at := range points {
			c := cost(at)
			costs = append(costs, c)
			errors = append(errors, -2.5+0.5*(own(at)-together*c)+noise*r.NormFloat64())
		}
		sorted := slices.Sorted(slices.Values(errors))
		bound := 1 - math.Exp(sorted[int(float64(len(sorted))*(0.15+0.3*r.Float64()))])
		cheapest := 0
		for i, c := range costs {
			if c < costs[cheapest] {
				cheapest = i
			}
		}
		if bound <= 0 || 1-math.Exp(errors[cheapest]) >= bound {
			continue
		}
		i := -1
		return newTable(fmt.Sprintf("%s %d", surfaces[kind].name, seed), seed, space, bound, noise, 1,
			func(at []float64) (float64, float64, bool) {
				i++
				return 0.7 * costs[i], 1 - math.Exp(errors[i]), false
			})
	}
}

// freeTable draws a table without a constraint.
func freeTable(kind int, seed uint64) *table {
	r := rand.New(rand.NewPCG(seed, uint64(kind)+100))
	space := drawnSpace(r, false)
	cost, noise := surfaces[kind].draw(space, r), 0.03
	if surfaces[kind].name == "noisy" {
		noise = 0.2
	}
	return newTable(fmt.Sprintf("%s %d", surfaces[kind].name, seed), seed, space, 0, noise, 1,
		func(at []float64) (float64, float64, bool) { return 0.7 * cost(at), 0, false })
}

// byChance returns the mean and the median number of random trials until one is within 10% of the best, by the
// hypergeometric distribution.
func (t *table) byChance() (mean, median float64) {
	p := tuner.Problem{Limits: t.limits}
	best, good := math.Inf(1), 0
	for _, one := range t.rows {
		if p.Feasible(one) {
			best = math.Min(best, one.Objective)
		}
	}
	for _, one := range t.rows {
		if p.Feasible(one) && one.Objective <= 1.1*best {
			good++
		}
	}
	rows := len(t.points)
	for missed := 1.0; missed > 0.5; median++ {
		missed *= float64(rows-good-int(median)) / float64(rows-int(median))
	}
	return float64(rows+1) / float64(good+1), median
}

// Bayesian optimization needs fewer trials than random search on tables of about 50 settings of many kinds, with and
// without a constraint. Its median is at most 12. On each table, its mean is at most two standard errors above the mean of
// random search. The short form has half of the searches.
func TestDrawnTables(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute")
	}
	bo, _ := tuner.Find("bo")
	const tables = 2
	ofEach := 1.0 // ratio to the trials of random search, over the tables of one kind
	if need.Long() {
		ofEach = 0.85
	}
	seeds := uint64(need.Cases(2, 6))
	for name, draw := range map[string]func(kind int, seed uint64) *table{
		"free": freeTable, "constrained": func(kind int, seed uint64) *table { return drawnTable(kind, seed, false) },
	} {
		var all []float64
		ratio := 0.0
		for kind := range surfaces {
			needed, chance := 0.0, 0.0
			for seed := range uint64(tables) {
				one := draw(kind, seed+1)
				var own []float64
				for search := range seeds {
					own = append(own, float64(one.trialsTo(t, bo, search, len(one.points))))
				}
				mean, deviation := stat.MeanStdDev(own, nil)
				expected, median := one.byChance()
				t.Logf("%s: %s: %.1f trials, %.1f by chance, whose median is %g", name, one.name, mean, expected, median)
				if mean > expected+2*deviation/math.Sqrt(float64(seeds)) {
					t.Errorf("%s: %s: %.1f trials, random ones %.1f", name, one.name, mean, expected)
				}
				needed, chance, all = needed+mean, chance+expected, append(all, own...)
			}
			ratio += needed / chance / float64(len(surfaces))
			if needed > ofEach*chance {
				t.Errorf("%s, %s: %.2f of the trials that chance needs", name, surfaces[kind].name, needed/chance)
			}
		}
		slices.Sort(all)
		t.Logf("%s: median %g, 90th percentile %g, %.2f of chance", name, all[len(all)/2], all[len(all)*9/10], ratio)
		if ratio > 0.5 || all[len(all)/2] > 12 {
			t.Errorf("%s: %.2f of the trials that chance needs, their median %g", name, ratio, all[len(all)/2])
		}
	}
}
