package adaptation

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// kindsOfTables are the standard deviations of effects: of blocks, of the order and of pairs, which all scenarios
// share; of each scenario's own; and of the noise of single trainings.
var kindsOfTables = []struct {
	name                           string
	block, order, pair, own, noise float64
}{
	{"alike everywhere", .02, .003, .006, .004, .01},
	{"other elsewhere", .008, .003, .004, .02, .01},
	{"by order", .006, .02, .004, .006, .01},
	{"by pairs", .008, .004, .02, .006, .01},
	{"noise", .008, .004, .004, .004, .025},
}

// drawnStudy draws tables of a kind: three scenarios.
func drawnStudy(kind int, seed uint64) *Study {
	const decisions, actions = 3, 4
	k, r := kindsOfTables[kind], rand.New(rand.NewPCG(seed, uint64(kind)))
	draw := func(deviation float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = deviation * r.NormFloat64()
		}
		return out
	}
	block, order, pair := draw(k.block, actions), draw(k.order, decisions*actions), draw(k.pair, decisions*actions*actions)
	s := &Study{Name: "drawn", Seeds: 1}
	for range 3 {
		own, ownOrder := draw(k.own, actions), draw(k.own/3, decisions*actions)
		t := &AgentTable{Decisions: decisions, Actions: actions, Accuracy: make([]float64, 64)}
		for i := range t.Accuracy {
			sequence := t.Sequence(i)
			v := .7 + k.noise*r.NormFloat64()
			for d, a := range sequence {
				v += block[a] + own[a] + order[d*actions+a] + ownOrder[d*actions+a]
				if d > 0 {
					v += pair[(d*actions+a)*actions+sequence[d-1]]
				}
			}
			t.Accuracy[i] = v
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// A few runs in a new scenario find better sequences than as many of those that the others predict to be best, and than
// random ones, on tables of many kinds.
func TestTriesOnDrawnTables(t *testing.T) {
	const studies = 30
	for _, runs := range []int{3, 5, 15} {
		all := map[string]float64{}
		for kind := range kindsOfTables {
			lost := map[string]float64{}
			for seed := range uint64(studies) {
				s := drawnStudy(kind, seed)
				for i, table := range s.Tables {
					others := slices.Delete(slices.Clone(s.Tables), i, i+1)
					lose := func(name string, sequence int) { lost[name] += Regret(table, sequence) / studies / 3 }
					lose("predicted", s.Play(&Controller{Kind: "best_predicted", Runs: runs}, table, 1, nil).Sequence)
					lose("few", s.Play(&Controller{Kind: "few_runs", Runs: runs}, table, int(seed), nil).Sequence)
					expected, tried := newEffects(others).expected(-1), []int{}
					for len(tried) < runs {
						tried = append(tried, greatest(expected, tried))
					}
					w := World{Run: func(i int) float64 { return table.Accuracy[i] }}
					lose("most probable", bestOf(w, tried))
					lose("random", bestOf(w, rand.New(rand.NewPCG(seed, 1)).Perm(64)[:runs]))
				}
			}
			t.Logf("%2d runs, %-17s predicted %.4f, few_runs %.4f, most probable %.4f, random %.4f", runs,
				kindsOfTables[kind].name, lost["predicted"], lost["few"], lost["most probable"], lost["random"])
			for name, v := range lost {
				all[name] += v
			}
			if lost["few"] > lost["random"] {
				t.Errorf("few_runs are worse than random ones")
			}
		}
		if all["predicted"] > 0.9*all["most probable"] {
			t.Errorf("%d runs: %.4f, by the most probable ones %.4f", runs, all["predicted"], all["most probable"])
		}
	}
}
