package analysis_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

func rowsOf(t *testing.T, path string) [][]string {
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

func open(t *testing.T, dir string) *record.Experiment {
	t.Helper()
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTables(t *testing.T) {
	dir := resultstest.Small().Write(t)
	jobs := rowsOf(t, filepath.Join(dir, record.Jobs.File))
	if len(jobs) != 1+10*8 || jobs[0][len(jobs[0])-1] != "quantum" {
		t.Errorf("jobs.csv has %d rows and the header %v", len(jobs), jobs[0])
	}
	if jobs[1][40] != "" || jobs[80][40] != "300ms" || jobs[80][0] != "mixed-machine-rr-quantum=300ms-r5" {
		t.Errorf("jobs.csv ends with %v", jobs[80])
	}
	metrics := rowsOf(t, filepath.Join(dir, record.Metrics.File))
	want := "cell,workload,hardware,policy,replicate,engine,jobs,finished,failed,makespan_s,throughput_per_h,utilization," +
		"mean_jct_s,median_jct_s,p95_jct_s,mean_waiting_s,median_waiting_s,p95_waiting_s,max_waiting_s,mean_first_run_delay_s,mean_service_s,mean_slowdown,p95_slowdown," +
		"jain_fairness,preemptions,resizes,mean_bounded_slowdown,gpu_utilization,gpu_fragments,gpu_fragmentation," +
		"final_accuracy,final_loss,cost_usd,revocations,lost_work_s,checkpoint_s,reconfigurations,missed_deadlines,lateness_s,migrations,profiling_s,max_finish_time_ratio,mean_finish_time_ratio,jain_finish_time,state,offered_load,saturated,queued_at_last_arrival,quantum"
	if got := strings.Join(metrics[0], ","); got != want || len(metrics) != 11 {
		t.Errorf("metrics.csv has %d rows and the header %s", len(metrics), got)
	}
	comparisons := rowsOf(t, filepath.Join(dir, record.Comparisons.File))
	want = "metric,workload,hardware,baseline,candidate,pairs,baseline_mean,candidate_mean,ratio,ci_low,ci_high,p_value,verdict"
	if got := strings.Join(comparisons[0][:13], ","); got != want || len(comparisons) != 4 {
		t.Errorf("comparisons.csv has %d rows and the header %s", len(comparisons), got)
	}
	for i, verdict := range []string{record.NoDifference, record.NoDifference, record.Worse} {
		if comparisons[i+1][12] != verdict || comparisons[i+1][5] != "5" {
			t.Errorf("comparison %v", comparisons[i+1])
		}
	}
	estimates := rowsOf(t, filepath.Join(dir, record.Estimates.File))
	if got := strings.Join(estimates[0][:14], ","); got != "job,hardware,threads,gpus,model,samples,sample_fraction,slope_s,intercept_s,predicted_s,low_s,high_s,actual_s,error_pct" {
		t.Errorf("estimates.csv has the header %s", got)
	}
	if estimates[1][12] == "" || estimates[1][13] == "" {
		t.Errorf("estimate without an actual time: %v", estimates[1])
	}
}

// TestEstimatesKeepActual: the estimates are written again before each run. Measured run times in them must stay, even
// if no cell needs to run.
func TestEstimatesKeepActual(t *testing.T) {
	dir := resultstest.Small().Write(t)
	rows, err := record.Estimates.Read(open(t, dir).Dir)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	fitted := append([]record.EstimateRow(nil), rows...)
	for i := range fitted {
		fitted[i].Actual, fitted[i].ErrorPct = -1, 0
	}
	fitted[1].Predicted = 0.7
	if err := record.WriteEstimates(dir, fitted); err != nil {
		t.Fatal(err)
	}
	again, err := record.Estimates.Read(open(t, dir).Dir)
	if err != nil || again[0].Actual != rows[0].Actual || math.Abs(again[0].ErrorPct-rows[0].ErrorPct) > 1e-4 ||
		again[1].Actual >= 0 {
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
	// An incomplete cell.json, or one of another plan, counts as missing.
	edit := func(cell string, change func([]byte) []byte) {
		path := filepath.Join(dir, record.CellsDir, cell, record.CellFile)
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
	if err := os.Remove(filepath.Join(dir, record.RunFile)); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir)
	if len(e.Cells) != 5 || len(e.Missing) != 5 || e.Cells[0].Replicate != 3 {
		t.Errorf("%d cells, %d missing", len(e.Cells), len(e.Missing))
	}
	if err := analysis.WriteTables(dir); err != nil {
		t.Errorf("tables of a run that goes on: %v", err)
	}
	if _, err := record.Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
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
	if err != nil || len(occupancy) < 10 || occupancy[len(occupancy)-1].CoresHeld != 0 || !math.IsNaN(occupancy[0].CPU) {
		t.Errorf("occupancy: %+v, %v", occupancy, err)
	}
	// The last line of a file that is still written may be incomplete.
	path := filepath.Join(dir, record.CellsDir, ref.Cell, record.EventsFile)
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

// TestExtraColumns: tables of later versions, which have more columns, can be read.
func TestExtraColumns(t *testing.T) {
	dir := resultstest.Small().Write(t)
	e := open(t, dir)
	ref := e.Cells[0].CellRef
	want, err := e.Jobs(ref)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, record.CellsDir, ref.Cell, record.Jobs.File)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i, row := range rowsOf(t, path) {
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
		if err := analysis.WriteTables(dir); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMetricsDoNotDependOnTheMachine: the time that the machine took for a cell is in timings.csv only.
func TestMetricsDoNotDependOnTheMachine(t *testing.T) {
	dir := resultstest.Small().Write(t)
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	metrics, timings := read(record.Metrics.File), read(record.Timings.File)
	path := filepath.Join(dir, record.CellsDir, "mixed-machine-fcfs-r1", record.CellFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slower := bytes.Replace(raw, []byte(`"seconds": 3,`), []byte(`"seconds": 4.5,`), 1)
	if err := os.WriteFile(path, slower, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := analysis.WriteTables(dir); err != nil {
		t.Fatal(err)
	}
	if read(record.Metrics.File) != metrics {
		t.Error("metrics.csv differs after a slower run")
	}
	const first = "cell,workload,hardware,policy,replicate,engine,seconds,busy_cores,quantum\nmixed-machine-fcfs-r1,mixed,machine,fcfs,1,simulated,"
	if !strings.HasPrefix(timings, first+"3.000000,0.020000,") ||
		!strings.HasPrefix(read(record.Timings.File), first+"4.500000,") {
		t.Errorf("timings.csv was %s\nand is %s", timings, read(record.Timings.File))
	}
}
