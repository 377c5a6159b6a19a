package pipeline

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// By their samples the jobs take 2.5 s; in the first cell they take 3.5 s. The estimates for the second cell, and its
// simulation, are corrected by that; the simulation of the first cell is not. Finished cells of earlier runs correct
// the estimates in the order in which they ran.
func TestFinishedCellsCorrectLaterOnes(t *testing.T) {
	p := plan(t, realFile, t.TempDir())
	sampled(p, 0.2)
	r := openRun(t, p)
	if e := p.cells[1].Estimated(); len(e) != 1 || e[0].Factor != 1 || e[0].Runs != 0 || e[0].Predicted != 2.52 ||
		e[0].Low <= 0 {
		t.Fatalf("before any cell has run: %+v", e)
	}
	happened(t, p, 0, 3500*time.Millisecond, record.CellFinished)
	happened(t, p, 1, 9*time.Second, record.CellFailed)
	r.learn(0)
	r.learn(1)
	e := p.cells[1].Estimated()
	if len(e) != 1 || e[0].Runs != 2 || e[0].Factor < 1.15 || e[0].Factor > 1.45 || e[0].High < 3.5 || e[0].Low > 3.5 ||
		math.Abs(e[0].Predicted-2.52*e[0].Factor) > 1e-9 {
		t.Fatalf("after two runs of 3.5 s: %+v", e)
	}
	if task, err := p.cells[1].Task(stages.Folders{}); err != nil || len(task.Setup.Estimated) != 1 ||
		task.Setup.Estimated[0] != e[0] {
		t.Errorf("the next cell begins with %+v, %v", task.Setup.Estimated, err)
	}
	takes := func(seen stages.Seen) float64 {
		t.Helper()
		task, key, err := p.cells[1].Twin(seen)
		if err != nil || !strings.Contains(key, "job.t fixed") {
			t.Fatalf("%v\n%s", err, key)
		}
		return task.Simulation.Work[0].RunTime(1).Seconds()
	}
	if got := takes(stages.Seen{}); got != 2.5 {
		t.Errorf("simulated by its samples it takes %g s", got)
	}
	if got := takes(stages.Seen{Estimated: e}); math.Abs(got-2.5*e[0].Factor) > 1e-6 {
		t.Errorf("simulated by what was in force it takes %g s, want %g", got, e[0].Predicted)
	}

	later := plan(t, realFile, strings.TrimSuffix(p.Dir, "/real"))
	sampled(later, 0.2)
	again := &run{Plan: later}
	again.recallRuns()
	if got := later.cells[1].Estimated(); len(got) != 1 || got[0] != e[0] {
		t.Errorf("another run knows %+v, want %+v", got, e)
	}
}

// Policies use the estimates from samples, unless the file chooses corrected ones; the keys of their cells then say
// so. Where the file turns corrections off, nothing is corrected.
func TestPoliciesDecideByCorrectedEstimatesWhereTheFileSaysSo(t *testing.T) {
	for _, c := range []struct {
		correct   string
		decides   bool
		corrected bool
	}{{"predictions", false, true}, {"policies", true, true}, {"none", false, false}} {
		file := realFile + "policy \"sjf\" {\n  order = \"sjf\"\n}\nestimate {\n  correct = \"" + c.correct + "\"\n}\n"
		p := plan(t, file, t.TempDir())
		sampled(p, 0.2)
		r := openRun(t, p)
		happened(t, p, 0, 5*time.Second, record.CellFinished)
		r.learn(0)
		for i, ref := range p.Cells {
			if ref.Policy != "sjf" {
				continue
			}
			task, err := p.cells[i].Task(stages.Folders{})
			if err != nil {
				t.Fatal(err)
			}
			predicted := task.Setup.Jobs[0].Predicted.Seconds()
			if (predicted > 2.6) != c.decides || !c.decides && predicted != 2.52 {
				t.Errorf("%s: the policy decides by %g s", c.correct, predicted)
			}
			if e := task.Setup.Estimated; len(e) != 1 || (e[0].Factor > 1.1) != c.corrected {
				t.Errorf("%s: in force is %+v", c.correct, e)
			}
			if said := strings.Contains(p.keys[i].Description(), "corrected"); said != c.decides {
				t.Errorf("%s: the key says %v\n%s", c.correct, said, p.keys[i].Description())
			}
		}
	}
}
