package trial

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// The value of a trial, whether the trial counts, and which of two trials is better.
func TestTrialsByTheirObjective(t *testing.T) {
	nan := math.NaN()
	full := Outcome{Time: 20, Units: 10, Loss: some(0.5), Accuracy: some(0.8), Cost: some(3), Reached: some(12)}
	bare := Outcome{Time: 20}
	crashed := full
	crashed.Crashed = "out of memory"
	low, high := some(0.5), some(0.8)
	for _, c := range []struct {
		tuning      Tuning
		full, bare  float64
		feasible    bool // with full
		higher      bool
		constraints int
	}{
		{Tuning{Objective: "time"}, 20, 20, true, false, 0},
		{Tuning{Objective: "loss"}, 0.5, nan, true, false, 0},
		{Tuning{Objective: "accuracy"}, 0.8, nan, true, true, 0},
		{Tuning{Objective: "cost"}, 3, nan, true, false, 0},
		{Tuning{Objective: "throughput"}, 0.5, nan, true, true, 0},
		{Tuning{Objective: "time_to_loss", Target: low}, 12, nan, true, false, 1},
		{Tuning{Objective: "time_to_accuracy", Target: high}, 12, nan, true, false, 1},
		{Tuning{Objective: "nothing"}, nan, nan, false, false, 0},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "loss", Max: some(0.5)}}}, 20, 20, true, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "loss", Max: some(0.49)}}}, 20, 20, false, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "accuracy", Min: some(0.8)}}}, 20, 20, true, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "accuracy", Min: some(0.81)}}}, 20, 20, false, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "cost", Min: some(1), Max: some(2)}}}, 20, 20, false, false, 1},
	} {
		u := &c.tuning
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if got := u.Value(&full); !same(got, c.full) {
			t.Errorf("%s: %g, want %g", u.Objective, got, c.full)
		}
		if got := u.Value(&bare); !same(got, c.bare) {
			t.Errorf("%s of a trial of which little is known: %g, want %g", u.Objective, got, c.bare)
		}
		if u.Feasible(&full) != c.feasible || u.Feasible(&crashed) {
			t.Errorf("%s %+v: feasible %v", u.Objective, u.Constraints, u.Feasible(&full))
		}
		if len(u.Constraints)+len(u.AllConstraints()) > 0 && u.Feasible(&bare) {
			t.Errorf("%s: a trial whose outcomes nobody knows keeps the constraints", u.Objective)
		}
		if u.Better(2, 1) != c.higher || u.Better(1, 2) == c.higher || u.Better(1, 1) {
			t.Errorf("%s: which is better", u.Objective)
		}
		if n := len(u.AllConstraints()); n != c.constraints {
			t.Errorf("%s: %d constraints", u.Objective, n)
		}
		ahead, behind := 1.0, 4.0
		if c.higher {
			ahead, behind = 4, 1
		}
		if r := u.Regret(behind, ahead); r != 3/ahead {
			t.Errorf("%s: a regret of %g", u.Objective, r)
		}
		if u.Regret(ahead, behind) != 0 || u.Regret(2, 2) != 0 {
			t.Errorf("%s: the best has a regret", u.Objective)
		}
	}
	// A trial that reached its target and lost it again counts as having reached it. A trial without a time of reaching
	// it must end at the target.
	u := &Tuning{Objective: "time_to_loss", Target: low}
	lost := Outcome{Time: 20, Loss: some(0.6), Reached: some(5)}
	if !u.Feasible(&lost) {
		t.Error("a target that was reached is lost")
	}
	if lost.Reached = nil; u.Feasible(&lost) {
		t.Error("a target that was not reached is kept")
	}
	for loss, want := range map[float64]bool{0.5: true, 0.4: true, 0.51: false} {
		o := &Outcome{Time: 7, Loss: some(loss)}
		if got := o.Reach(u.Aim()); (got.Reached != nil) != want || want && *got.Reached != 7 {
			t.Errorf("a loss of %g: %+v", loss, got)
		}
	}
	a := &Tuning{Objective: "time_to_accuracy", Target: high}
	for accuracy, want := range map[float64]bool{0.8: true, 0.9: true, 0.79: false} {
		if got := (&Outcome{Time: 7, Accuracy: some(accuracy)}).Reach(a.Aim()); (got.Reached != nil) != want {
			t.Errorf("an accuracy of %g: %+v", accuracy, got)
		}
	}
	for _, o := range []*Outcome{{Time: 7, Loss: some(0.1), Crashed: "x"}, {Time: 7, Loss: some(0.1), Reached: some(3)}} {
		if o.Reach(u.Aim()) != o {
			t.Errorf("%+v changes", o)
		}
	}
	plain := &Tuning{Objective: "time"}
	if o := (&Outcome{Loss: some(0)}); o.Reach(plain.Aim()) != o {
		t.Error("without a target something is reached")
	}
	// Contexts have goals.
	u.Settings = []TunedSetting{{Name: "data", Context: true, Goal: "all"}, {Name: "lr", Goal: "x"}}
	for data, want := range map[string]bool{"all": true, "half": false} {
		if u.Counts([]record.Setting{{Name: "lr", Value: "1"}, {Name: "data", Value: data}}) != want {
			t.Errorf("trials on %s count: %v", data, !want)
		}
	}
	for _, other := range []Tuning{{Name: "b"}, {Job: "b"}, {Hardware: "b"}, {Objective: "loss"}} {
		if (&Tuning{}).Same(&other) {
			t.Errorf("%+v is the same", other)
		}
	}
	if !u.Same(&Tuning{Objective: "time_to_loss"}) {
		t.Error("a tuning is not the same in another way")
	}
}

// The goal of a context is the greatest of its values, or its bound.
func TestGoals(t *testing.T) {
	for _, c := range []struct {
		s    TunedSetting
		want string
	}{
		{TunedSetting{Values: []string{"5", "10", "9"}}, "10"}, {TunedSetting{Values: []string{"1"}, Max: 4}, "1"},
		{TunedSetting{Max: 0.5}, "0.5"}, {TunedSetting{Values: []string{"5", "10"}, Goal: "5"}, "5"},
		{TunedSetting{Values: []string{"-2", "-1", "-3"}}, "-1"},
	} {
		c.s.Complete()
		if c.s.Goal != c.want || c.s.Initial != c.want {
			t.Errorf("%+v, want %s", c.s, c.want)
		}
	}
}
