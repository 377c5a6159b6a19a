package tuning

import (
	"math"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// TestFixed compares a job that was tuned while it trained with the same job at constant settings, replicate by
// replicate.
func TestFixed(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Replicates = 3
	for _, mode := range []string{"", trial.Online, trial.Unchanged} {
		trial.Asked.Set(&e.Plan, append(trial.Asked.Of(&e.Plan), trial.Tuning{
			Name: "t", Job: "j", Hardware: "h", Objective: "time", Mode: mode,
			Settings: []trial.TunedSetting{{Name: "n", Values: []string{"1", "2", "4"}, Numeric: true, Initial: "1"}},
		}))
	}
	loss := 0.5
	try := func(tuning, replicate int, n string, time float64) {
		e.Beyond = append(e.Beyond, record.Cell{
			CellRef: record.CellRef{Replicate: replicate, Beyond: record.NewFeatureValue(&trial.Ref{
				Tuning: tuning, Number: 1, Settings: []record.Setting{{Name: "n", Value: n}},
			})},
			Outcome: record.NewFeatureValue(&trial.Outcome{Time: time, Units: 1, Loss: &loss}),
		})
	}
	for r, machine := range []float64{1, 2, 4} { // each replicate is on a slower machine
		try(0, r+1, "1", 40*machine)
		try(0, r+1, "2", 20*machine)
		try(0, r+1, "4", 20.2*machine)
		try(1, r+1, "1", 22*machine)
		try(2, r+1, "1", 40*machine)
	}
	a, ok := Fixed(e, 1)
	if !ok || a.Settings != "n=2" || a.Measured != 3 || a.Runs != 3 {
		t.Fatalf("%+v, %v", a, ok)
	}
	for what, got := range map[string][2]float64{
		"ratio": {a.Ratio, 1.1}, "low": {a.Low, 1.1}, "high": {a.High, 1.1}, "initial": {a.Initial, 0.55}, "best": {a.Best,
			140.0 / 3},
	} {
		if math.Abs(got[0]-got[1]) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got[0], got[1])
		}
	}
	for _, i := range []int{0, 2} {
		if a, ok := Fixed(e, i); ok {
			t.Errorf("tuning %d changes no job, and comes to %+v", i, a)
		}
	}
	// A failed trial does not count. If no trial has the settings of the unchanged job, the job itself is their run.
	other := *e
	other.Beyond = append(slices.Clone(e.Beyond), record.Cell{CellRef: record.CellRef{Replicate: 1, Beyond: e.Beyond[1].Beyond}})
	if again, ok := Fixed(&other, 1); !ok || again != a {
		t.Errorf("with a trial that failed: %+v, %v", again, ok)
	}
	other.Beyond = slices.DeleteFunc(slices.Clone(e.Beyond), func(c record.Cell) bool {
		of := record.FeatureValueOf[trial.Ref](c.Beyond)
		return of.Tuning == 0 && of.Settings[0].Value == "1"
	})
	if again, ok := Fixed(&other, 1); !ok || again != a {
		t.Errorf("by the job as it is: %+v, %v", again, ok)
	}
	if names := Without(e, 0); names != nil {
		t.Errorf("%v made a difference", names)
	}
	for i, c := range trial.Cells(e) {
		if time, ok := map[int]float64{0: 20, 5: 40, 10: 80}[i]; ok {
			c.Outcome.Time = time
		}
	}
	if names := Without(e, 0); len(names) != 1 || names[0] != "n" {
		t.Errorf("%v made no difference, want n", names)
	}
}

// The mean of objectives is the same each time, although a sum of floating-point numbers depends on the order.
func TestMeanOfIsRepeatable(t *testing.T) {
	by := map[int]float64{}
	for r := range 20 {
		by[r+1] = math.Pow(-10, float64(r))
	}
	want := meanOf(by)
	for range 50 {
		if got := meanOf(by); got != want {
			t.Fatalf("%v, then %v", want, got)
		}
	}
}

// Three runs of one replicate with the same settings count as their mean.
func TestRunsOfOneReplicate(t *testing.T) {
	f := newFixedRuns()
	for _, v := range []float64{1, 2, 9} {
		f.add("n=1", 1, v)
	}
	if f.add("n=2", 1, 7); f.of["n=1"][1] != 4 || f.of["n=2"][1] != 7 || len(f.order) != 2 {
		t.Errorf("%v", f.of)
	}
}
