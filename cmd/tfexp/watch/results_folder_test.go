package watch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/cmd/tfexp/watch"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// eventually repeats a check until its condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("%s: it did not come about", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// GPUs that two jobs share count once.
func TestSharedGPUs(t *testing.T) {
	run := watch.BeginRun(t)
	run.Start("p-r1")
	look := func() *watch.Cell {
		t.Helper()
		c, err := watch.NewFolder(run.Results).Cell("study", "p-r1")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	gpus := scheduler.CoreSet{{Lo: 0, Hi: 2}}
	for job, beside := range []*cluster.Beside{nil, {Job: 0, Name: "a-1"}} {
		run.Event(scheduler.Arrive, job, nil)
		run.Share(job, gpus, beside)
	}
	if c := look(); c.HeldGPUs != 2 || len(c.Spans) != 2 || c.Spans[0].Guest || !c.Spans[1].Guest {
		t.Errorf("shared: %+v", c)
	}
	run.Event(scheduler.Finish, 0, nil)
	if c := look(); c.HeldGPUs != 2 || c.Use[len(c.Use)-1].GPUs != 2 {
		t.Errorf("when the other job has ended: %+v", c)
	}
	run.Event(scheduler.Finish, 1, nil)
	if c := look(); c.HeldGPUs != 0 {
		t.Errorf("in the end: %+v", c)
	}
}

// A simulated cell that runs for some time reports its state.
func TestFollowsASimulatedCell(t *testing.T) {
	run := watch.BeginRun(t)
	run.Simulated()
	run.Start("p-r1")
	run.Stands(record.CellProgress{At: 10, Jobs: 9000, Running: 1, Cores: 2})
	want := record.CellProgress{At: 7200, Jobs: 9000, Done: 6000, Running: 1, Waiting: 5, Failed: 1, Cores: 2}
	run.Stands(want)
	f := watch.NewFolder(run.Results)
	all, err := f.Experiments()
	if err != nil || len(all[0].Standings) != 1 || all[0].Standings[0] != (states.Standing{Cell: "p-r1", Simulated: true,
		CellProgress: want}) {
		t.Fatalf("standings are %+v, %v", all, err)
	}
	c, err := f.Cell("study", "")
	if err != nil || c.Total != 9000 || c.Done != 6000 || c.Waiting != 5 || c.At != 7200 || len(c.Use) != 2 {
		t.Errorf("the running cell is %+v, %v", c, err)
	}
	run.Finish()
	eventually(t, "the cell ends", func() bool {
		all, err = f.Experiments()
		return err == nil && all[0].Finished+all[0].Failed == 1
	})
	if len(all[0].Standings) != 0 {
		t.Errorf("after its end: %+v", all[0].Standings)
	}
	if c, err = f.Cell("study", "p-r1"); err != nil || c.Total != 2 {
		t.Errorf("after its end the cell is %+v, %v", c, err)
	}
}

// A run is followed from its plan to its end, while it writes files.
func TestFollowsARun(t *testing.T) {
	run := watch.BeginRun(t)
	f := watch.NewFolder(run.Results)
	all, err := f.Experiments()
	if err != nil || len(all) != 1 {
		t.Fatalf("experiments are %+v, %v", all, err)
	}
	if x := all[0]; x.Name != "study" || x.State != "running" || x.Cells != 2 || x.Left != 2 || x.Holder == "" ||
		x.Doing != "profiling the jobs" || x.TimeLeft == nil || *x.TimeLeft != 20 {
		t.Errorf("before the first cell: %+v", x)
	}
	if _, err := f.Cell("study", ""); !errors.Is(err, watch.ErrUnknown) {
		t.Errorf("the cell that runs, when none does: %v", err)
	}

	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	run.Event(scheduler.Arrive, 1, nil)
	if c, err := f.Cell("study", "p-r1"); err != nil || c.Jobs[1].Waits != "a-1 runs" {
		t.Errorf("before the scheduler has said why b-1 waits: %+v, %v", c, err)
	}
	run.Passed(1, "wants 1 core, and none is free")
	run.Report("a-1", 1, 2.5, 0.5)
	run.Report("a-1", 2, 1.5, 0.75)
	var c *watch.Cell
	eventually(t, "the cell runs", func() bool {
		c, err = f.Cell("study", "")
		return err == nil && c.State == "running"
	})
	if c.Cell != "p-r1" || c.Running != 1 || c.Waiting != 1 || c.HeldCores != 2 || c.Cores != 2 || len(c.Spans) != 1 ||
		c.Spans[0].To != nil ||
		c.Spans[0].High != 1 {
		t.Fatalf("with one job running: %+v", c)
	}
	if j := c.Jobs[0]; j.Name != "a-1" || j.State != "running" || j.Epoch != 2 || *j.Loss != 1.5 || *j.Accuracy != 0.75 ||
		j.Cores != 2 {
		t.Errorf("the running job is %+v", j)
	}
	if j := c.Jobs[1]; j.State != "queued" || j.Waits != "wants 1 core, and none is free" {
		t.Errorf("the waiting job is %+v", j)
	}
	if len(c.Curves) != 1 || len(c.Curves[0].Points) != 2 || *c.Curves[0].Points[0].Loss != 2.5 {
		t.Errorf("curves are %+v", c.Curves)
	}

	run.Event(scheduler.Finish, 0, nil)
	run.Event(scheduler.Start, 1, scheduler.CoreSet{{Lo: 0, Hi: 1}})
	if c, err = f.Cell("study", "p-r1"); err != nil || c.Done != 1 || len(c.Spans) != 2 || c.Spans[0].To == nil ||
		*c.Spans[0].To != 3 ||
		c.Jobs[0].Name != "b-1" || c.Jobs[0].Waits != "" {
		t.Errorf("with the second job running: %+v, %v", c, err)
	}

	// The cell was disturbed, so it runs again from its beginning.
	run.Again()
	run.Event(scheduler.Arrive, 0, nil)
	if c, err = f.Cell("study", "p-r1"); err != nil || len(c.Spans) != 0 || len(c.Jobs) != 1 || len(c.Curves) != 0 {
		t.Errorf("begun again: %+v, %v", c, err)
	}
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	run.Event(scheduler.Finish, 0, nil)
	run.Event(scheduler.Arrive, 1, nil)
	run.Event(scheduler.Start, 1, scheduler.CoreSet{{Lo: 0, Hi: 1}})
	run.Event(scheduler.Finish, 1, nil)
	run.Finish()
	eventually(t, "the cell ends", func() bool {
		all, err = f.Experiments()
		return err == nil && all[0].Finished == 1
	})
	_, cells, _, err := f.Experiment("study")
	if x := all[0]; err != nil || x.Left != 1 || len(x.Running) != 0 || x.LeftRange[0] > cells[0].Seconds ||
		x.LeftRange[1] < cells[0].Seconds {
		t.Errorf("after the first cell, which took %v s: %+v, %v", cells[0].Seconds, x, err) // as long as its replicate
	}
	eventually(t, "the results so far are told", func() bool {
		all, err = f.Experiments()
		return err == nil && all[0].Answer != nil
	})
	if a := all[0].Answer; !strings.HasPrefix(a.Sentence, "So far, with 1 of 2 cells: ") {
		t.Errorf("%+v", a)
	}
	if c, err = f.Cell("study", ""); err != nil || c.Cell != "p-r1" || c.State != record.CellFinished || c.Done != 2 {
		t.Errorf("the cell that ran last: %+v, %v", c, err)
	}

	run.Start("p-r2")
	run.Kill()
	var x watch.Experiment
	var rows []watch.CellRow
	eventually(t, "the run is dead", func() bool {
		x, rows, _, err = f.Experiment("study")
		return err == nil && x.State == "interrupted" && rows[1].State == "interrupted"
	})
	if x.TimeLeft != nil || len(rows) != 2 || rows[0].State != "finished" || rows[0].MeanJCT == nil {
		t.Errorf("killed: %+v, %+v", x, rows)
	}
}

// An experiment that cannot be read does not hide the others.
func TestUnreadableExperiment(t *testing.T) {
	run := watch.BeginRun(t)
	broken := filepath.Join(run.Results, "broken")
	if err := os.Mkdir(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, record.PlanFile), []byte("junk"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := watch.NewFolder(run.Results).Experiments()
	if err != nil || len(all) != 2 || all[0].State != "unreadable" || len(all[0].Warnings) != 1 || all[1].State != "running" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err = watch.NewFolder(broken).Experiments(); err == nil {
		t.Errorf("alone: %+v", all)
	}
}

// The page may be opened before the first run.
func TestAFolderThatIsNotThere(t *testing.T) {
	f := watch.NewFolder(filepath.Join(t.TempDir(), "results"))
	if all, err := f.Experiments(); err != nil || len(all) != 0 {
		t.Errorf("experiments are %+v, %v", all, err)
	}
	if _, _, _, err := f.Experiment("study"); !errors.Is(err, watch.ErrUnknown) {
		t.Errorf("an experiment: %v", err)
	}
}

func TestLogs(t *testing.T) {
	run := watch.BeginRun(t)
	dir := filepath.Join(run.Dir, record.CellsDir, "p-r1", record.LogsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a-1.log"), []byte(strings.Repeat("x", 1<<20)+"end"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := watch.NewFolder(run.Results)
	l, err := f.Log("study", "p-r1", "a-1", -1)
	if err != nil || l.Size != 1<<20+3 || len(l.Text) != 256<<10 || l.From != l.Size-256<<10 ||
		!strings.HasSuffix(string(l.Text), "end") {
		t.Errorf("the end of a long log: %d bytes from %d of %d, %v", len(l.Text), l.From, l.Size, err)
	}
	if l, err = f.Log("study", "p-r1", "a-1", 1<<20); err != nil || string(l.Text) != "end" {
		t.Errorf("from a byte on: %q, %v", l.Text, err)
	}
	if _, err = f.Log("study", "p-r1", "b-1", -1); !errors.Is(err, watch.ErrUnknown) {
		t.Errorf("no log: %v", err)
	}
	for _, bad := range [][2]string{{"../../..", "x"}, {"p-r1", "../../../../plan"}, {"/etc", "passwd"}} {
		if l, err := f.Log("study", bad[0], bad[1], -1); err == nil {
			t.Errorf("log of %q: %q", bad, l.Text)
		}
	}
}

// A folder from another user may have malformed lines, and more data than can be drawn.
func TestHostileFiles(t *testing.T) {
	run := watch.BeginRun(t)
	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	dir := filepath.Join(run.Dir, record.CellsDir, "p-r1")
	var b strings.Builder
	b.WriteString("t_s,job,epoch,step,loss,accuracy\n")
	for range 10_000 {
		b.WriteString("1,a-1,1e99,NaN,Inf,\"\n")
	}
	b.WriteString(strings.Repeat("y", 3<<20))
	for name, text := range map[string]string{
		record.Progress.File: b.String(), record.DecisionsFile: "{\n\x00", record.Containers.File: "", record.GPUs.File: "gpu\n,,,\n-1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := watch.NewFolder(run.Results).Cell("study", "p-r1")
	if err != nil || len(c.Jobs) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, curve := range c.Curves {
		if len(curve.Points) > 600 {
			t.Errorf("a curve of %d points", len(curve.Points))
		}
	}
}
