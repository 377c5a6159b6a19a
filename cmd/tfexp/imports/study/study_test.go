package study_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/cmd/tfexp/imports/study"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/scheduler/workload/runs"
)

func recorded(whole bool, seconds float64, cost, accuracy float64) runs.Run {
	d := time.Duration(seconds * float64(time.Second))
	return runs.Run{ID: "x", Duration: d, Whole: whole, Cost: cost, Accuracy: accuracy, Loss: math.NaN(),
		Points: []runs.Point{{At: d / 2, Step: 5, Loss: 0.5, Accuracy: math.NaN()}, {At: d, Step: 10, Loss: 0.25, Accuracy: accuracy}}}
}

// TestWrite: each recorded run becomes a cell with one job, which held its workers for the whole time. A run without
// its last step has failed. A second import replaces imported results, but no results of real runs.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	s := study.Study{Name: "s", Source: "runs/", Baseline: "one worker", Warnings: []string{"no prices"}, Version: "v1",
		Configurations: []study.Configuration{
			{Name: "one worker", Workers: 1, Runs: []runs.Run{recorded(true, 10, 1, 0.9), recorded(true, 12, 1.5, 0.8)}},
			{Name: "4/spot: a", Workers: 4, Runs: []runs.Run{recorded(true, 4, 2, 0.9), recorded(false, 3, 1, math.NaN()), recorded(true, 5, 2, 0.9)}},
		}}
	for range 2 {
		if err := study.Write(dir, s); err != nil {
			t.Fatal(err)
		}
	}
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range e.Cells {
		got = append(got, fmt.Sprintf("%s %s r%d on %d: %s, %g s, %g $", c.Cell, c.Policy, c.Replicate, c.Cores, c.State,
			measure.Makespan.Of(&c.Metrics), measure.Cost.Of(&c.Metrics)))
	}
	want := []string{"training-servers-one_worker-r1 one worker r1 on 1: finished, 10 s, 1 $",
		"training-servers-one_worker-r2 one worker r2 on 1: finished, 12 s, 1.5 $",
		"training-servers-4_spot__a-r1 4/spot: a r1 on 4: finished, 4 s, 2 $",
		"training-servers-4_spot__a-r2 4/spot: a r2 on 4: failed, 3 s, 1 $",
		"training-servers-4_spot__a-r3 4/spot: a r3 on 4: finished, 5 s, 2 $"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if e.Run.Failed != 1 || e.Run.Ran != 5 || len(e.Run.Warnings) != 1 || e.Plan.Replicates != 3 || len(e.Plan.Compares) != 3 ||
		e.Plan.Compares[0].Baseline != "one worker" {
		t.Errorf("%+v, %d replicates, %v", e.Run, e.Plan.Replicates, e.Plan.Compares)
	}
	for _, table := range []string{record.Jobs.File, record.Comparisons.File} {
		if _, err := os.Stat(filepath.Join(dir, table)); err != nil {
			t.Error(err)
		}
	}
	progress, err := record.Progress.ReadLive(e.Dir, record.CellsDir, e.Cells[0].Cell)
	if err != nil || len(progress) != 2 || progress[0].At != 5 || progress[1].Step != 10 || progress[1].Accuracy != 0.9 ||
		!math.IsNaN(progress[0].Accuracy) {
		t.Errorf("%+v, %v", progress, err)
	}
	jobs, err := e.Jobs(e.Cells[2].CellRef)
	if err != nil || len(jobs) != 1 || jobs[0].ThreadsRequested != 4 || jobs[0].Service != 4 || jobs[0].Waiting != 0 {
		t.Errorf("%+v, %v", jobs, err)
	}
	s.Configurations = s.Configurations[1:]
	if err := study.Write(dir, s); err != nil {
		t.Fatal(err)
	}
	e, err = record.Open(dir)
	if err != nil || len(e.Cells) != 3 || len(e.Plan.Compares) != 0 {
		t.Errorf("%d cells, %v, %v", len(e.Cells), e.Plan.Compares, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, record.CellsDir)); err != nil || len(left) != 3 {
		t.Errorf("%v, %v", left, err)
	}
}

// Results of real runs stay unchanged, and so does a folder whose plan cannot be read.
func TestOtherResults(t *testing.T) {
	dir := resultstest.Small().Write(t)
	if err := study.Write(dir, study.Study{Name: "s"}); !errors.Is(err, study.ErrOther) {
		t.Errorf("%v", err)
	}
	if e, err := record.Open(dir); err != nil || !e.Complete() {
		t.Errorf("%v, %v", e, err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.PlanFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := study.Write(dir, study.Study{Name: "s"}); err == nil {
		t.Error("a damaged plan is replaced")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := study.Write(filepath.Join(file, "below"), study.Study{Name: "s"}); err == nil {
		t.Error("a folder below a file")
	}
}
