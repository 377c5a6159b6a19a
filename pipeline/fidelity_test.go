package pipeline

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// realFile is an experiment on the process engine. The tests write its samples and the records of its cells; no job
// is started.
const realFile = `
experiment "real" {
  replicates = 1
}

job "t" {
  command = ["true"]
  epochs  = 10
}

workload "w" {
  submit {
    job   = job.t
    count = 2
  }
}

hardware "h" {
  engine  = "process"
  threads = 1
}

policy "fcfs" {
  order = "fcfs"
}

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}
`

// sampled adds samples of the plan's only job: epoch seconds per epoch and 0.5 s of start-up.
func sampled(p *Plan, epoch float64) {
	p.x.SetSamples(p.x.SampledUnits()[0].Hash, []estimator.Sample{
		{Length: 2, Threads: 1, Wall: 0.5 + 2*epoch, Units: []float64{epoch, epoch}, EngineTimes: estimator.EngineTimes{
			Launch: 0.01, Pause: 0.02, Resume: 0.03, Resize: 0.04}},
		{Length: 2, Threads: 1, Wall: 0.5 + 2*epoch, Units: []float64{epoch, epoch}, EngineTimes: estimator.EngineTimes{Launch: 0.03}},
	})
}

// happened records a real cell in which the jobs ran one after the other, for `each` per job.
func happened(t *testing.T, p *Plan, i int, each time.Duration, state string) {
	t.Helper()
	jobs, err := p.cells[i].Jobs()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.Dir, record.CellsDir, p.Cells[i].Cell)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, store.KeyFile), []byte(p.keys[i].Description()), 0o644); err != nil {
		t.Fatal(err)
	}
	var events []scheduler.Event
	for n := range jobs {
		events = append(events, scheduler.Event{Kind: scheduler.Arrive, Job: n})
	}
	cores := scheduler.CoreSet{{Lo: 0, Hi: 1}}
	for n := range jobs {
		at := time.Duration(n) * each
		events = append(events, scheduler.Event{At: at, Kind: scheduler.Start, Job: n, Cores: cores},
			scheduler.Event{At: at + each, Kind: scheduler.Finish, Job: n})
	}
	setup := record.Setup{Cell: p.Cells[i], Setup: measure.Setup{Cluster: p.cells[i].Hardware.Cluster, Jobs: jobs}}
	w, err := record.NewCellWriter(dir, setup, record.AllRecords)
	if err != nil {
		t.Fatal(err)
	}
	for k := range events {
		w.Event(&events[k])
	}
	if _, err := w.Finish(record.Cell{State: state}); err != nil {
		t.Fatal(err)
	}
}

// openRun prepares the folder of a plan, so that a test can run single stages.
func openRun(t *testing.T, p *Plan) *run {
	t.Helper()
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r := &run{Plan: p, started: time.Now()}
	if err := r.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.close() })
	return r
}

// simulations runs the stage that simulates real cells, and returns how many cells it simulated.
func simulations(t *testing.T, r *run) int {
	t.Helper()
	count := func() int {
		raw, err := os.ReadFile(filepath.Join(r.Dir, record.JournalFile))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(raw), `"cell_simulated"`)
	}
	before := count()
	if err := stages.Find("fidelity").Run(context.Background(), r.seen()); err != nil {
		t.Fatal(err)
	}
	return count() - before
}

func twinOf(t *testing.T, p *Plan, cell string) (twin record.Cell, ok bool) {
	t.Helper()
	if err := writeJSON(filepath.Join(p.Dir, record.PlanFile), p.Plan); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range analysis.Pairs(e) {
		if pair.Real.Cell == cell {
			return pair.Twin, true
		}
	}
	return record.Cell{}, false
}

// Two jobs of 0.5 s and 10 epochs of 0.2 s run on one core, with 20 ms to launch each: 2.52 s a job.
//
// FCFS takes 2 × 2.52 s. Under round robin with a quantum of 1 s, each job runs for 1 s and is paused with 1.52 s
// left; a pause and a resume add 20 + 30 ms. The first job continues at 2 s and is paused again at 3 s with 0.57 s
// left, the second at 4 s. Then each runs for its last 0.62 s.
func TestTwinsAreSimulatedFromTheEstimates(t *testing.T) {
	p := plan(t, realFile, t.TempDir())
	sampled(p, 0.2)
	r := openRun(t, p)
	happened(t, p, 0, 3*time.Second, record.CellFinished)
	happened(t, p, 1, 3*time.Second, record.CellFinished)
	if n := simulations(t, r); n != 2 {
		t.Fatalf("%d cells were simulated, want both", n)
	}
	for cell, want := range map[string]float64{"w-h-fcfs-r1": 5.04, "w-h-rr-r1": 5.24} {
		twin, ok := twinOf(t, p, cell)
		if !ok || measure.Makespan.Of(&twin.Metrics) != want {
			t.Errorf("%s is simulated to take %g s, want %g", cell, measure.Makespan.Of(&twin.Metrics), want)
		}
	}
	if err := analysis.WriteTables(p.Dir); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(p.Dir, record.Fidelity.File))
	if err != nil || !strings.Contains(string(raw), "w-h-fcfs-r1,makespan_s,6.000000,5.040000,-16.000000\n") {
		t.Errorf("%s, %v", raw, err)
	}

	if n := simulations(t, r); n != 0 {
		t.Errorf("nothing has changed, and %d cells were simulated again", n)
	}
	sampled(p, 0.3)
	if n := simulations(t, r); n != 2 {
		t.Errorf("the estimates have changed, and %d cells were simulated again", n)
	}
	if twin, _ := twinOf(t, p, "w-h-fcfs-r1"); measure.Makespan.Of(&twin.Metrics) != 7.04 {
		t.Errorf("by the new estimates it takes %g s, want 7.04", measure.Makespan.Of(&twin.Metrics))
	}
}

// Without estimates, existing simulations are kept and no new ones are made.
func TestTwinsNeedEstimates(t *testing.T) {
	p := plan(t, realFile, t.TempDir())
	r := openRun(t, p)
	happened(t, p, 0, 3*time.Second, record.CellFinished)
	if n := simulations(t, r); n != 0 {
		t.Errorf("%d cells were simulated without an estimate", n)
	}
	sampled(p, 0.2)
	if n := simulations(t, r); n != 1 { // the second cell has not run yet
		t.Errorf("%d cells were simulated, want the one that has finished", n)
	}
	p.x.SetSamples(p.x.SampledUnits()[0].Hash, nil)
	if n := simulations(t, r); n != 0 {
		t.Errorf("%d cells were simulated without an estimate", n)
	}
	if _, ok := twinOf(t, p, "w-h-fcfs-r1"); !ok {
		t.Error("what was simulated is gone")
	}
}

// A cell that failed is not simulated for comparison.
func TestFailedCellsHaveNoTwins(t *testing.T) {
	p := plan(t, realFile, t.TempDir())
	sampled(p, 0.2)
	r := openRun(t, p)
	happened(t, p, 0, 3*time.Second, record.CellFinished)
	simulations(t, r)
	happened(t, p, 0, 3*time.Second, record.CellFailed)
	if n := simulations(t, r); n != 0 {
		t.Errorf("%d failed cells were simulated", n)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, record.CellsDir, p.Cells[0].Cell, record.TwinDir)); !os.IsNotExist(err) {
		t.Errorf("the simulation of a failed cell is still there: %v", err)
	}
}

// When a real job has both samples and a run time in the file, predictions use the samples. Without samples they use
// the file's run time.
func TestSamplesCountMoreThanTheFile(t *testing.T) {
	file := strings.Replace(realFile, "epochs  = 10", "epochs = 10\nruntime {\nepoch = \"1s\"\n}", 1)
	p := plan(t, file, t.TempDir())
	if got := p.Work[0].Predicted; got != 20*time.Second {
		t.Errorf("by the file it takes %s, want 2 × 10 epochs of 1s", got)
	}
	sampled(p, 0.2)
	if err := p.predict(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if got := p.Work[0].Predicted; got != 5040*time.Millisecond {
		t.Errorf("by the samples it takes %s, want 5.04s", got)
	}
}

func TestPlanPredictsRealCells(t *testing.T) {
	out := t.TempDir()
	p := plan(t, realFile, out)
	for i := range p.Cells {
		if p.Work[i].Predicted != 0 {
			t.Errorf("%s has a prediction without samples", p.Cells[i].Cell)
		}
	}
	sampled(p, 0.2)
	r := openRun(t, p)
	samples, _ := p.x.Samples(p.x.SampledUnits()[0].Hash)
	raw, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.KeepPiece("profile", p.Pieces[0].Piece, raw, 1); err != nil {
		t.Fatal(err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	again := plan(t, realFile, out)
	for i, want := range []time.Duration{5040 * time.Millisecond, 5240 * time.Millisecond} {
		if got := again.Work[i].Predicted; got != want {
			t.Errorf("%s is predicted to take %s, want %s", again.Cells[i].Cell, got, want)
		}
	}
}

// A simulated machine uses the overheads in the file. If the file has none and the jobs are sampled, it uses measured
// overheads.
func TestMeasuredOverheadsAreTheDefault(t *testing.T) {
	const ms = time.Millisecond
	measured := simulated.Overheads{Start: 20 * ms, Pause: 20 * ms, Resume: 30 * ms, Resize: 40 * ms, Migrate: 30 * ms}
	for _, c := range []struct {
		block, job string
		want       simulated.Overheads
	}{
		{"", "", measured},
		{"overheads {}", "", simulated.Overheads{}},
		{"overheads {\npause = \"1s\"\n}", "", simulated.Overheads{Pause: time.Second}},
		{"", "runtime {\nepoch = \"1s\"\n}", simulated.Overheads{}},
	} {
		file := strings.Replace(realFile, `engine  = "process"`, "engine = \"simulated\"\n"+c.block, 1)
		file = strings.Replace(file, "epochs  = 10", "epochs = 10\n"+c.job, 1)
		p := plan(t, file, t.TempDir())
		if c.job == "" {
			sampled(p, 0.2)
		}
		if got := p.cells[0].Overheads(); got != c.want {
			t.Errorf("with %q and %q: %s, want %s", c.block, c.job, got, c.want)
		}
		said := "hardware.overheads " + c.want.String()
		if c.want == measured {
			said = "hardware.overheads measured"
		}
		if !strings.Contains(p.keys[0].Description(), said+"\n") {
			t.Errorf("with %q and %q the key does not say %q", c.block, c.job, said)
		}
	}
}
