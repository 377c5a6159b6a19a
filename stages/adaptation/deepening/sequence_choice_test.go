package deepening

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/tfexp/tfexp/hardware/need"
)

// drawnTables are kinds of drawn tables. Each function returns the expected accuracy of all sequences in n scenarios,
// and the standard deviation of the noise of single trainings.
var drawnTables = []struct {
	name string
	draw func(r *rand.Rand, t *OutcomeTable, n int) (scenarios [][]float64, noise float64)
}{
	{"additive", func(r *rand.Rand, t *OutcomeTable, n int) ([][]float64, float64) {
		shared := drawnEffects(r, t, .015, .006, 0)
		return drawnScenarios(n, shared, func() []float64 { return drawnEffects(r, t, .006, .004, 0) }), .01
	}},
	{"interaction", func(r *rand.Rand, t *OutcomeTable, n int) ([][]float64, float64) {
		shared := drawnEffects(r, t, .008, .004, .015)
		return drawnScenarios(n, shared, func() []float64 { return drawnEffects(r, t, .004, .002, .007) }), .01
	}},
	// scenarios have two effects, in different strengths
	{"low rank", func(r *rand.Rand, t *OutcomeTable, n int) ([][]float64, float64) {
		shared := drawnEffects(r, t, .008, .004, .004)
		first, second := drawnEffects(r, t, .015, .006, .008), drawnEffects(r, t, .01, .008, .004)
		return drawnScenarios(n, shared, func() []float64 {
			own := make([]float64, len(shared))
			floats.AddScaled(own, r.NormFloat64(), first)
			floats.AddScaled(own, r.NormFloat64(), second)
			return own
		}), .01
	}},
	{"own optimum", func(r *rand.Rand, t *OutcomeTable, n int) ([][]float64, float64) { // scenarios share nothing
		return drawnScenarios(n, drawnEffects(r, t, 0, 0, 0), func() []float64 {
			own := drawnEffects(r, t, .003, .003, .003)
			best, loss := t.Sequence(r.IntN(len(own))), .015+.015*r.Float64()
			for i := range own {
				for d, a := range t.Sequence(i) {
					if a != best[d] {
						own[i] -= loss
					}
				}
			}
			return own
		}), .01
	}},
	{"noise", func(r *rand.Rand, t *OutcomeTable, n int) ([][]float64, float64) {
		shared := drawnEffects(r, t, .008, .004, .004)
		return drawnScenarios(n, shared, func() []float64 { return drawnEffects(r, t, .004, .002, .002) }), .025
	}},
	{"trade-off", drawnTradeOff},
}

// drawnEffects draws effects of blocks, of blocks by decision, and of pairs of successive decisions, with the given
// standard deviations, and adds them up for each sequence.
func drawnEffects(r *rand.Rand, t *OutcomeTable, block, order, pair float64) []float64 {
	draw := func(deviation float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = deviation * r.NormFloat64()
		}
		return out
	}
	n := t.Actions
	blocks, orders, pairs := draw(block, n), draw(order, t.Decisions*n), draw(pair, t.Decisions*n*n)
	sums := make([]float64, int(math.Pow(float64(n), float64(t.Decisions))))
	for i := range sums {
		sequence := t.Sequence(i)
		for d, a := range sequence {
			sums[i] += blocks[a] + orders[d*n+a]
			if d > 0 {
				sums[i] += pairs[(d*n+a)*n+sequence[d-1]]
			}
		}
	}
	return sums
}

// drawnScenarios returns scenarios that add their own effects to the shared ones.
func drawnScenarios(n int, shared []float64, own func() []float64) [][]float64 {
	var all [][]float64
	for s := range n {
		values := own()
		floats.Add(values, shared)
		floats.AddConst(.7+.02*float64(s), values)
		all = append(all, values)
	}
	return all
}

// drawnTradeOff draws trainings in which each block raises the final accuracy, less each time, and slows down each step;
// scenarios differ in when it is added.
func drawnTradeOff(r *rand.Rand, t *OutcomeTable, n int) (scenarios [][]float64, noise float64) {
	noise = .006 + .012*r.Float64()
	// the action without a block has no gain and no cost
	gain, cost := make([]float64, t.Actions), make([]float64, t.Actions)
	for a := range t.Actions - 1 {
		gain[a], cost[a] = .026+.08*r.Float64(), .05+.2*r.Float64()
	}
	scenarios = drawnScenarios(n, drawnEffects(r, t, 0, 0, 0), func() []float64 { return drawnEffects(r, t, 0, 0, 0) })
	for s, values := range scenarios {
		before := .8 * (float64(s) + .5) / float64(n)
		for i := range values {
			count, slower, reach := make([]float64, t.Actions), 1.0, 0.0
			for _, a := range t.Sequence(i) {
				count[a]++
				slower += cost[a]
			}
			for a, c := range count {
				reach += gain[a] * (1 - math.Exp(-c))
			}
			values[i] = .5 + (.25+reach)*(1-math.Exp(-2.5*(before+(1-before)/slower))) - .05*reach*float64(s)
		}
	}
	return scenarios, noise
}

// drawnStudy draws the tables of a study of a kind: three or four scenarios.
func drawnStudy(kind int, seed uint64) *Study {
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	dims := [][2]int{{3, 4}, {3, 3}, {4, 3}, {3, 5}, {2, 6}}[r.IntN(5)]
	all := OutcomeTable{Decisions: dims[0], Actions: dims[1]}
	scenarios, noise := drawnTables[kind].draw(r, &all, 3+r.IntN(2))
	s := &Study{Name: "drawn", Seeds: 1}
	for _, values := range scenarios {
		t := all
		for _, v := range values {
			t.Accuracy = append(t.Accuracy, math.Min(math.Max(v+noise*r.NormFloat64(), 0), 1))
		}
		s.Tables = append(s.Tables, &t)
	}
	return s
}

// On drawn tables of many kinds, the runs in a new scenario find better sequences than equally many random runs, and
// than the sequences that other scenarios predict to be best. If scenarios differ in few ways, using the other
// scenarios helps.
func TestTriesOnDrawnTables(t *testing.T) {
	studies := need.Cases(20, 60)
	lowRank, ownAlone := 0.0, 0.0
	for i, c := range []struct {
		runs int
		most float64 // mean regret over all kinds
	}{{3, .02}, {5, .013}, {10, .0045}, {15, .0025}} {
		runs := c.runs
		if !need.Long() && i%2 == 1 {
			continue
		}
		all := map[string]float64{}
		for kind, of := range drawnTables {
			lost := map[string]float64{}
			for seed := range studies {
				s := drawnStudy(kind, uint64(seed))
				for scenario := range 2 {
					for name, regret := range triesOn(s, scenario, runs, uint64(seed)) {
						lost[name] += regret / float64(2*studies)
					}
				}
			}
			t.Logf("%2d runs, %-11s: predicted %.4f (own alone %.4f), most probable %.4f, few_runs %.4f, random %.4f", runs,
				of.name, lost["predicted"], lost["own alone"], lost["most probable"], lost["few_runs"], lost["random"])
			if lost["predicted"] > lost["random"] {
				t.Errorf("%d runs, %s: random ones are better", runs, of.name)
			}
			if of.name == "low rank" {
				lowRank, ownAlone = lowRank+lost["predicted"], ownAlone+lost["own alone"]
			}
			for name, regret := range lost {
				all[name] += regret / float64(len(drawnTables))
			}
		}
		if all["predicted"] > c.most || all["predicted"] > .9*all["most probable"] || all["few_runs"] > .9*all["random"] {
			t.Errorf("%d runs: mean regrets are %v, want at most %.4f by predicted ones", runs, all, c.most)
		}
	}
	if lowRank > .9*ownAlone {
		t.Errorf("where scenarios differ in few ways, regrets add up to %.4f; without the others' deviations to %.4f", lowRank,
			ownAlone)
	}
}

// triesOn returns the regrets of the ways to choose runs in a scenario of a study.
func triesOn(s *Study, scenario, runs int, seed uint64) map[string]float64 {
	table := s.Tables[scenario]
	e := newEffects(slices.Delete(slices.Clone(s.Tables), scenario, scenario+1))
	expected := e.expected(-1)
	w := DecisionInputs{Run: func(i int) float64 { return table.Accuracy[i] }, Controller: &Controller{Runs: runs}}
	var probable []int
	for len(probable) < min(runs, len(expected)) {
		probable = append(probable, greatest(expected, probable))
	}
	lost := map[string]float64{
		"predicted":     Regret(table, s.Play(&Controller{Kind: "best_predicted", Runs: runs}, table, 1, nil).Sequence),
		"few_runs":      Regret(table, s.Play(&Controller{Kind: "few_runs", Runs: runs}, table, int(seed), nil).Sequence),
		"own alone":     Regret(table, searchSequences(w, probable[0], e.newScenarioModels()[0])),
		"most probable": Regret(table, bestOf(w, probable)),
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range 10 {
		lost["random"] += Regret(table, bestOf(w, r.Perm(len(expected))[:len(probable)])) / 10
	}
	return lost
}
