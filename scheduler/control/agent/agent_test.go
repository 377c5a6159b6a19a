package agent

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

func recorded(t testing.TB) map[string]*Table {
	t.Helper()
	f, err := os.Open(filepath.Join(os.Getenv("TFEXP_DATA"), "deepening_tables", "cnn1.csv"))
	if err != nil {
		t.Skip("the recorded table is not here: set TFEXP_DATA to the folder that has deepening_tables")
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*Table{}
	count := map[string][][]int{}
	for _, r := range rows[1:] {
		tb := tables[r[0]]
		if tb == nil {
			tb = &Table{Name: r[0], Decisions: 3, Actions: 4, Time: [][]float64{make([]float64, 1), make([]float64, 4), make([]float64, 16)}, Accuracy: make([]float64, 64)}
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

func learn(seed uint64, s Settings, tables ...*Table) *Learner {
	s.Seed = seed
	l := NewLearner(NewNetwork(6, 4, rand.New(rand.NewPCG(seed, 9))), s)
	for !l.Done() {
		l.Step(tables)
	}
	return l
}

// TestAgentsLearnATable trains for less than half of the default length.
func TestAgentsLearnATable(t *testing.T) {
	if testing.Short() {
		t.Skip("training takes some seconds")
	}
	for name, most := range map[string]int{"early": 2, "middle": 5, "late": 2} {
		table := recorded(t)[name]
		s := Default(false)
		s.Episodes = 30_000
		chosen := learn(1, s, table).Network.Choose(table)
		t.Logf("%s: %v, rank %d, regret %.4f", name, table.Sequence(chosen), table.Rank(chosen), table.Best()-table.Accuracy[chosen])
		if rank := table.Rank(chosen); rank > most {
			t.Errorf("%s: the agent's sequence has rank %d, want at most %d", name, rank, most)
		}
	}
}

// TestSampledGradient holds the gradient of 100,000 episodes against the exact one.
func TestSampledGradient(t *testing.T) {
	tb := small()
	n := NewNetwork(4, 3, rand.New(rand.NewPCG(2, 2)))
	exact, sampled := make([]float64, len(n.Weights)), make([]float64, len(n.Weights))
	want := n.Expected(tb, 1, exact)
	got := n.sampled(tb, 100_000, 1, rand.New(rand.NewPCG(3, 3)), sampled)
	cosine := dot(exact, sampled) / math.Sqrt(dot(exact, exact)*dot(sampled, sampled))
	if cosine < 0.99 || math.Abs(got-want) > 1 {
		t.Errorf("cosine %.4f, reward %.2f, want %.2f", cosine, got, want)
	}
}

// TestLearningGoesOn stops a learner, writes it down, and goes on with what was read.
func TestLearningGoesOn(t *testing.T) {
	s := Default(true)
	s.Episodes = 640
	whole := NewLearner(NewNetwork(4, 3, rand.New(rand.NewPCG(4, 4))), s)
	half := NewLearner(whole.Network.Clone(), s)
	for !whole.Done() {
		whole.Step([]*Table{small()})
	}
	for half.Episodes < 320 {
		half.Step([]*Table{small()})
	}
	raw, err := half.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Load(raw)
	if err != nil {
		t.Fatal(err)
	}
	for !again.Done() {
		again.Step([]*Table{small()})
	}
	if !slices.Equal(again.Network.Weights, whole.Network.Weights) || !slices.Equal(again.Objective, whole.Objective) {
		t.Error("a learner that was stopped ends with other weights")
	}
	if _, err := Load(raw[:len(raw)/2]); err == nil {
		t.Error("half of a learner is read without an error")
	}
}

func small() *Table {
	return &Table{
		Decisions: 2, Actions: 3, Time: [][]float64{{0.1}, {0.3, 0.35, 0.4}},
		Accuracy: []float64{.5, .6, .7, .4, .3, .55, .65, .2, .45},
	}
}

// TestGradients compares some derivatives with finite differences.
func TestGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	tb := small()
	n := NewNetwork(4, 3, r)
	grad := make([]float64, len(n.Weights))
	n.Expected(tb, 1.5, grad)
	worst := 0.0
	for range 300 {
		i := r.IntN(len(grad))
		const step = 1e-5
		old := n.Weights[i]
		n.Weights[i] = old + step
		up := n.Expected(tb, 1.5, make([]float64, len(grad)))
		n.Weights[i] = old - step
		down := n.Expected(tb, 1.5, make([]float64, len(grad)))
		n.Weights[i] = old
		want := -(up - down) / (2 * step)
		worst = max(worst, math.Abs(grad[i]-want)/max(1, math.Abs(want)))
	}
	if worst > 1e-4 {
		t.Errorf("a derivative is off by %g", worst)
	}
}
