package record

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/tell"
)

// fill gives each field of a row another value.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), next)
			}
		}
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.25)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(*next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("a, \"text\" " + strings.Repeat("x", *next%7))
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]float64]() {
			v.Set(reflect.ValueOf([]float64{float64(*next), 0.5}))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	}
}

// comesBack writes rows of a table and reads them again.
func comesBack[T any](t *testing.T, table *tell.Schema[T]) {
	t.Helper()
	dir := t.TempDir()
	rows := make([]T, 2) // one with values in all fields, one with none
	next := 0
	fill(reflect.ValueOf(&rows[0]).Elem(), &next)
	var written [2][]byte
	for i := range written {
		if _, err := table.Write(dir, rows); err != nil {
			t.Fatalf("%s: %v", table.File, err)
		}
		var err error
		if written[i], err = os.ReadFile(filepath.Join(dir, table.File)); err != nil {
			t.Fatal(err)
		}
		if rows, err = table.Read(dir); err != nil || len(rows) != 2 {
			t.Fatalf("%s: %d rows, %v", table.File, len(rows), err)
		}
	}
	if string(written[0]) != string(written[1]) {
		t.Errorf("%s: what was\n%scomes back as\n%s", table.File, written[0], written[1])
	}
	if line, _, _ := strings.Cut(string(written[0][strings.IndexByte(string(written[0]), '\n')+1:]), "\n"); strings.Contains(line, ",,") {
		t.Errorf("%s: a field is empty though all values are known: %s", table.File, line)
	}
}

// Every table reads what it writes.
func TestRowsComeBack(t *testing.T) {
	comesBack(t, Courses)
	comesBack(t, Ranking)
	comesBack(t, Choices)
	comesBack(t, Sequences)
	comesBack(t, Lessons)
	comesBack(t, Trainings)
	comesBack(t, Containers)
	comesBack(t, GPUs)
	comesBack(t, Progress)
	comesBack(t, Remaining)
	comesBack(t, Servers)
	comesBack(t, Timings)
	comesBack(t, Estimates)
	comesBack(t, Samples)
	comesBack(t, Accuracy)
	comesBack(t, Profiling)
	comesBack(t, Comparisons)
	comesBack(t, Fidelity)
	comesBack(t, FidelityJobs)
	comesBack(t, FidelityDecisions)
	comesBack(t, Occupancy)
	comesBack(t, Trials)
	comesBack(t, Tunings)
	comesBack(t, Controls)
	comesBack(t, Jobs)
}

// Unknown memory of a GPU is an empty field, none is 0.
func TestMemoryOfGPUs(t *testing.T) {
	for _, memory := range []int64{-1, 0, 5} {
		row := GPURow{Memory: memory}
		raw, err := GPUs.Marshal(&row)
		if err != nil {
			t.Fatal(err)
		}
		var back GPURow
		if err := GPUs.Unmarshal(raw, &back); err != nil || back.Memory != memory {
			t.Errorf("%d comes back as %d from %s: %v", memory, back.Memory, raw, err)
		}
	}
}

func known(v float64) *float64 { return &v }

// What a trial is worth, whether it counts and how it is compared.
func TestTrialsByTheirObjective(t *testing.T) {
	nan := math.NaN()
	full := TrialOutcome{Time: 20, Units: 10, Loss: known(0.5), Accuracy: known(0.8), Cost: known(3), Reached: known(12)}
	bare := TrialOutcome{Time: 20}
	crashed := full
	crashed.Crashed = "out of memory"
	low, high := known(0.5), known(0.8)
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
		{Tuning{Objective: "time_to_loss", Target: low}, 12, 20, true, false, 1},
		{Tuning{Objective: "time_to_accuracy", Target: high}, 12, 20, true, false, 1},
		{Tuning{Objective: "nothing"}, nan, nan, false, false, 0},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "loss", Max: known(0.5)}}}, 20, 20, true, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "loss", Max: known(0.49)}}}, 20, 20, false, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "accuracy", Min: known(0.8)}}}, 20, 20, true, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "accuracy", Min: known(0.81)}}}, 20, 20, false, false, 1},
		{Tuning{Objective: "time", Constraints: []Constraint{{Outcome: "cost", Min: known(1), Max: known(2)}}}, 20, 20, false, false, 1},
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
	// A trial that got to its target and lost it again keeps it; the others must end there.
	u := &Tuning{Objective: "time_to_loss", Target: low}
	lost := TrialOutcome{Time: 20, Loss: known(0.6), Reached: known(5)}
	if !u.Feasible(&lost) {
		t.Error("a target that was reached is lost")
	}
	if lost.Reached = nil; u.Feasible(&lost) {
		t.Error("a target that was not reached is kept")
	}
	for loss, want := range map[float64]bool{0.5: true, 0.4: true, 0.51: false} {
		o := &TrialOutcome{Time: 7, Loss: known(loss)}
		if got := u.Reach(o); (got.Reached != nil) != want || want && *got.Reached != 7 {
			t.Errorf("a loss of %g: %+v", loss, got)
		}
	}
	a := &Tuning{Objective: "time_to_accuracy", Target: high}
	for accuracy, want := range map[float64]bool{0.8: true, 0.9: true, 0.79: false} {
		if got := a.Reach(&TrialOutcome{Time: 7, Accuracy: known(accuracy)}); (got.Reached != nil) != want {
			t.Errorf("an accuracy of %g: %+v", accuracy, got)
		}
	}
	for _, o := range []*TrialOutcome{{Time: 7, Loss: known(0.1), Crashed: "x"}, {Time: 7, Loss: known(0.1), Reached: known(3)}} {
		if u.Reach(o) != o {
			t.Errorf("%+v changes", o)
		}
	}
	plain := &Tuning{Objective: "time"}
	if o := (&TrialOutcome{Loss: known(0)}); plain.Reach(o) != o {
		t.Error("without a target something is reached")
	}
	// Contexts have goals.
	u.Settings = []TunedSetting{{Name: "data", Context: true, Goal: "all"}, {Name: "lr", Goal: "x"}}
	for data, want := range map[string]bool{"all": true, "half": false} {
		if u.Counts([]Setting{{Name: "lr", Value: "1"}, {Name: "data", Value: data}}) != want {
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

// Actual times of runs before stay with the estimates of the same job, model and place, as long as these say the same.
func TestActualTimesStay(t *testing.T) {
	dir := t.TempDir()
	row := EstimateRow{Job: "j", Hardware: "h", Model: "linear", Threads: 2, GPUs: 1, Predicted: 10, Actual: 8, Runs: 3}
	if err := ReplaceEstimates(dir, []EstimateRow{row}); err != nil {
		t.Fatal(err)
	}
	read, err := Estimates.Read(dir)
	if err != nil || len(read) != 1 || read[0].ErrorPct != 25 {
		t.Fatalf("%+v, %v", read, err)
	}
	for name, change := range map[string]func(*EstimateRow){
		"":         func(*EstimateRow) {},
		"job":      func(r *EstimateRow) { r.Job = "k" },
		"hardware": func(r *EstimateRow) { r.Hardware = "k" },
		"model":    func(r *EstimateRow) { r.Model = "k" },
		"threads":  func(r *EstimateRow) { r.Threads = 1 },
		"GPUs":     func(r *EstimateRow) { r.GPUs = 0 },
		"axes":     func(r *EstimateRow) { r.Axes = "k" },
	} {
		other := row
		if change(&other); other.estimates(row) != (name == "") {
			t.Errorf("rows that differ by %q are of one estimate: %v", name, other.estimates(row))
		}
	}
	for _, r := range []EstimateRow{{Predicted: 1, Actual: -1}, {Predicted: -1, Actual: 1}, {Predicted: 1}} {
		rows := []EstimateRow{r}
		if err := ReplaceEstimates(dir, rows); err != nil || !math.IsNaN(rows[0].ErrorPct) {
			t.Errorf("%+v has an error: %v", rows[0], err)
		}
	}
}

// What disturbed a cell.
func TestDisturbedCells(t *testing.T) {
	for code, want := range map[string][2]bool{Disturbed: {true, true}, BusyMachine: {true, false}, "other": {false, false}} {
		c := Cell{Warnings: []Warning{{Code: "first"}, {Code: code}}}
		if got := [2]bool{c.Troubled(), c.Paused()}; got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}

// What a saturated cell is warned of, by what is known of it.
func TestSaturationInWords(t *testing.T) {
	for _, c := range []struct {
		load   measure.Load
		closed float64
		want   string
	}{
		{measure.Load{Offered: 2}, 0, ""},
		{measure.Load{Saturated: true, Offered: 2}, 5, "when the cell was closed"},
		{measure.Load{Saturated: true, Offered: 1.05, Queued: 3}, 0, "arrive 1.1 times as fast"},
		{measure.Load{Saturated: true, Offered: 1.04, Queued: 3}, 0, "3 jobs still waited"},
		{measure.Load{Saturated: true, Offered: math.NaN()}, 0, "faster than this policy"},
	} {
		cell := Cell{Load: c.load, Closed: c.closed}
		if w, ok := cell.saturation(); ok != (c.want != "") || !strings.Contains(w.Text, c.want) {
			t.Errorf("%+v: %v, %q", c, ok, w.Text)
		}
	}
	if got := (RemainingRow{Predicted: 4, PredictedSeconds: 10}).Seconds(2); got != 5 {
		t.Errorf("2 of 4 units that take 10 s are %g s", got)
	}
	if got := (RemainingRow{}).Seconds(math.NaN()); got != math.MaxFloat64 {
		t.Errorf("units without an end are %g s", got)
	}
	names := ColumnNames()
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%s is there twice", n)
		}
		seen[n] = true
	}
	if !seen["job"] || !seen["mean_jct_s"] || !seen["cell"] {
		t.Errorf("columns %v", names)
	}
}
