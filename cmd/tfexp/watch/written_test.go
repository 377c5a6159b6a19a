// Livetest writes the files of a run step by step, for tests of the code that follows runs.

package watch

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Run is a run of the experiment "study": two cells, p-r1 and p-r2, of two jobs, a-1 and b-1, on two cores. Each is
// predicted to take ten seconds. Each event is a second after the one before.
type WrittenRun struct {
	Results, Dir string

	t        testing.TB
	lock     *store.Lock
	journal  *store.Journal
	plan     record.Plan
	setup    record.Setup
	cell     *record.CellWriter
	progress *table.Live[record.ProgressRow]
	standing record.CellProgressWriter
	at       time.Duration
}

// Begin begins a run, as far as its plan.
func BeginRun(t testing.TB) *WrittenRun {
	t.Helper()
	results := t.TempDir()
	r := &WrittenRun{t: t, Results: results, Dir: filepath.Join(results, "study")}
	r.must(os.MkdirAll(r.Dir, 0o755))
	r.plan = record.Plan{Schema: 1, Experiment: "study", Description: "Which is better?"}
	for i, name := range []string{"p-r1", "p-r2"} {
		r.plan.Cells = append(r.plan.Cells, record.CellRef{Cell: name, Workload: "w", Hardware: "h", Policy: "p",
			Replicate: i + 1,
			Engine:    "process", Cores: 2, Key: name + "-key", PredictedSeconds: 10})
	}
	var err error
	r.lock, err = store.LockFolder(r.Dir, []string{"tfexp", "run", "study.hcl"})
	r.must(err)
	r.write(record.PlanFile, r.plan)
	r.write(record.RunFile, record.Run{State: "running"})
	r.journal, err = store.OpenJournal(r.Dir)
	r.must(err)
	r.note(store.JournalEntry{Event: "run_start"})
	t.Cleanup(r.Kill)
	return r
}

// Start begins a cell.
func (r *WrittenRun) Start(cell string) {
	r.t.Helper()
	r.note(store.JournalEntry{Event: "cell_start", Unit: cell})
	r.setup, _ = resultstest.TwoJobs()
	for _, c := range r.plan.Cells {
		if c.Cell == cell {
			r.setup.Cell = c
		}
	}
	r.Again()
}

// Again restarts the present cell.
func (r *WrittenRun) Again() {
	r.t.Helper()
	r.closeCell()
	dir := filepath.Join(r.Dir, record.CellsDir, r.setup.Cell.Cell)
	var err error
	r.cell, err = record.NewCellWriter(dir, r.setup, record.AllRecords)
	r.must(err)
	r.progress, err = record.Progress.Live(dir)
	r.must(err)
	r.at = 0
}

// Event writes an event of a job, and moves the time forward by a second.
func (r *WrittenRun) Event(kind scheduler.EventKind, job int, cores scheduler.CoreSet) {
	r.cell.Event(&scheduler.Event{At: r.at, Kind: kind, Job: job, Cores: cores})
	r.at += time.Second
}

// Passed writes the decision that passes a job over.
func (r *WrittenRun) Passed(job int, why string) {
	r.cell.Decision(&scheduler.Decision{At: r.at, Kind: scheduler.Start, Job: 1 - job,
		Passed: []scheduler.Passed{{Job: job, Reason: why}}})
}

// Share writes that a job starts on GPUs, and the job that it shares them with; a second passes.
func (r *WrittenRun) Share(job int, gpus scheduler.CoreSet, beside *cluster.Beside) {
	r.cell.Event(&scheduler.Event{At: r.at, Kind: scheduler.Start, Job: job, GPUs: gpus, Beside: beside})
	r.at += time.Second
}

// Stands writes how the present cell stands.
func (r *WrittenRun) Stands(s record.CellProgress) {
	r.standing.Dir = filepath.Join(r.Dir, record.CellsDir, r.setup.Cell.Cell)
	r.standing.Add(s)
}

// Simulated makes all cells simulated ones. It is called before the run is looked at.
func (r *WrittenRun) Simulated() {
	r.t.Helper()
	for i := range r.plan.Cells {
		r.plan.Cells[i].Engine, r.plan.Cells[i].Simulated = "simulated", true
	}
	r.write(record.PlanFile, r.plan)
}

// Report writes a report of a job's program.
func (r *WrittenRun) Report(job string, epoch int, loss, accuracy float64) {
	r.progress.Add(record.ProgressRow{At: r.at.Seconds(), Job: job, Epoch: epoch, Epochs: 8, Loss: loss, Accuracy: accuracy,
		Seconds: math.NaN(),
		Used:    math.NaN(), Left: math.NaN(), TimeLeft: math.NaN()})
}

// Finish ends the present cell.
func (r *WrittenRun) Finish() {
	r.t.Helper()
	_, err := r.progress.Close()
	r.must(err)
	r.standing.Close()
	c, err := r.cell.Finish(record.Cell{Seconds: r.at.Seconds(), Busy: -1})
	r.must(err)
	r.note(store.JournalEntry{Event: "cell_end", Unit: c.CellRef.Cell, State: c.State, Key: c.Key})
}

// Kill ends the run where it is, as a signal does.
func (r *WrittenRun) Kill() {
	r.closeCell()
	if r.lock != nil {
		r.lock.Release()
		r.journal.Close()
		r.lock = nil
	}
}

func (r *WrittenRun) closeCell() {
	if r.cell != nil {
		r.cell.Abort()
		r.progress.Close()
		r.cell = nil
	}
}

func (r *WrittenRun) note(e store.JournalEntry) {
	r.t.Helper()
	r.must(r.journal.Add(e))
}

func (r *WrittenRun) write(name string, v any) {
	r.t.Helper()
	raw, err := json.Marshal(v)
	r.must(err)
	r.must(os.WriteFile(filepath.Join(r.Dir, name), raw, 0o644))
}

func (r *WrittenRun) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
