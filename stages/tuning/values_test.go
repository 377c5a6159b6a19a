package tuning

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// The interval of a median lies between order statistics. They are the innermost ones between which the true
// median lies with a probability of at least 95%.
func TestMedianInterval(t *testing.T) {
	for n := 1; n <= 60; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(n - i)
		}
		median, low, high := MedianInterval(values)
		if median != float64(n+1)/2 || high != float64(n+1)-low {
			t.Errorf("of 1 to %d: %g in %g to %g", n, median, low, high)
		}
		below := distuv.Binomial{N: float64(n), P: 0.5}.CDF
		if low > 1 && below(low-1) > 0.025+1e-12 {
			t.Errorf("%g of %d leaves out too much: %g", low, n, below(low-1))
		}
		if low < float64((n-1)/2) && below(low) <= 0.025 {
			t.Errorf("%g of %d leaves out too little: %g", low, n, below(low))
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	if m, l, h := MedianInterval([]float64{nan, 2, 1}); m != 2 || l != 1 || !math.IsInf(h, 1) {
		t.Errorf("one never came about: %g, %g, %g", m, l, h)
	}
	if m, _, _ := MedianInterval([]float64{nan, inf, 1}); !math.IsNaN(m) {
		t.Errorf("two never came about: %g", m)
	}
	if m, l, h := MedianInterval(nil); !math.IsNaN(m) || !math.IsNaN(l) || !math.IsNaN(h) {
		t.Errorf("of none: %g, %g, %g", m, l, h)
	}
}

func some(v float64) *float64 { return &v }

// Two trials have the same result when loss and accuracy are the same and the times nearly.
func TestCameToTheSame(t *testing.T) {
	same := func(change func(*trial.Outcome)) *trial.Outcome {
		o := &trial.Outcome{Time: 100, Loss: some(0.5), Accuracy: some(0.9)}
		change(o)
		return o
	}
	plain := same(func(*trial.Outcome) {})
	for name, c := range map[string]struct {
		o    *trial.Outcome
		want bool
	}{
		"itself":      {same(func(*trial.Outcome) {}), true},
		"as long":     {same(func(o *trial.Outcome) { o.Time = 104 }), true},
		"longer":      {same(func(o *trial.Outcome) { o.Time = 106 }), false},
		"shorter":     {same(func(o *trial.Outcome) { o.Time = 94 }), false},
		"loss":        {same(func(o *trial.Outcome) { o.Loss = some(0.4) }), false},
		"no loss":     {same(func(o *trial.Outcome) { o.Loss = nil }), false},
		"accuracy":    {same(func(o *trial.Outcome) { o.Accuracy = some(0.8) }), false},
		"no accuracy": {same(func(o *trial.Outcome) { o.Accuracy = nil }), false},
		"crashed":     {same(func(o *trial.Outcome) { o.Crashed = "x" }), false},
		"none":        {nil, false},
	} {
		if cameToTheSame(plain, c.o) != c.want || cameToTheSame(c.o, plain) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
	bare := same(func(o *trial.Outcome) { o.Accuracy = nil })
	if !cameToTheSame(bare, bare) || cameToTheSame(nil, nil) {
		t.Error("trials without accuracies")
	}
}

func TestDifferOnlyIn(t *testing.T) {
	set := func(pairs ...string) (s []record.Setting) {
		for _, p := range pairs {
			name, value, _ := strings.Cut(p, "=")
			s = append(s, record.Setting{Name: name, Value: value})
		}
		return s
	}
	for _, c := range []struct {
		a, b []record.Setting
		want bool
	}{
		{set("x=1", "y=1"), set("x=2", "y=1"), true},
		{set("x=1", "y=1"), set("x=1", "y=1"), false},
		{set("x=1", "y=1"), set("x=2", "y=2"), false},
		{set("x=1", "y=1"), set("x=1", "y=2"), false},
		{set("x=1", "y=1"), set("x=2"), false},
		{set("x=1"), set("y=1"), false},
		{set("y=1", "x=1"), set("y=1", "x=3"), true},
	} {
		if differOnlyIn(c.a, c.b, "x") != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, !c.want)
		}
	}
}

// The reason why a trial is infeasible names the first constraint that it violates.
func TestViolated(t *testing.T) {
	u := &trial.Tuning{Objective: "time_to_loss", Target: some(0.5),
		Constraints: []trial.Constraint{{Outcome: "cost", Max: some(2)}, {Outcome: "accuracy", Min: some(0.8)}}}
	for _, c := range []struct {
		o    trial.Outcome
		want string
	}{
		{trial.Outcome{}, "its loss is not known"},
		{trial.Outcome{Loss: some(0.6)}, "loss 0.6, above 0.5"},
		{trial.Outcome{Loss: some(0.6), Reached: some(1), Cost: some(3)}, "cost 3, above 2"},
		{trial.Outcome{Loss: some(0.5), Cost: some(2), Accuracy: some(0.7)}, "accuracy 0.7, below 0.8"},
		{trial.Outcome{Loss: some(0.5), Cost: some(2), Accuracy: some(0.8)}, "its time_to_loss is not known"},
	} {
		if got := violated(u, &c.o); got != c.want {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
}
