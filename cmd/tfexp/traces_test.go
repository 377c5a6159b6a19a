package main

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// realLogs returns the folder with the real logs, which are not part of the
// repository.
func realLogs(t *testing.T, file string) string {
	t.Helper()
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		t.Skipf("the real log %s is not here; TFEXP_DATA names the folder that has it", file)
	}
	return dir
}

// readTable reads a CSV file as rows of named fields.
func readTable(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		fields := map[string]string{}
		for i, name := range rows[0] {
			fields[name] = row[i]
		}
		out = append(out, fields)
	}
	return out
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// For every job of the NASA log, the starts are known from two independent programs, for first come first served and
// shortest job first.
func TestNASALogFromFileToStarts(t *testing.T) {
	data := realLogs(t, "swf_nasa/expected_starts_half.csv.gz")
	out := t.TempDir()
	outputOf(t, "run", "testdata/nasa.hcl", "-var", "data="+data, "--out", out, "--quiet")
	expected := readTable(t, filepath.Join(data, "swf_nasa/expected_starts_half.csv.gz"))
	for policy, column := range map[string]string{"fcfs": "start_fcfs", "sjf": "start_sjf"} {
		got := readTable(t, filepath.Join(out, "nasa", record.CellsDir, "nasa-ipsc-"+policy+"-r1", record.Jobs.File))
		if len(got) != 18239 || len(got) != len(expected) {
			t.Fatalf("%s: %d jobs, expected starts of %d", policy, len(got), len(expected))
		}
		starts := map[string]float64{}
		for _, row := range got {
			starts[row["job"]] = number(t, row["first_start_s"])
		}
		wrong := 0
		for _, row := range expected {
			start, ok := starts["job-"+row["job_id"]]
			if !ok || start != number(t, row[column]) {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d jobs start at another second", policy, wrong)
		}
	}
}

// The makespan of EASY equals the makespan of the real runs. Its mean waiting times equal those of a reference program,
// apart from ties.
func TestOARWorkloadsFromFileToMetrics(t *testing.T) {
	data := realLogs(t, "oar_real/example_workload_hpc_seed1_jobs250.json")
	out := t.TempDir()
	outputOf(t, "run", "testdata/oar.hcl", "-var", "data="+data, "--out", out, "--quiet")
	rows := map[string]map[string]string{}
	for _, row := range readTable(t, filepath.Join(out, "oar", record.Metrics.File)) {
		rows[row["policy"]+row["log"]] = row
	}
	within := func(cell, metric string, want, tolerance float64) {
		if got := number(t, rows[cell][metric]); math.Abs(got-want) > tolerance*want {
			t.Errorf("%s: %s is %.1f, want %.1f within %.0f%%", cell, metric, got, want, 100*tolerance)
		}
	}
	within("easy1", "mean_waiting_s", 114.7, 0.1)
	within("easy2", "mean_waiting_s", 386.2, 0.1)
	within("easy3", "mean_waiting_s", 238.7, 0.1)
	within("fcfs1", "mean_waiting_s", 514, 0.1)
	within("easy1", "makespan_s", (11123+11284)/2, 0.02)
	within("easy2", "makespan_s", (10933+10988)/2, 0.02)
	within("easy3", "makespan_s", 12534, 0.02)
}

// Forecasts of the starts of jobs on a real cluster are better than those by requested times, and their intervals have
// the right coverage. docs/twin.md has the figures of all logs.
func TestForecastsOfOARLogs(t *testing.T) {
	for _, log := range []string{"seed1_iter0", "seed1_iter1", "seed1_iter2", "seed2_iter0", "seed2_iter1", "seed2_iter2",
		"seed3_iter0"} {
		file := fmt.Sprintf("oar_real/hpc_alone_%s_jobset.csv", log)
		path := filepath.Join(realLogs(t, file), file)
		var b struct {
			Forecasts int     `json:"calibrated_forecasts"`
			Off       float64 `json:"median_error_s"`
			Requested float64 `json:"requested_median_error_s"`
			Half      float64 `json:"in_50_percent"`
			Nine      float64 `json:"in_90_percent"`
		}
		out := outputOf(t, "when", "testdata/forecasts.hcl", "-var", "log="+path, "--backtest", "--instants", "120", "--json")
		if err := json.Unmarshal([]byte(out), &b); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%s: %d forecasts, off by %.0f s (by requests %.0f s), %.1f%% in 90%% intervals, %.1f%% in 50%% intervals",
			log, b.Forecasts, b.Off, b.Requested, b.Nine, b.Half)
		if t.Log(text); b.Forecasts < 300 || b.Off > 0.4*b.Requested || b.Nine < 85 || b.Nine > 97 || b.Half < 45 || b.Half > 80 {
			t.Error(text)
		}
	}
}
