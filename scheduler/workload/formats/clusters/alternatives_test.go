package clusters

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// readColumns reads a table whose columns are named after the given facts.
func readColumns(text string, lenient bool, facts ...string) (workload.Trace, error) {
	var columns []schema.Setting
	for _, f := range facts {
		columns = append(columns, schema.Setting{Name: f, Value: f})
	}
	return formats.Find("table").Read("log", strings.NewReader(text), formats.Options{Lenient: lenient, Args: map[string]any{"columns": columns}})
}

func way(name string, threads, gpus int, gpu string, asked, run time.Duration) workload.Alternative {
	return workload.Alternative{RunTime: run, Alternative: scheduler.Alternative{
		Name: name, Threads: threads, GPUs: gpus, GPU: gpu, Predicted: asked}}
}

// A job has an alternative for each run time in its row. The first alternative is its own request.
func TestAlternativesOfTables(t *testing.T) {
	const s = time.Second
	tr, err := readColumns(`job,arrival,gpus,run_time,requested_time,cpu_run_time,cpu_threads,cpu_requested_time,K80_run_time
both,0,2,10,20,30,4,40,
gpu,1,1,10,,,,,
cpu,2,,,,3,2,4,
typed,3,1,,,,,,9
all,4,1,5,,7,,,9
`, false, "job", "arrival", "gpus", "run_time", "requested_time", "cpu_run_time", "cpu_threads", "cpu_requested_time",
		"K80_run_time")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]workload.Alternative{
		{way("gpu", 2, 2, "", 20*s, 10*s), way("cpu", 4, 0, "", 40*s, 30*s)},
		nil,
		nil,
		{way("K80", 1, 1, "K80", 0, 9*s)},
		{way("gpu", 1, 1, "", 0, 5*s), way("cpu", 1, 0, "", 0, 7*s), way("K80", 1, 1, "K80", 0, 9*s)},
	}
	if diff := cmp.Diff(want, tr.Alternatives); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]time.Duration{10 * s, 10 * s, 3 * s, 9 * s, 5 * s}, tr.RunTimes); diff != "" {
		t.Error(diff)
	}
	if j := tr.Jobs[2]; j.Threads != 2 || j.GPUs != 0 || j.Predicted != 4*s {
		t.Errorf("%+v", j)
	}
	if text := strings.Join(tr.Assumed, ", "); !strings.Contains(text, `threads of the alternative "K80"`) ||
		strings.Contains(text, `alternative "cpu"`) {
		t.Error(text)
	}
	shape := formats.Shape{Limit: 1, ThreadsPerProcessor: 3, MinRunTime: 15 * s}
	if err := shape.Apply(&tr); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]workload.Alternative{
		{way("gpu", 6, 2, "", 20*s, 15*s), way("cpu", 12, 0, "", 40*s, 30*s)},
	}, tr.Alternatives); diff != "" {
		t.Error(diff)
	}
}

func TestAlternativesThatCannotBe(t *testing.T) {
	_, err := readColumns("arrival,cpu_threads\n0,1\n", false, "arrival", "cpu_threads")
	var about *formats.ArgError
	if !errors.As(err, &about) || !strings.Contains(err.Error(), `no column is given for the run times of the alternative "cpu"`) {
		t.Errorf("%v", err)
	}
	tr, err := readColumns(`arrival,gpus,nodes,run_time,cpu_run_time,K80_run_time,K80_gpus
0,1,,5,soon,,
0,1,,5,-1,,
0,0,,5,6,,
0,1,,,,,
0,2,2,5,,7,3
0,1,,5,,7,0
1,1,,5,7,,
`, true, "arrival", "gpus", "nodes", "run_time", "cpu_run_time", "K80_run_time", "K80_gpus")
	if err != nil || len(tr.Jobs) != 1 || len(tr.Skipped) != 6 {
		t.Fatalf("%v: %d jobs, %d lines left out", err, len(tr.Jobs), len(tr.Skipped))
	}
	for i, want := range []string{
		`:2: cpu_run_time: "soon" is not a time`, ":3: cpu_run_time: -1 is below 0",
		`:4: the job's own request and an alternative are both called "cpu"`, ":5: it has no run time",
		`:6: 3 GPUs of "K80" cannot be divided evenly over 2 nodes`,
		`:7: the alternative "K80" is named after a type of GPU, but requests no GPUs`,
	} {
		if !strings.Contains(tr.Skipped[i].Error(), want) {
			t.Errorf("%v, want %s", tr.Skipped[i], want)
		}
	}
}

// What contradicts itself in tfexp's own table is wrong at its line.
func TestAlternativesOfOwnTable(t *testing.T) {
	head := strings.Join(columns, ",") + ",alternatives\n"
	for row, want := range map[string]string{
		"j,,0,1,0,0,1,0,1,false,0,,,,5,,gpu threads=1 gpus=1 run_time_s=6":                                 "begins with the job's own request",
		"j,,0,1,0,0,1,0,1,true,0,,,,5,,gpu threads=1 gpus=1 run_time_s=5":                                  "whose request changes",
		"j,,0,1,0,0,1,0,1,false,0,,,,5,,gpu threads=1 gpus=1 run_time_s=5;gpu threads=1":                   "is not a list of alternatives",
		"j,,0,1,0,0,1,0,1,false,0,,,,5,,gpu threads=1 gpus=1 run_time_s=5;cpu threads=0":                   "is not a list of alternatives",
		"j,,0,1,0,0,1,0,1,false,0,,,,5,,gpu threads=1 gpus=1 run_time_s=5;cpu threads=1 cores=2":           "is not a list of alternatives",
		"j,,0,2,0,0,2,0,2,false,0,,,,5,,gpu threads=2 gpus=2 run_time_s=5;cpu threads=3 run_time_s=5":      "evenly divided over 2 nodes",
		"j,,0,1,0,0,1,0,1,false,0,,,,5,,gpu threads=1 gpus=1 run_time_s=5;V threads=1 gpus=0 gpu=V100 run": "is not a list of alternatives",
	} {
		_, err := formats.CSV.Read("w", strings.NewReader(head+row+"\n"), formats.Options{})
		if err == nil || !strings.Contains(err.Error(), "w:2: alternatives ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", row, err, want)
		}
	}
}
