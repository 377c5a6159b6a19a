package tuning

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// TestRowsOfASearch checks two runs of a search by hand. The best value is 10 s. One run reaches it at its third trial,
// after a crashed trial and one above its bound. The other run does not reach it.
func TestRowsOfASearch(t *testing.T) {
	u := trial.Tuning{Name: "t", Method: "random", Hardware: "h", Job: "j", Objective: "time",
		Settings:    []trial.TunedSetting{{Name: "n", Values: []string{"1", "2"}, Numeric: true}, {Name: "part", Values: []string{"0.5", "1"}, Numeric: true, Context: true, Goal: "1"}},
		Constraints: []trial.Constraint{{Outcome: "cost", Max: some(5)}},
		Imported: []trial.Imported{
			{Settings: []record.Setting{{Name: "n", Value: "1"}, {Name: "part", Value: "1"}}, Outcome: trial.Outcome{Time: 20, Cost: some(4)}},
			{Settings: []record.Setting{{Name: "n", Value: "1"}, {Name: "part", Value: "0.5"}}, Outcome: trial.Outcome{Time: 2, Cost: some(1)}},
		}}
	other := u
	other.Name = "u"
	all := []trial.Tuning{u, other}
	e := &record.Experiment{Plan: record.Plan{Replicates: 3}}
	trial.Asked.Set(&e.Plan, all)
	try := func(replicate, number int, part string, o trial.Outcome) {
		e.Beyond = append(e.Beyond, record.Cell{Outcome: record.NewFeatureValue(&o), CellRef: record.CellRef{Replicate: replicate, Cell: fmt.Sprint("c", number),
			Beyond: record.NewFeatureValue(&trial.Ref{Number: number, Predicted: some(11), Settings: []record.Setting{{Name: "n", Value: "2"}, {Name: "part", Value: part}}})}})
	}
	try(1, 1, "1", trial.Outcome{Time: 3, Crashed: "out of memory"})
	try(1, 2, "1", trial.Outcome{Time: 9, Cost: some(6), Units: 3})
	try(1, 3, "1", trial.Outcome{Time: 11, Cost: some(5), Units: 2})
	try(1, 4, "0.5", trial.Outcome{Time: 1, Cost: some(1)})
	try(1, 5, "1", trial.Outcome{Time: 10, Cost: some(1)})
	try(2, 1, "1", trial.Outcome{Time: 15, Cost: some(2)})
	// its outcome is not known yet
	e.Beyond = append(e.Beyond, record.Cell{CellRef: record.CellRef{Replicate: 2, Beyond: record.NewFeatureValue(&trial.Ref{})}})
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
	// Three runs need 3, ∞ and ∞ trials. They find 10, 15 and 20, and spend 34, 15 and 0 s. The run that reached the
	// best had spent 11 s until then.
	r := tunings[0]
	text := fmt.Sprintf("%d runs, %d trials, %d crashed, %d reached, median %g (%g to %g), found %g of %g, behind %.3g%%, spent %.4g s %g, %g to it",
		r.Runs, r.Trials, r.Crashed, r.Reached, r.Median, r.Low, r.High, r.Found, r.Best, r.RegretPct, r.SpentTime, r.SpentCost, r.CostToBest)
	const sum = "3 runs, 6 trials, 1 crashed, 1 reached, median NaN (3 to +Inf), found 15 of 10, behind 50%, spent 16.33 s 5, 11 to it"
	if text != sum || len(tunings) != 2 || !math.IsNaN(r.ToFixed) {
		t.Errorf("%s\nwant %s", text, sum)
	}
	if best := Best(e, &all[1]); best != 20 {
		t.Errorf("without trials, the best is %g: the imported one", best)
	}
	all[1].Mode = trial.Online // for a job that is tuned while it trains, imported trials are predictions
	if best := Best(e, &all[1]); !math.IsNaN(best) {
		t.Errorf("the best is %g", best)
	}
	if rows, _ := Rows(e); len(rows) != len(want) {
		t.Errorf("%d rows", len(rows))
	}
	all[0].Best = some(8)
	if _, rows := Rows(e); rows[0].Best != 8 || rows[0].Reached != 0 {
		t.Errorf("%+v", rows[0])
	}
}

// A job that was tuned while it trained has a row for each period between two changes.
func TestRowsOfStretches(t *testing.T) {
	o := &trial.Outcome{Time: 100, Loss: some(0.2), Stretches: []trial.Stretch{
		{Settings: []record.Setting{{Name: "n", Value: "1"}}, From: 0, To: 30, Pace: 1.5, Loss: some(0.5), Remaining: some(80)},
		{Settings: []record.Setting{{Name: "n", Value: "2"}}, From: 30, To: 100, Cost: 2, Restart: true},
		{From: 100, To: 100, Ignored: "n"},
	}}
	var got []string
	for _, r := range stretches(TrialRow{Tuning: "t", Replicate: 3, Cell: "c"}, o) {
		got = append(got, fmt.Sprintf("%s%d %s %d %s: %g s, spent %g, loss %g, epoch %g, change %g, left %g of %g; %s %s", r.Tuning, r.Replicate, r.Cell,
			r.Trial, r.State, r.Time, r.SpentTime, r.Loss, r.Epoch, r.Change, r.Remaining, r.ActualRemaining, r.Settings, r.Reason))
	}
	want := []string{"t3 c 1 stretch: 30 s, spent 30, loss 0.5, epoch 1.5, change 0, left 80 of 100; n=1 ",
		"t3 c 2 stretch: 70 s, spent 100, loss NaN, epoch NaN, change 2, left NaN of 70; n=2 restarted",
		"t3 c 3 stretch: 0 s, spent 100, loss NaN, epoch NaN, change 0, left NaN of 0;  the program did not adopt n, so no other setting was tried"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(strings.ReplaceAll(d, "\u00a0", " "))
	}
	row := (&sums{t: &trial.Tuning{Objective: "time"}, found: math.NaN()}).row(o, 1, true)
	if s := summary(&trial.Tuning{Objective: "time"}, [][]TrialRow{append(stretches(row, o), row)}, 100); s.Trials != 1 || s.Reached != 0 {
		t.Errorf("stretches count as trials: %+v", s)
	}
}

// The cost of a search is unknown until a trial has a cost; then it is the sum of the known costs.
func TestCostsThatAreNotKnown(t *testing.T) {
	s := &sums{t: &trial.Tuning{Objective: "time"}, best: math.NaN(), found: math.NaN()}
	first, second := s.row(&trial.Outcome{Time: 3}, 1, true), s.row(&trial.Outcome{Time: 3, Cost: some(2)}, 2, true)
	if !math.IsNaN(first.SpentCost) || second.SpentCost != 2 {
		t.Errorf("%g, then %g", first.SpentCost, second.SpentCost)
	}
}

// The note about a target has its value and the report that counts. If no trial reports the outcome, the text says so.
func TestTargetsInWords(t *testing.T) {
	search := &trial.Tuning{Objective: "time_to_accuracy", Target: some(0.75)}
	for got, want := range map[string]string{
		objectiveOf(search, 1.5): "an accuracy of 0.750 after 1.50 s",
		targetNote(search): "The time to accuracy is the service time at the first report of an accuracy of 0.750 or more; trials " +
			"without one come last.",
		targetNote(&trial.Tuning{Objective: "time"}):                 "",
		closest(search, &trial.Outcome{Accuracy: some(0.5)}, "lr=1"): "the nearest trial had accuracy 0.500 with lr=1",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if said := closest(search, &trial.Outcome{}, "lr=1"); !strings.Contains(said, "no trial reported an accuracy") {
		t.Error(said)
	}
}
