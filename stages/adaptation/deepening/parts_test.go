package deepening

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDenseIsAMatrix: the output and the gradients of a layer equal the plain sums, for any numbers of rows and pairs.
func TestDenseIsAMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
	}
	for out := 1; out <= 9; out++ {
		for in := 1; in <= 5; in += 2 {
			d := dense{at: 3, in: in, out: out}
			w := random(3 + d.size())
			x, y := random(in), make([]float64, out)
			d.forward(w, x, y)
			want := make([]float64, out)
			for o := range out {
				want[o] = w[3+out*in+o]
				for i := range in {
					want[o] += w[3+o*in+i] * x[i]
				}
			}
			if !same(y, want) {
				t.Errorf("%d × %d: forward %v, want %v", out, in, y, want)
			}
			dy, dx := random(out), make([]float64, in)
			dy[out/2] = 0
			d.back(w, dy, dx)
			back := make([]float64, in)
			for o := range out {
				for i := range in {
					back[i] += w[3+o*in+i] * dy[o]
				}
			}
			if !same(dx, back) {
				t.Errorf("%d × %d: back %v, want %v", out, in, dx, back)
			}
			var pairs []pair
			dw, grad := make([]float64, len(w)), make([]float64, len(w))
			for range in + 2 {
				p := pair{random(in), random(out)}
				pairs = append(pairs, p)
				for o := range out {
					grad[3+out*in+o] += p.dy[o]
					for i := range in {
						grad[3+o*in+i] += p.dy[o] * p.x[i]
					}
				}
			}
			if d.gradient(pairs, dw); !same(dw, grad) {
				t.Errorf("%d × %d: gradient %v, want %v", out, in, dw, grad)
			}
		}
	}
}

// TestAdamByHand: two steps with two gradients, at a rate that falls with the episodes.
func TestAdamByHand(t *testing.T) {
	l := &Learner{Network: &Network{Weights: []float64{1, -2}}, M: make([]float64, 2), V: make([]float64, 2), Episodes: 250,
		Settings: Settings{Rate: 0.1, Decay: 0.5, DecayEvery: 100, Episodes: 1000, Temperature: 5}}
	m, v, w := [2]float64{}, [2]float64{}, [2]float64{1, -2}
	for step, grad := range [][]float64{{3, -1}, {-0.5, 2}} {
		l.move(grad)
		n := float64(step + 1)
		for i, g := range grad {
			m[i], v[i] = 0.9*m[i]+0.1*g, 0.999*v[i]+0.001*g*g
			w[i] -= 0.1 * 0.25 * (m[i] / (1 - math.Pow(0.9, n))) / (math.Sqrt(v[i]/(1-math.Pow(0.999, n))) + 1e-8)
			if math.Abs(l.Network.Weights[i]-w[i]) > 1e-12 {
				t.Errorf("after step %d weight %d is %g, want %g", step+1, i, l.Network.Weights[i], w[i])
			}
		}
	}
	for episodes, want := range map[int]float64{0: 5, 125: 4, 250: 3, 500: 1, 900: 1} {
		if l.Episodes = episodes; l.temperature() != want {
			t.Errorf("after %d of 1000 episodes the temperature is %g, want %g", episodes, l.temperature(), want)
		}
	}
}

// TestTables by hand: invalid tables, sequences and their layers, ranks, and initial weights.
func TestTables(t *testing.T) {
	table := func() *OutcomeTable {
		return &OutcomeTable{Name: "t", Actions: 3, Decisions: 2, Time: [][]float64{{0}, {1, 2, 3}},
			Accuracy: []float64{0, 0.5, 1, 0.5, 0.25, 0.75, 0.1, 0.2, 0.3}}
	}
	if err := table().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*OutcomeTable){
		"above 1": func(t *OutcomeTable) { t.Accuracy[3] = 1.01 }, "below 0": func(t *OutcomeTable) { t.Accuracy[3] = -0.01 },
		"no number":       func(t *OutcomeTable) { t.Accuracy[3] = math.NaN() },
		"a sequence less": func(t *OutcomeTable) { t.Accuracy = t.Accuracy[:8] },
		"a state less":    func(t *OutcomeTable) { t.Time[1] = t.Time[1][:2] },
		"a decision less": func(t *OutcomeTable) { t.Time = t.Time[:1] },
		"no decision":     func(t *OutcomeTable) { t.Decisions = 0 }, "no choice": func(t *OutcomeTable) { t.Actions = 1 },
	} {
		bad := table()
		if spoil(bad); bad.Check() == nil {
			t.Errorf("%s: it is a table", name)
		}
	}
	one := table()
	for i, want := range map[int]int{2: 1, 5: 2, 1: 3, 3: 3, 4: 6, 0: 9} { // equal sequences have the same rank
		if got := one.Rank(i); got != want {
			t.Errorf("sequence %d has the rank %d, want %d", i, got, want)
		}
	}
	if got := one.Sequence(7); !slices.Equal(got, []int{2, 1}) || one.Best() != 1 {
		t.Errorf("sequence 7 is %v", got)
	}
	for before, want := range map[int][]int{0: {0, 1, 2}, 1: {0, 2, 3}, 2: {0, 2}} {
		if got := one.Layers(1, before); !slices.Equal(got, want) {
			t.Errorf("after decision %d the layers are %v, want %v", before, got, want)
		}
	}
	if got := Reward(0.5); math.Abs(got-100) > 1e-9 || math.IsInf(Reward(1), 0) {
		t.Errorf("an accuracy of a half is worth %g", got)
	}
	n := NewNetwork(4, 3, rand.New(rand.NewPCG(1, 1)))
	sum, squares := 0.0, 0.0
	for _, w := range n.Weights[:4*embedding] {
		sum, squares = sum+w, squares+w*w
	}
	if count := float64(4 * embedding); squares/count < 0.5 || squares/count > 1.6 || math.Abs(sum/count) > 0.5 {
		t.Errorf("embeddings have the mean %g and the variance %g", sum/count, squares/count)
	}
}
