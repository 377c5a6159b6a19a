package tuning

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/results/record"
)

// searched has a setting of each kind.
func searched() *record.Tuning {
	return &record.Tuning{Name: "t", Method: "bo", Hardware: "h", Job: "j", Objective: "time", Trials: 9, Start: 2, Settings: []record.TunedSetting{
		{Name: "opt", Values: []string{"sgd", "adam"}, Initial: "adam"},
		{Name: "batch", Values: []string{"16", "32.0", "128"}, Numeric: true, Log: true, Initial: "32"},
		{Name: "layers", Min: 1, Max: 5, Integer: true, Initial: "3"},
		{Name: "lr", Min: 0.001, Max: 0.1, Log: true, Initial: "0.01"},
	}}
}

// Points stand for settings and come back as they are written in the file.
func TestPoints(t *testing.T) {
	u := searched()
	for _, values := range [][]string{{"sgd", "16", "1", "0.001"}, {"adam", "32.0", "4", "0.05"}, {"adam", "128", "5", "0.1"}} {
		at, err := PointOf(u, values)
		if err != nil {
			t.Fatal(err)
		}
		if got := Values(u, at); !cmp.Equal(got, values) {
			t.Errorf("%q comes back as %q", values, got)
		}
	}
	at, _ := PointOf(u, []string{"adam", "32", "4", "0.01"})
	if at[0] != 1 {
		t.Errorf("the point is %v", at)
	}
	// What lies between numbers of a list is the nearest of them on its own scale.
	for v, want := range map[string]string{"17": "16", "22": "16", "23": "32.0", "60": "32.0", "70": "128", "1000": "128"} {
		at, err := PointOf(u, []string{"sgd", v, "1", "0.001"})
		if err != nil {
			t.Fatal(err)
		}
		if got := Values(u, at)[1]; got != want {
			t.Errorf("%s is %s, want %s", v, got, want)
		}
	}
	for _, c := range [][]string{{"rmsprop", "16", "1", "0.1"}, {"sgd", "many", "1", "0.1"}, {"sgd", "16", "", "0.1"}} {
		if at, err := PointOf(u, c); err == nil {
			t.Errorf("%q is the point %v", c, at)
		}
	}
	if _, err := Point(u, []record.Setting{{Name: "lr", Value: "0.1"}, {Name: "opt", Value: "sgd"}}); err == nil {
		t.Error("settings that lack some are a point")
	}
	one, err := Point(u, []record.Setting{{Name: "lr", Value: "0.1"}, {Name: "layers", Value: "2"}, {Name: "opt", Value: "sgd"}, {Name: "batch", Value: "16"}})
	other, err2 := PointOf(u, []string{"sgd", "16", "2", "0.1"})
	if err != nil || err2 != nil || !cmp.Equal(one, other) {
		t.Errorf("%v and %v", one, other)
	}
}

// TestProblem: a method is given the space, what may be tried, the bounds with their scales, and where to begin.
func TestProblem(t *testing.T) {
	u := searched()
	u.Target, u.Objective = some(0.9), "time_to_accuracy"
	u.Constraints = []record.Constraint{{Outcome: "loss", Max: some(0.5)}, {Outcome: "cost", Min: some(1), Max: some(2)}}
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
	d := dimension(&record.TunedSetting{Name: "part", Values: []string{"1", "4"}, Numeric: true, Context: true, Goal: "4", Log: true})
	if !d.Context || math.Abs(d.Goal-d.Coordinate(4)) > 1e-12 || d.Goal == d.Coordinate(1) {
		t.Errorf("%+v", d)
	}
}

// A trial with all that is asked for is done; one that lacks something counts as crashed. What reached its target keeps
// the target's bound, though its last value does not.
func TestTrial(t *testing.T) {
	u := searched()
	u.Objective, u.Target = "time_to_loss", some(0.5)
	u.Constraints = []record.Constraint{{Outcome: "cost", Min: some(1), Max: some(3)}}
	v := searched()
	v.Objective, v.Target = "time_to_accuracy", some(0.9)
	for _, c := range []struct {
		name string
		t    *record.Tuning
		o    record.TrialOutcome
		want string
	}{
		{"all", u, record.TrialOutcome{Time: 9, Loss: some(0.4), Cost: some(2)}, "9, cost 2, done [0.4 2 2]"},
		{"not reached", u, record.TrialOutcome{Time: 9, Loss: some(0.6), Cost: some(2)}, "9, cost 2, done [0.6 2 2]"},
		{"lost again", u, record.TrialOutcome{Time: 9, Loss: some(0.6), Cost: some(2), Reached: some(4)}, "4, cost 2, done [0.5 2 2]"},
		{"below", u, record.TrialOutcome{Time: 9, Loss: some(0.3), Cost: some(2), Reached: some(4)}, "4, cost 2, done [0.3 2 2]"},
		{"no cost", u, record.TrialOutcome{Time: 9, Loss: some(0.4)}, "9, cost 9, crashed [0.4]"},
		{"crashed", u, record.TrialOutcome{Time: 9, Loss: some(0.4), Cost: some(2), Crashed: "out of memory"}, "0, cost 0, crashed []"},
		{"accuracy lost again", v, record.TrialOutcome{Time: 9, Accuracy: some(0.8), Reached: some(4)}, "4, cost 9, done [0.9]"},
		{"accuracy above", v, record.TrialOutcome{Time: 9, Accuracy: some(0.95), Reached: some(4)}, "4, cost 9, done [0.95]"},
		{"accuracy", v, record.TrialOutcome{Time: 9, Accuracy: some(0.8)}, "9, cost 9, done [0.8]"},
		{"no value", &record.Tuning{Objective: "loss"}, record.TrialOutcome{Time: 9}, "0, cost 0, crashed []"},
	} {
		got := Trial(c.t, []float64{1}, &c.o)
		state := map[surrogate.State]string{surrogate.Done: "done", surrogate.Crashed: "crashed"}[got.State]
		if text := fmt.Sprintf("%g, cost %g, %s %v", got.Objective, got.Cost, state, got.Limited); text != c.want || got.At[0] != 1 {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// Smaller is better to methods, and what they say is taken back.
func TestModelled(t *testing.T) {
	for _, c := range []struct {
		objective      string
		value, modeled float64
	}{{"time", 3, 3}, {"throughput", 4, 0.25}, {"accuracy", 0.75, 0.25}, {"accuracy", 92, -91}, {"loss", 2, 2}} {
		u := &record.Tuning{Objective: c.objective}
		if got := Modelled(u, c.value); got != c.modeled || Natural(u, got) != c.value {
			t.Errorf("%s %g: %g and back %g", c.objective, c.value, got, Natural(u, got))
		}
	}
	if got := Modelled(&record.Tuning{Objective: "accuracy"}, 1); got != 1e-6 {
		t.Errorf("an accuracy of 1 is %g", got)
	}
}

// TestRowsOfASearch follows two runs of a search by hand: the best is 10 s; a run reaches it at its third trial, after
// one that crashed and one above its bound; the other not at all.
func TestRowsOfASearch(t *testing.T) {
	u := record.Tuning{Name: "t", Method: "random", Hardware: "h", Job: "j", Objective: "time",
		Settings:    []record.TunedSetting{{Name: "n", Values: []string{"1", "2"}, Numeric: true}, {Name: "part", Values: []string{"0.5", "1"}, Numeric: true, Context: true, Goal: "1"}},
		Constraints: []record.Constraint{{Outcome: "cost", Max: some(5)}},
		Imported: []record.Imported{
			{Settings: []record.Setting{{Name: "n", Value: "1"}, {Name: "part", Value: "1"}}, Outcome: record.TrialOutcome{Time: 20, Cost: some(4)}},
			{Settings: []record.Setting{{Name: "n", Value: "1"}, {Name: "part", Value: "0.5"}}, Outcome: record.TrialOutcome{Time: 2, Cost: some(1)}},
		}}
	other := u
	other.Name = "u"
	e := &record.Experiment{Plan: record.Plan{Replicates: 3, Tunings: []record.Tuning{u, other}}}
	try := func(replicate, number int, part string, o record.TrialOutcome) {
		e.Trials = append(e.Trials, record.Cell{Outcome: &o, CellRef: record.CellRef{Replicate: replicate, Cell: fmt.Sprint("c", number),
			Trial: &record.TrialRef{Number: number, Predicted: some(11), Settings: []record.Setting{{Name: "n", Value: "2"}, {Name: "part", Value: part}}}}})
	}
	try(1, 1, "1", record.TrialOutcome{Time: 3, Crashed: "out of memory"})
	try(1, 2, "1", record.TrialOutcome{Time: 9, Cost: some(6), Units: 3})
	try(1, 3, "1", record.TrialOutcome{Time: 11, Cost: some(5), Units: 2})
	try(1, 4, "0.5", record.TrialOutcome{Time: 1, Cost: some(1)})
	try(1, 5, "1", record.TrialOutcome{Time: 10, Cost: some(1)})
	try(2, 1, "1", record.TrialOutcome{Time: 15, Cost: some(2)})
	e.Trials = append(e.Trials, record.Cell{CellRef: record.CellRef{Replicate: 2, Trial: &record.TrialRef{}}}) // not known yet
	trials, tunings := Rows(e)
	var got []string
	for _, r := range trials {
		if r.Tuning == "t" {
			got = append(got, fmt.Sprintf("%d.%d %s: %g, best %g, behind %.4g%%, spent %g s %g, epoch %g, %s%s", r.Replicate, r.Trial, r.State,
				r.Objective, r.Best, r.RegretPct, r.SpentTime, r.SpentCost, r.Epoch, r.Settings, r.Reason))
		}
	}
	imported := func(r int) []string {
		return []string{fmt.Sprintf("%d.0 imported: 20, best 20, behind 100%%, spent 0 s 0, epoch NaN, n=1 part=1", r),
			fmt.Sprintf("%d.0 imported: 2, best 20, behind 100%%, spent 0 s 0, epoch NaN, n=1 part=0.5", r)}
	}
	want := append(imported(1),
		"1.1 crashed: NaN, best 20, behind 100%, spent 3 s 0, epoch NaN, n=2 part=1out of memory",
		"1.2 infeasible: 9, best 20, behind 100%, spent 12 s 6, epoch 3, n=2 part=1cost 6, above 5",
		"1.3 done: 11, best 11, behind 10%, spent 23 s 11, epoch 5.5, n=2 part=1",
		"1.4 partial: 1, best 11, behind 10%, spent 24 s 12, epoch NaN, n=2 part=0.5",
		"1.5 done: 10, best 10, behind 0%, spent 34 s 13, epoch NaN, n=2 part=1")
	want = append(append(want, imported(2)...), "2.1 done: 15, best 15, behind 50%, spent 15 s 2, epoch NaN, n=2 part=1")
	want = append(want, imported(3)...)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// Three runs need 3, ∞ and ∞ trials, find 10, 15 and 20, and spend 34, 15 and 0 s; the one that reached the best had spent 11.
	r := tunings[0]
	text := fmt.Sprintf("%d runs, %d trials, %d crashed, %d reached, median %g (%g to %g), found %g of %g, behind %.3g%%, spent %.4g s %g, %g to it",
		r.Runs, r.Trials, r.Crashed, r.Reached, r.Median, r.Low, r.High, r.Found, r.Best, r.RegretPct, r.SpentTime, r.SpentCost, r.CostToBest)
	const sum = "3 runs, 6 trials, 1 crashed, 1 reached, median NaN (3 to +Inf), found 15 of 10, behind 50%, spent 16.33 s 5, 11 to it"
	if text != sum || len(tunings) != 2 || !math.IsNaN(r.ToFixed) {
		t.Errorf("%s\nwant %s", text, sum)
	}
	if best := Best(e, &e.Plan.Tunings[1]); best != 20 {
		t.Errorf("without trials, the best is %g: the imported one", best)
	}
	e.Plan.Tunings[1].Mode = record.Online // to a job that is changed, imported trials are what is expected
	if best := Best(e, &e.Plan.Tunings[1]); !math.IsNaN(best) {
		t.Errorf("the best is %g", best)
	}
	if rows, _ := Rows(e); len(rows) != len(want) {
		t.Errorf("%d rows", len(rows))
	}
	e.Plan.Tunings[0].Best = some(8)
	if _, rows := Rows(e); rows[0].Best != 8 || rows[0].Reached != 0 {
		t.Errorf("%+v", rows[0])
	}
}

// A job that was changed while it trained has a row for each stretch.
func TestRowsOfStretches(t *testing.T) {
	o := &record.TrialOutcome{Time: 100, Loss: some(0.2), Stretches: []record.Stretch{
		{Settings: []record.Setting{{Name: "n", Value: "1"}}, From: 0, To: 30, Pace: 1.5, Loss: some(0.5), Remaining: some(80)},
		{Settings: []record.Setting{{Name: "n", Value: "2"}}, From: 30, To: 100, Cost: 2, Restart: true},
		{From: 100, To: 100, Ignored: "n"},
	}}
	var got []string
	for _, r := range stretches(record.TrialRow{Tuning: "t", Replicate: 3, Cell: "c"}, o) {
		got = append(got, fmt.Sprintf("%s%d %s %d %s: %g s, spent %g, loss %g, epoch %g, change %g, left %g of %g; %s %s", r.Tuning, r.Replicate, r.Cell,
			r.Trial, r.State, r.Time, r.SpentTime, r.Loss, r.Epoch, r.Change, r.Remaining, r.ActualRemaining, r.Settings, r.Reason))
	}
	want := []string{"t3 c 1 stretch: 30 s, spent 30, loss 0.5, epoch 1.5, change 0, left 80 of 100; n=1 ",
		"t3 c 2 stretch: 70 s, spent 100, loss NaN, epoch NaN, change 2, left NaN of 70; n=2 started anew",
		"t3 c 3 stretch: 0 s, spent 100, loss NaN, epoch NaN, change 0, left NaN of 0;  the program did not take on n: no other setting was tried"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(strings.ReplaceAll(d, "\u00a0", " "))
	}
	row := (&sums{t: &record.Tuning{Objective: "time"}, found: math.NaN()}).row(o, 1, true)
	if s := summary(&record.Tuning{Objective: "time"}, [][]record.TrialRow{append(stretches(row, o), row)}, 100); s.Trials != 1 || s.Reached != 0 {
		t.Errorf("stretches count as trials: %+v", s)
	}
}
