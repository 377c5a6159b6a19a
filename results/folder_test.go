package results_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/scheduler"
)

func table(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func open(t *testing.T, dir string) *results.Experiment {
	t.Helper()
	e, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCellFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cell")
	s, events := twoJobs()
	s.Cell.Axes = []results.Setting{{Name: "load", Value: "0,5"}}
	decisions := []scheduler.Decision{{
		At: 2 * second, Kind: scheduler.Start, Job: 1, Cores: cores(0, 1), Reason: "its turn",
		Passed: []scheduler.Passed{{Job: 0, Reason: "wants 2 cores & 1 is free"}}, PassedMore: 3,
	}}
	cell, err := results.WriteCell(dir, s, results.AllRecords, events, decisions, results.Cell{Seconds: 5, Busy: -1})
	if err != nil {
		t.Fatal(err)
	}
	if cell.State != results.CellFinished || cell.Metrics.Finished != 2 || cell.Cell != "c" {
		t.Errorf("cell is %+v", cell)
	}
	want := map[string]string{
		results.JobsFile: `cell,workload,hardware,policy,replicate,job,class,arrival_s,first_start_s,finish_s,first_run_delay_s,waiting_s,service_s,jct_s,slowdown,threads_requested,threads_mean,gpus,preemptions,resizes,state,predicted_s,prediction_error_pct,bounded_slowdown,restarts,resize_overhead_s,resource,load
c,w,h,p,1,a-1,a,0.000000,0.000000,5.000000,0.000000,1.000000,4.000000,5.000000,1.250000,2,2.000000,0,1,0,finished,5.000000,25.000000,1.000000,0,,cpu,"0,5"
c,w,h,p,1,b-1,b,1.000000,2.000000,3.000000,1.000000,1.000000,1.000000,2.000000,2.000000,1,1.000000,0,0,0,finished,0.500000,-50.000000,1.000000,0,,cpu,"0,5"
`,
		results.EventsFile: `{"t_s":0,"event":"arrive","job":"a-1","cores":""}
{"t_s":0,"event":"start","job":"a-1","cores":"0-1"}
{"t_s":1,"event":"arrive","job":"b-1","cores":""}
{"t_s":2,"event":"pause","job":"a-1","cores":""}
{"t_s":2,"event":"start","job":"b-1","cores":"0"}
{"t_s":3,"event":"finish","job":"b-1","cores":""}
{"t_s":3,"event":"resume","job":"a-1","cores":"0-1"}
{"t_s":5,"event":"finish","job":"a-1","cores":""}
`,
		results.DecisionsFile: `{"t_s":2,"decision":"start","job":"b-1","cores":"0","reason":"its turn","passed":[{"job":"a-1","reason":"wants 2 cores & 1 is free"}],"passed_more":3}
`,
		results.OccupancyFile: `t_s,cores_held,running,queued,paused
0.000000,2,1,0,0
1.000000,2,1,1,0
2.000000,1,1,0,1
3.000000,2,1,0,0
5.000000,0,0,0,0
`,
	}
	for _, name := range []string{results.JobsFile, results.EventsFile, results.DecisionsFile, results.OccupancyFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want[name], string(raw)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	var back results.Cell
	raw, err := os.ReadFile(filepath.Join(dir, results.CellFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if back.Seconds != 5 || back.Metrics.MeanJCT != 3.5 || back.Policy != "p" {
		t.Errorf("cell.json came back as %+v", back)
	}
}

// TestHalfWritten holds that a folder has no cell.json until all is there,
// also when it had one before, and that nothing is left of an aborted cell.
func TestHalfWritten(t *testing.T) {
	dir := t.TempDir()
	s, events := twoJobs()
	if _, err := results.WriteCell(dir, s, results.AllRecords, events, nil, results.Cell{}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, results.EventsFile))
	if err != nil {
		t.Fatal(err)
	}
	w, err := results.NewCellWriter(dir, s, results.AllRecords)
	if err != nil {
		t.Fatal(err)
	}
	w.Event(events[0])
	if _, err := os.Stat(filepath.Join(dir, results.CellFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cell.json while the cell is written: %v", err)
	}
	w.Abort()
	after, err := os.ReadFile(filepath.Join(dir, results.EventsFile))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("events.jsonl has changed: %s, %v", after, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestCannotWrite holds that a table that cannot take its name leaves no
// cell.json.
func TestCannotWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, results.JobsFile, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, events := twoJobs()
	_, err := results.WriteCell(dir, s, results.AllRecords, events, nil, results.Cell{})
	if err == nil || !strings.HasPrefix(err.Error(), "write cell c: ") {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, results.CellFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("cell.json of a broken cell: %v", err)
	}
}

func TestMetricsOnly(t *testing.T) {
	dir := t.TempDir()
	s, events := twoJobs()
	cell, err := results.WriteCell(dir, s, results.MetricsOnly, events, nil, results.Cell{Error: "a core was held twice"})
	if err != nil || cell.State != results.CellFailed {
		t.Errorf("state %s, %v", cell.State, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != results.CellFile {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestTables(t *testing.T) {
	dir := resultstest.Small().Write(t)
	jobs := table(t, filepath.Join(dir, results.JobsFile))
	if len(jobs) != 1+10*8 || jobs[0][len(jobs[0])-1] != "quantum" {
		t.Errorf("jobs.csv has %d rows and the header %v", len(jobs), jobs[0])
	}
	if jobs[1][27] != "" || jobs[80][27] != "300ms" || jobs[80][0] != "mixed-machine-rr-quantum=300ms-r5" {
		t.Errorf("jobs.csv ends with %v", jobs[80])
	}
	metrics := table(t, filepath.Join(dir, results.MetricsFile))
	want := "cell,workload,hardware,policy,replicate,engine,jobs,finished,failed,makespan_s,throughput_per_h,utilization," +
		"mean_jct_s,median_jct_s,p95_jct_s,mean_waiting_s,mean_first_run_delay_s,mean_service_s,mean_slowdown,p95_slowdown," +
		"jain_fairness,preemptions,resizes,mean_bounded_slowdown,gpu_utilization,state,seconds,offered_load,saturated,quantum"
	if got := strings.Join(metrics[0], ","); got != want || len(metrics) != 11 {
		t.Errorf("metrics.csv has %d rows and the header %s", len(metrics), got)
	}
	comparisons := table(t, filepath.Join(dir, results.ComparisonsFile))
	want = "metric,workload,hardware,baseline,candidate,pairs,baseline_mean,candidate_mean,ratio,ci_low,ci_high,p_value,verdict"
	if got := strings.Join(comparisons[0][:13], ","); got != want || len(comparisons) != 4 {
		t.Errorf("comparisons.csv has %d rows and the header %s", len(comparisons), got)
	}
	for i, verdict := range []string{results.Better, results.Better, results.Worse} {
		if comparisons[i+1][12] != verdict || comparisons[i+1][5] != "5" {
			t.Errorf("comparison %v", comparisons[i+1])
		}
	}
	estimates := table(t, filepath.Join(dir, results.EstimatesFile))
	if got := strings.Join(estimates[0][:14], ","); got != "job,hardware,threads,gpus,model,samples,sample_fraction,slope_s,intercept_s,predicted_s,low_s,high_s,actual_s,error_pct" {
		t.Errorf("estimates.csv has the header %s", got)
	}
	if estimates[1][12] == "" || estimates[1][13] == "" {
		t.Errorf("estimate without an actual time: %v", estimates[1])
	}
}

// TestEstimatesKeepActual: the fit is written again before each run; what was
// measured must not be lost when no cell has to run.
func TestEstimatesKeepActual(t *testing.T) {
	dir := resultstest.Small().Write(t)
	rows, err := open(t, dir).Estimates()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	fitted := append([]results.EstimateRow(nil), rows...)
	for i := range fitted {
		fitted[i].Actual, fitted[i].ErrorPct = -1, 0
	}
	fitted[1].Predicted = 0.7
	if err := results.WriteEstimates(dir, fitted); err != nil {
		t.Fatal(err)
	}
	again, err := open(t, dir).Estimates()
	if err != nil || again[0].Actual != rows[0].Actual || math.Abs(again[0].ErrorPct-rows[0].ErrorPct) > 1e-4 || again[1].Actual >= 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestOpen(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Missing = 3
	dir := cfg.Write(t)
	if e := open(t, dir); len(e.Cells) != 7 || len(e.Missing) != 3 || e.Complete() || e.Run.State != "finished" {
		t.Errorf("%d cells, %d missing, run %+v", len(e.Cells), len(e.Missing), e.Run)
	}
	// Half a cell.json, and one of another plan, are not there yet.
	edit := func(cell string, change func([]byte) []byte) {
		path := filepath.Join(dir, results.CellsDir, cell, results.CellFile)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(raw), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("mixed-machine-fcfs-r1", func(raw []byte) []byte { return raw[:len(raw)/2] })
	edit("mixed-machine-fcfs-r2", func(raw []byte) []byte {
		return bytes.Replace(raw, []byte(`"key": "`), []byte(`"key": "x`), 1)
	})
	if err := os.Remove(filepath.Join(dir, results.RunFile)); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir)
	if len(e.Cells) != 5 || len(e.Missing) != 5 || e.Cells[0].Replicate != 3 {
		t.Errorf("%d cells, %d missing", len(e.Cells), len(e.Missing))
	}
	if err := results.WriteTables(dir); err != nil {
		t.Errorf("tables of a run that goes on: %v", err)
	}
	if _, err := results.Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestReadBack(t *testing.T) {
	dir := resultstest.Small().Write(t)
	e := open(t, dir)
	ref := e.Cells[7].CellRef
	jobs, err := e.Jobs(ref)
	if err != nil || len(jobs) != 8 || !reflect.DeepEqual(jobs[0].Axes, ref.Axes) {
		t.Fatalf("jobs: %+v, %v", jobs, err)
	}
	occupancy, err := e.Occupancy(ref)
	if err != nil || len(occupancy) < 10 || occupancy[len(occupancy)-1] != (results.Occupancy{At: occupancy[len(occupancy)-1].At}) {
		t.Errorf("occupancy: %+v, %v", occupancy, err)
	}
	// The last line of a file that is being written is not complete.
	path := filepath.Join(dir, results.CellsDir, ref.Cell, results.EventsFile)
	count := func() int {
		n := 0
		for _, err := range e.Events(ref) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	before := count()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"t_s": 9, "ev`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if before < 30 || count() != before {
		t.Errorf("%d events, then %d", before, count())
	}
	decisions := 0
	for d, err := range e.Decisions(ref) {
		if err != nil || d.Reason == "" {
			t.Errorf("decision %+v, %v", d, err)
		}
		decisions++
	}
	if decisions == 0 {
		t.Error("no decisions")
	}
}

// TestExtraColumns holds that tables of a later version can be read.
func TestExtraColumns(t *testing.T) {
	dir := resultstest.Small().Write(t)
	e := open(t, dir)
	ref := e.Cells[0].CellRef
	want, err := e.Jobs(ref)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, results.CellsDir, ref.Cell, results.JobsFile)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, row := range table(t, path) {
		extra := "energy_j"
		if i > 0 {
			extra = "a lot"
		}
		if err := w.Write(append([]string{extra}, row...)); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := e.Jobs(ref)
	if err != nil || len(got) != len(want) || got[3].JCT != want[3].JCT {
		t.Errorf("%+v, %v", got, err)
	}
}

func BenchmarkTables(b *testing.B) {
	cfg := resultstest.Small()
	cfg.Replicates, cfg.Short = 50, 200
	cfg.Quanta = append(cfg.Quanta, time.Second)
	dir := cfg.Write(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := results.WriteTables(dir); err != nil {
			b.Fatal(err)
		}
	}
}
