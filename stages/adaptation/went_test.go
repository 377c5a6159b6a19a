package adaptation

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/steering"
)

// training writes a folder like a real training's: two epochs of 10 steps, with a decision after the first.
func training(t *testing.T, cell record.Cell, log string) string {
	t.Helper()
	dir := t.TempDir()
	row := steering.Row{Job: "net-1", Used: 1.05, Left: 1.95, Probabilities: "0.25 0.75", AccuracyBefore: .5,
		AccuracyAfter: .6}
	leave(t, dir, cell, log, row)
	return dir
}

// leave is training with other decisions.
func leave(t *testing.T, dir string, cell record.Cell, log string, decisions ...steering.Row) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	w, err := record.Progress.Live(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(record.ProgressRow{At: 1.1, Job: "net-1", Epoch: 1, Step: 10, Loss: nan, Accuracy: .5, Seconds: 1, Used: 1,
		Left: 2, TimeLeft: 1.99})
	w.Add(record.ProgressRow{At: 2.1, Job: "net-1", Epoch: 2, Step: 20, Loss: nan, Accuracy: .6, Seconds: 2, Used: 2,
		Left: 1, TimeLeft: 1.02})
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rows := append([]steering.Row{{Job: "net-1", Reason: "it only arrived"}}, decisions...)
	if _, err := steering.Decisions.Write(dir, rows); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, record.LogsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.LogsDir, "net-1.log"), []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(&cell)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.CellFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

const log = `{"tfexp":{"deepened":{"block":1,"layers":2,"accuracy_before":0.5,"accuracy_after":0.5,"seconds":0.25}}}
{"tfexp":{"final_accuracy":0.625,"trained":3.004}}
`

func finished(accuracy float64) record.Cell {
	c := record.Cell{State: record.CellFinished}
	c.Metrics.Set(measure.FinalAccuracy, accuracy)
	return c
}

func TestHowATrainingWent(t *testing.T) {
	got, err := readCourse(training(t, finished(.625), log))
	if err != nil {
		t.Fatal(err)
	}
	want := deepening.RealTraining{
		Decided: []float64{1.05}, Times: []float64{1, 2}, Accuracies: []float64{.5, .6}, Accuracy: .625, Trained: 3.004,
		Step: .15,
		Told: []float64{-.01, .02}, Deepening: []float64{.25},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := readCourse(t.TempDir()); err == nil {
		t.Error("a folder without a training is read without an error")
	}
}

// The choices of a controller are read back from the decisions, and compared with the same sequence of the
// table.
func TestChosen(t *testing.T) {
	tr := &trainer{trainingPlace: trainingPlace{Study: &deepening.Study{
		Real:   &deepening.RealTrainings{Decisions: 1, Blocks: 1},
		Tables: []*deepening.OutcomeTable{{Name: "grows", Decisions: 1, Actions: 2, Accuracy: []float64{.4, .6}}},
	}}}
	out, err := readTraining(training(t, finished(.625), log))
	if err != nil {
		t.Fatal(err)
	}
	c := tr.realDecisions(&deepening.Controller{Name: "agent"}, "grows", 2, 0, out)
	if c.Accuracy != .625 || c.Recorded != .6 || c.Seed != 2 || deepening.FormatSequence(c.Actions()) != "1" ||
		c.Decisions[0].TimeLeft != 1.95 ||
		c.Decisions[0].Before != .5 || c.Decisions[0].After != .6 {
		t.Errorf("%+v", c)
	}
	if c := tr.realDecisions(&deepening.Controller{Name: "agent"}, "unknown", 1, 0, out); !math.IsNaN(c.Recorded) {
		t.Errorf("in a scenario without a table: %+v", c)
	}
}

// A training that failed, or whose program reported no accuracy, is reported.
func TestTrainingsWithoutAnAccuracy(t *testing.T) {
	for want, cell := range map[string]record.Cell{
		"its program reported no accuracy": finished(math.NaN()),
		"exit status 3": {State: record.CellFailed,
			Failures: []measure.Failure{{Reason: "exit status 3"}}},
		"no such container": {State: record.CellFailed, Error: "no such container",
			Failures: []measure.Failure{{Reason: "exit status 4"}}},
	} {
		out, err := readTraining(training(t, cell, log))
		if err != nil || out.problem != want {
			t.Errorf("problem %q, %v; want %q", out.problem, err, want)
		}
	}
}

// In a row of the table, the time left is 0 for decisions after the end of the budget.
func TestRows(t *testing.T) {
	tr := &trainer{trainingPlace: trainingPlace{Study: &deepening.Study{Real: &deepening.RealTrainings{Decisions: 2,
		Blocks: 1, Budget: 3e9}}}}
	out := &trainingResult{accuracy: .625, rows: []steering.Row{{Left: 1.5, Probabilities: "1 0"}}}
	if got, want := tr.row(`a "b"`, 2, out), "\"a \"\"b\"\"\",1,0,1.5000,0.0000,3,0.625\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fileName("früh/1 a_b-C zAZ09"); got != "fr_h_1_a_b-C_zAZ09" {
		t.Error(got)
	}
}

// TestFailedTrainingsAreTriedAgain: only a training that finished counts as done.
func TestFailedTrainingsAreTriedAgain(t *testing.T) {
	for state, want := range map[string]bool{record.CellFinished: true, record.CellFailed: false} {
		dir := training(t, record.Cell{State: state}, log)
		if err := os.WriteFile(filepath.Join(dir, keyFile), []byte("key"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := complete(dir, "key"); got != want {
			t.Errorf("a training that %s: complete is %v", state, got)
		}
		if complete(dir, "another") {
			t.Errorf("a training that %s is taken for another", state)
		}
	}
}
