package trial

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/results/record"
)

// searched is a tuning with a setting of each kind.
func searched() *Tuning {
	return &Tuning{Name: "t", Method: "bo", Hardware: "h", Job: "j", Objective: "time", Trials: 9, Start: 2, Settings: []TunedSetting{
		{Name: "opt", Values: []string{"sgd", "adam"}, Initial: "adam"},
		{Name: "batch", Values: []string{"16", "32.0", "128"}, Numeric: true, Log: true, Initial: "32"},
		{Name: "layers", Min: 1, Max: 5, Integer: true, Initial: "3"},
		{Name: "lr", Min: 0.001, Max: 0.1, Log: true, Initial: "0.01"},
	}}
}

// Settings become points, and points become settings as the file writes them.
func TestPoints(t *testing.T) {
	u := searched()
	for _, values := range [][]string{{"sgd", "16", "1", "0.001"}, {"adam", "32.0", "4", "0.05"}, {"adam", "128", "5", "0.1"}} {
		at, err := PointOf(u, Space(u), values)
		if err != nil {
			t.Fatal(err)
		}
		if got := Values(u, at); !cmp.Equal(got, values) {
			t.Errorf("%q comes back as %q", values, got)
		}
	}
	at, _ := PointOf(u, Space(u), []string{"adam", "32", "4", "0.01"})
	if at[0] != 1 {
		t.Errorf("the point is %v", at)
	}
	// A value between two numbers of a list becomes the nearest of them, on the scale of the setting.
	for v, want := range map[string]string{"17": "16", "22": "16", "23": "32.0", "60": "32.0", "70": "128", "1000": "128"} {
		at, err := PointOf(u, Space(u), []string{"sgd", v, "1", "0.001"})
		if err != nil {
			t.Fatal(err)
		}
		if got := Values(u, at)[1]; got != want {
			t.Errorf("%s is %s, want %s", v, got, want)
		}
	}
	for _, c := range [][]string{{"rmsprop", "16", "1", "0.1"}, {"sgd", "many", "1", "0.1"}, {"sgd", "16", "", "0.1"}} {
		if at, err := PointOf(u, Space(u), c); err == nil {
			t.Errorf("%q is the point %v", c, at)
		}
	}
	if _, err := Point(u, []record.Setting{{Name: "lr", Value: "0.1"}, {Name: "opt", Value: "sgd"}}); err == nil {
		t.Error("settings that lack some are a point")
	}
	one, err := Point(u, []record.Setting{{Name: "lr", Value: "0.1"}, {Name: "layers", Value: "2"}, {Name: "opt", Value: "sgd"}, {Name: "batch", Value: "16"}})
	other, err2 := PointOf(u, Space(u), []string{"sgd", "16", "2", "0.1"})
	if err != nil || err2 != nil || !cmp.Equal(one, other) {
		t.Errorf("%v and %v", one, other)
	}
}

// TestProblem: a method receives the space, the allowed settings, the bounds with their scales, and the starting
// point.
func TestProblem(t *testing.T) {
	u := searched()
	u.Target, u.Objective = some(0.9), "time_to_accuracy"
	u.Constraints = []Constraint{{Outcome: "loss", Max: some(0.5)}, {Outcome: "cost", Min: some(1), Max: some(2)}}
	u.BestSettings = []record.Setting{{Name: "opt", Value: "sgd"}, {Name: "batch", Value: "16"}, {Name: "layers", Value: "1"}, {Name: "lr", Value: "0.1"}}
	u.PerCost = true
	p := Problem(u, [][]string{{"sgd", "16", "1", "0.1"}, {"nobody's", "16", "1", "0.1"}, {"adam", "128", "2", "0.01"}}, 7)
	if len(p.Space) != 4 || p.Start != 2 || p.Trials != 9 || p.Seed != 7 || !p.PerCost || len(p.Candidates) != 2 {
		t.Errorf("%+v", p)
	}
	var limits []string
	for _, l := range p.Limits {
		limits = append(limits, fmt.Sprint(l.Bound, l.AtLeast, l.Scale))
	}
	want := []string{fmt.Sprint(0.9, true, surrogate.LogGap), fmt.Sprint(0.5, false, surrogate.Log),
		fmt.Sprint(1, true, surrogate.Log), fmt.Sprint(2, false, surrogate.Log)}
	if d := cmp.Diff(want, limits); d != "" {
		t.Error(d)
	}
	if got := Values(u, p.Initial); !cmp.Equal(got, []string{"adam", "32.0", "3", "0.01"}) {
		t.Errorf("it begins at %q", got)
	}
	if got := Values(u, p.Best); !cmp.Equal(got, []string{"sgd", "16", "1", "0.1"}) {
		t.Errorf("the best is at %q", got)
	}
	if p := Problem(searched(), nil, 7); p.Candidates != nil || p.Best != nil || p.Limits != nil {
		t.Errorf("%+v", p)
	}
	d := dimension(&TunedSetting{Name: "part", Values: []string{"1", "4"}, Numeric: true, Context: true, Goal: "4", Log: true})
	if !d.Context || math.Abs(d.Goal-d.Coordinate(4)) > 1e-12 || d.Goal == d.Coordinate(1) {
		t.Errorf("%+v", d)
	}
}

// A trial with all needed outcomes is done; a trial without one of them counts as crashed. A trial that reached its
// target keeps the bound, even if its last value does not.
func TestTrial(t *testing.T) {
	u := searched()
	u.Objective, u.Target = "time_to_loss", some(0.5)
	u.Constraints = []Constraint{{Outcome: "cost", Min: some(1), Max: some(3)}}
	v := searched()
	v.Objective, v.Target = "time_to_accuracy", some(0.9)
	for _, c := range []struct {
		name string
		t    *Tuning
		o    Outcome
		want string
	}{
		{"all", u, Outcome{Time: 9, Loss: some(0.4), Cost: some(2)}, "9, cost 2, done [0.4 2 2]"},
		{"not reached", u, Outcome{Time: 9, Loss: some(0.6), Cost: some(2)}, "9, cost 2, done [0.6 2 2]"},
		{"lost again", u, Outcome{Time: 9, Loss: some(0.6), Cost: some(2), Reached: some(4)}, "4, cost 2, done [0.5 2 2]"},
		{"below", u, Outcome{Time: 9, Loss: some(0.3), Cost: some(2), Reached: some(4)}, "4, cost 2, done [0.3 2 2]"},
		{"no cost", u, Outcome{Time: 9, Loss: some(0.4)}, "9, cost 9, crashed [0.4]"},
		{"crashed", u, Outcome{Time: 9, Loss: some(0.4), Cost: some(2), Crashed: "out of memory"}, "0, cost 0, crashed []"},
		{"accuracy lost again", v, Outcome{Time: 9, Accuracy: some(0.8), Reached: some(4)}, "4, cost 9, done [0.9]"},
		{"accuracy above", v, Outcome{Time: 9, Accuracy: some(0.95), Reached: some(4)}, "4, cost 9, done [0.95]"},
		{"accuracy", v, Outcome{Time: 9, Accuracy: some(0.8)}, "9, cost 9, done [0.8]"},
		{"no value", &Tuning{Objective: "loss"}, Outcome{Time: 9}, "0, cost 0, crashed []"},
	} {
		got := ForModel(c.t, []float64{1}, &c.o)
		state := map[surrogate.State]string{surrogate.Done: "done", surrogate.Crashed: "crashed"}[got.State]
		if text := fmt.Sprintf("%g, cost %g, %s %v", got.Objective, got.Cost, state, got.Limited); text != c.want || got.At[0] != 1 {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// For methods, smaller values are better. Values convert back to the objective's unit.
func TestModelled(t *testing.T) {
	for _, c := range []struct {
		objective      string
		value, modeled float64
	}{{"time", 3, 3}, {"throughput", 4, 0.25}, {"accuracy", 0.75, 0.25}, {"accuracy", 92, -91}, {"loss", 2, 2}} {
		u := &Tuning{Objective: c.objective}
		if got := Modelled(u, c.value); got != c.modeled || Natural(u, got) != c.value {
			t.Errorf("%s %g: %g and back %g", c.objective, c.value, got, Natural(u, got))
		}
	}
	if got := Modelled(&Tuning{Objective: "accuracy"}, 1); got != 1e-6 {
		t.Errorf("an accuracy of 1 is %g", got)
	}
}

func some(v float64) *float64 { return &v }

// Drawn numbers are rounded to few digits, and stay within their range.
func TestDrawnNumbersAreShort(t *testing.T) {
	for _, c := range []struct {
		min, max float64
		log      bool
		value    float64
		want     string
	}{
		{0.0001, 1, true, 0.0209871234, "0.021"}, {1e-5, 1, true, 0.0000203123, "2.03e-05"}, {0.0001, 1, true, 0.99999, "1"},
		{0, 1, false, 0.123456, "0.123"}, {0, 1, false, 0.00012, "0.0001"}, {1000, 1001, false, 1000.123456, "1000.123"},
		{-5, 5, false, -1.23456, "-1.23"}, {0.1, 0.90001, false, 0.900009, "0.9"}, {0.12345, 1, false, 0.12345, "0.12345"}, {0, 1e9, false, 123456789, "1.23e+08"},
		{0, 1, false, 0, "0"},
	} {
		if got := rounded(c.value, surrogate.Dimension{Min: c.min, Max: c.max, Log: c.log}); got != c.want {
			t.Errorf("%g within %g to %g: %s, want %s", c.value, c.min, c.max, got, c.want)
		}
	}
}
