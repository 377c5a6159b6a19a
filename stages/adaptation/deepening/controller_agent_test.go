package deepening

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// recorded reads the table that ships with the experiment adaptation.hcl, by its scenarios: 64 sequences each.
func agentRecorded(t testing.TB) map[string]*OutcomeTable {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "experiments", "papers", "adaptation", "cnn1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*OutcomeTable{}
	count := map[string][][]int{}
	for _, r := range rows[1:] {
		tb := tables[r[0]]
		if tb == nil {
			tb = &OutcomeTable{Name: r[0], Decisions: 3, Actions: 4, Time: [][]float64{make([]float64, 1), make([]float64, 4),
				make([]float64, 16)}, Accuracy: make([]float64, 64)}
			tables[r[0]] = tb
			count[r[0]] = [][]int{make([]int, 1), make([]int, 4), make([]int, 16)}
		}
		n := func(i int) float64 { v, _ := strconv.ParseFloat(r[i], 64); return v }
		at := 0
		for d := range 3 {
			tb.Time[d][at] += 1 - n(4+d)/n(7)
			count[r[0]][d][at]++
			at = at*4 + int(n(1+d))
		}
		tb.Accuracy[at] = n(8)
	}
	for name, tb := range tables {
		for d := range tb.Time {
			for i := range tb.Time[d] {
				tb.Time[d][i] /= float64(count[name][d][i])
			}
		}
		if err := tb.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return tables
}

func learn(seed uint64, s Settings, tables ...*OutcomeTable) *Learner {
	s.Seed = seed
	l := NewLearner(NewNetwork(6, 4, rand.New(rand.NewPCG(seed, 9))), s)
	for !l.Done() {
		l.Step(tables)
	}
	return l
}

// TestAgentsLearnATable trains three agents for each scenario, for less than half of the default episodes, and checks
// the median of their ranks among all 64 sequences. The short form trains one agent for one scenario, for half as long.
func TestAgentsLearnATable(t *testing.T) {
	if testing.Short() {
		t.Skip("training takes seconds")
	}
	tables := agentRecorded(t)
	for name, most := range map[string]int{"early": 1, "middle": 5, "late": 1} {
		if name != "late" && !need.Long() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ranks []int
			for seed := range uint64(need.Cases(1, 3)) {
				s := DefaultSettings(false)
				s.Episodes = need.Cases(15_000, 30_000)
				ranks = append(ranks, tables[name].Rank(learn(seed+1, s, tables[name]).Network.Choose(tables[name])))
			}
			slices.Sort(ranks)
			if t.Logf("ranks %v", ranks); ranks[len(ranks)/2] > most {
				t.Errorf("the median rank of %v is above %d", ranks, most)
			}
		})
	}
}

// TestSampledGradient compares the gradient of 100,000 episodes with the exact gradient over all sequences: 9 of a
// small table, and 64 of each recorded one.
func TestSampledGradient(t *testing.T) {
	tables := agentRecorded(t)
	tables["small"] = agentSmall()
	for name, tb := range tables {
		n := NewNetwork(2*(tb.Actions-1), tb.Actions, rand.New(rand.NewPCG(2, 2)))
		exact, sampled := make([]float64, len(n.Weights)), make([]float64, len(n.Weights))
		want := n.expectedReward(tb, 1, exact)
		b := newBatch(n, 1)
		got := b.sampled(tb, 100_000, 1, rand.New(rand.NewPCG(3, 3)))
		b.back(sampled)
		cosine := dot(exact, sampled) / math.Sqrt(dot(exact, exact)*dot(sampled, sampled))
		t.Logf("%s: %d sequences, cosine %.5f", name, len(tb.Accuracy), cosine)
		if cosine < 0.99 || math.Abs(got-want) > 1 {
			t.Errorf("%s: cosine %.4f, reward %.2f, want %.2f", name, cosine, got, want)
		}
	}
}

// TestLearningGoesOn stops a learner, saves it, and continues with the loaded one.
func TestLearningGoesOn(t *testing.T) {
	s := DefaultSettings(true)
	s.Episodes = 640
	whole := NewLearner(NewNetwork(4, 3, rand.New(rand.NewPCG(4, 4))), s)
	half := NewLearner(whole.Network.Clone(), s)
	for !whole.Done() {
		whole.Step([]*OutcomeTable{agentSmall()})
	}
	for half.Episodes < 320 {
		half.Step([]*OutcomeTable{agentSmall()})
	}
	raw, err := half.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadLearner(raw)
	if err != nil {
		t.Fatal(err)
	}
	for !again.Done() {
		again.Step([]*OutcomeTable{agentSmall()})
	}
	if !slices.Equal(again.Network.Weights, whole.Network.Weights) || !slices.Equal(again.Objective, whole.Objective) {
		t.Error("a learner that was stopped ends with other weights")
	}
	if _, err := LoadLearner(raw[:len(raw)/2]); err == nil {
		t.Error("half of a learner is read without an error")
	}
}

func agentSmall() *OutcomeTable {
	return &OutcomeTable{
		Decisions: 2, Actions: 3, Time: [][]float64{{0.1}, {0.3, 0.35, 0.4}},
		Accuracy: []float64{.5, .6, .7, .4, .3, .55, .65, .2, .45},
	}
}

// TestGradients compares some derivatives, of all layers, with finite differences.
func TestGradients(t *testing.T) {
	if testing.Short() {
		t.Skip("compares each weight of three networks; nothing runs side by side")
	}
	most := need.Cases(40, 150) // number of derivatives; about half of them are checked
	for name, tb := range map[string]*OutcomeTable{"small": agentSmall(), "recorded": agentRecorded(t)["middle"]} {
		r := rand.New(rand.NewPCG(1, 1))
		n := NewNetwork(2*(tb.Actions-1), tb.Actions, r)
		grad := make([]float64, len(n.Weights))
		n.expectedReward(tb, 1.5, grad)
		worst := 0.0
		for i := 0; i < len(grad); i += 1 + r.IntN(len(grad)/most) {
			const step = 1e-5
			old := n.Weights[i]
			n.Weights[i] = old + step
			up := n.expectedReward(tb, 1.5, make([]float64, len(grad)))
			n.Weights[i] = old - step
			down := n.expectedReward(tb, 1.5, make([]float64, len(grad)))
			n.Weights[i] = old
			want := -(up - down) / (2 * step)
			worst = max(worst, math.Abs(grad[i]-want)/max(1, math.Abs(want)))
		}
		t.Logf("%s: off by at most %.1g", name, worst)
		if worst > 1e-4 {
			t.Errorf("%s: a derivative is off by %g", name, worst)
		}
	}
}

// BenchmarkTraining trains an agent on one scenario by the default settings, on one core. It should take far less than
// a minute.
func BenchmarkTraining(b *testing.B) {
	if testing.Short() {
		b.Skip("half a minute: make bench-large")
	}
	table := agentRecorded(b)["middle"]
	for b.Loop() {
		learn(1, DefaultSettings(false), table)
	}
}

// expectedReward returns the expected reward over all sequences of a table, and adds the exact gradient of the expected
// loss to grad.
func (n *Network) expectedReward(t *OutcomeTable, temperature float64, grad []float64) float64 {
	b, seen := newBatch(n, temperature), stateVisits{}
	prob := make([]float64, len(t.Accuracy))
	mean := 0.0
	for i := range prob {
		prob[i] = 1
		before := 0
		for d, action := range t.Sequence(i) {
			prob[i] *= b.visit(t, seen, d, before).probs[action]
			before = before*t.Actions + action
		}
		mean += prob[i] * Reward(t.Accuracy[i])
	}
	for i, p := range prob {
		before := 0
		for d, action := range t.Sequence(i) {
			b.visit(t, seen, d, before).charge(action, p*(Reward(t.Accuracy[i])-mean), temperature)
			before = before*t.Actions + action
		}
	}
	b.back(grad)
	return mean
}
