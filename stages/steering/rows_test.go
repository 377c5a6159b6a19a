package steering

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfexp/tfexp/results/record"
)

// Decisions are read back from the folder of their cell. Unknown values stay unknown.
func TestDecisions(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir()}
	dir := filepath.Join(e.Dir, record.CellsDir, "c")
	if rows, err := Decisions.Read(e.Dir, record.CellsDir, "c"); rows != nil || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := Decisions.Write(dir, nil); err == nil {
		t.Error("a table in no folder")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	rows := []Row{{At: 1.5, Job: "j", Controller: "tuner", Epoch: 2, Step: 3, Loss: 4, Accuracy: 5, Used: 6, Left: 7, Threads: 8,
		GPUs: 9, Settings: "a=1 b=2", After: "a=2", Action: "change", How: "restart", Expectation: Expectation{10, 11, 12, 13, 14, 0.5},
		ActualRemaining: 15, ActualGain: 16, ActualCost: 17, Took: "yes", Probabilities: "0.1 0.9",
		AccuracyBefore: 18, AccuracyAfter: 19, Reason: `it "pays", says the model`},
		{At: 2, Job: "k", Loss: nan, Accuracy: nan, Used: nan, Left: nan, Expectation: Expectation{nan, nan, nan, nan, nan, nan},
			ActualRemaining: nan, ActualGain: -1, ActualCost: nan, AccuracyBefore: nan, AccuracyAfter: nan}}
	file, err := Decisions.Write(dir, rows)
	info, serr := os.Stat(filepath.Join(dir, Decisions.File))
	if err := errors.Join(err, serr); err != nil || file.Name != Decisions.File || file.Size != info.Size() {
		t.Errorf("%+v, %v", file, err)
	}
	of, err := Decisions.Read(e.Dir, record.CellsDir, "c")
	in, err2 := Decisions.Read(dir)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows, of, cmpopts.EquateNaNs()) + cmp.Diff(rows, in, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
}
