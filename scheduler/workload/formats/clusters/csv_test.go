package clusters

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

func TestCSVReplaysByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]scheduler.Job, rapid.IntRange(0, 5).Draw(t, "jobs"))
		duration := rapid.Int64Range(0, math.MaxInt64-2e9)
		for i := range jobs {
			jobs[i] = scheduler.Job{
				Number: i, Name: fmt.Sprintf("job-%d", i), Class: rapid.StringMatching(`[a-z",;é ]*`).Draw(t, "class"),
				Arrival: time.Duration(duration.Draw(t, "arrival")), Threads: rapid.IntRange(1, 1<<20).Draw(t, "threads"),
				MinThreads: rapid.IntRange(0, 9).Draw(t, "min"), MaxThreads: rapid.IntRange(0, 9).Draw(t, "max"),
				GPUs: rapid.IntRange(0, 9).Draw(t, "gpus"), Memory: rapid.Int64Range(0, math.MaxInt64).Draw(t, "memory"),
				Nodes: rapid.IntRange(0, 9).Draw(t, "nodes"), Malleable: rapid.Bool().Draw(t, "malleable"),
				Priority: rapid.IntRange(0, 9).Draw(t, "priority"), User: rapid.StringMatching(`[a-z ]*`).Draw(t, "user"),
				Deadline:  scheduler.Never,
				Predicted: time.Duration(duration.Draw(t, "predicted")),
			}
			if rapid.Bool().Draw(t, "due") {
				jobs[i].Deadline = time.Duration(duration.Draw(t, "deadline"))
			}
		}
		for i := range jobs {
			j := &jobs[i]
			j.MinThreads = min(j.MinThreads, j.Threads)
			if j.MaxThreads > 0 {
				j.MaxThreads = max(j.MaxThreads, j.Threads)
			}
		}
		original := workload.Trace{Jobs: jobs}
		if len(jobs) > 0 && rapid.Bool().Draw(t, "timed") {
			original.RunTimes = make([]time.Duration, len(jobs))
			for i := range jobs {
				original.RunTimes[i] = time.Duration(rapid.Int64Range(-1, math.MaxInt64-2e9).Draw(t, "run time"))
			}
			original.RunTimes[0] = max(original.RunTimes[0], 0)
		}
		for i := range jobs {
			if !jobs[i].Malleable && jobs[i].Nodes < 2 && rapid.Bool().Draw(t, "alternatives") {
				drawAlternatives(t, &original, i)
			}
		}
		for at := range rapid.IntRange(0, 4).Draw(t, "resizes") {
			if len(jobs) > 0 && original.Alternatives == nil {
				original.Resizes = append(original.Resizes, scheduler.Resize{
					At: time.Duration(at), Job: rapid.IntRange(0, len(jobs)-1).Draw(t, "job"), Threads: rapid.IntRange(1, 9).Draw(t,
						"to"),
				})
			}
		}
		slices.SortStableFunc(original.Resizes, func(a, b scheduler.Resize) int { return a.Job - b.Job }) // as rows have them
		var once, twice bytes.Buffer
		if err := formats.WriteCSV(&once, original); err != nil {
			t.Fatal(err)
		}
		back, err := formats.CSV.Read("w.csv", bytes.NewReader(once.Bytes()), formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(jobs, back.Jobs, func(a, b scheduler.Job) bool { return reflect.DeepEqual(a, b) }) ||
			!slices.Equal(original.RunTimes, back.RunTimes) || !slices.Equal(original.Resizes, back.Resizes) {
			t.Fatal(cmp.Diff(original, back))
		}
		if err := formats.WriteCSV(&twice, back); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%v\n%s\n%s", err, &once, &twice)
		}
	})
}

const (
	csvHead = "job,class,arrival_s,threads,min_threads,max_threads,gpus,memory_bytes,nodes,malleable,priority,deadline_s,user,predicted_s,run_time_s,resizes\n"
	csvLine = "a-1,a,0.5,1,0,0,0,0,0,false,0,,,,,\n"
)

// place fails the test unless an error has the line and the text.
func place(t *testing.T, err error, line int, text string) {
	t.Helper()
	var at *textfile.LineError
	if !errors.As(err, &at) || at.Line != line || at.File != "f" || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want f:%d and %q", err, line, text)
	}
}

// drawAlternatives gives a job of a trace alternatives, the first of which is its request.
func drawAlternatives(t *rapid.T, tr *workload.Trace, i int) {
	j, run := tr.Jobs[i], time.Duration(-1)
	if tr.Timed(i) {
		run = tr.RunTimes[i]
	}
	all := []workload.Alternative{{RunTime: run, Alternative: scheduler.Alternative{
		Name: "own", Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Predicted: j.Predicted,
	}}}
	for k := range rapid.IntRange(0, 2).Draw(t, "further") {
		a := workload.Alternative{RunTime: time.Duration(rapid.Int64Range(-1, 1e15).Draw(t, "run time")),
			Alternative: scheduler.Alternative{
				Name: fmt.Sprintf("é-%d", k), Threads: rapid.IntRange(1, 9).Draw(t, "threads"), GPUs: k,
				Memory: rapid.Int64Range(0, 1<<50).Draw(t, "memory"), Predicted: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "predicted")),
			}}
		if k > 0 {
			a.GPU = rapid.StringMatching(`([A-Z0-9é]( [a-z]+=)?)?`).Draw(t, "type")
		}
		all = append(all, a)
	}
	if tr.Alternatives == nil {
		tr.Alternatives = make([][]workload.Alternative, len(tr.Jobs))
	}
	tr.Alternatives[i] = all
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	if tr, err := formats.CSV.Read("f", strings.NewReader(csvHead+csvLine), formats.Options{}); err != nil ||
		tr.Jobs[0].Arrival != time.Second/2 {
		t.Fatal(tr, err)
	}
	for _, c := range []struct {
		text string
		line int
		want string
	}{
		{"", 1, "the file is empty"},
		{"job,class\n", 1, "the columns are not"},
		{strings.ToUpper(csvHead), 1, "the columns are not"},
		{csvHead + csvLine + csvLine, 3, `"a-1" is there twice`},
		{csvHead + csvLine + "b,a,x" + csvLine[9:], 3, `arrival_s "x"`},
		{csvHead + "b,a,0.1234567891,1,0,0,0,0,0,false,0,,,,,\n", 2, "arrival_s"},
		{csvHead + "b,a,,1,0,0,0,0,0,false,0,,,,,\n", 2, "arrival_s"},
		{csvHead + "b,a,1,0,0,0,0,0,0,false,0,,,,,\n", 2, `threads "0"`},
		{csvHead + "b,a,1,1,0,0,0,0,0,maybe,0,,,,,\n", 2, `malleable "maybe"`},
		{csvHead + "b,a,1,1,0,0,-1,0,0,true,0,,,,,\n", 2, `gpus "-1"`},
		{csvHead + ",a,1,1,0,0,0,0,0,true,0,,,,,\n", 2, "job"},
		{csvHead + "b,a,1\n", 2, "the row has"},
		{csvHead + "b,a,1,2,3,0,0,0,0,true,0,,,,,\n", 2, `min_threads "3"`},
		{csvHead + "b,a,1,2,0,1,0,0,0,true,0,,,,,\n", 2, `max_threads "1"`},
		{csvHead + "b,a,1,2,0,0,0,0,0,true,0,,,,x,\n", 2, `run_time_s "x"`},
		{csvHead + "b,a,1,2,0,0,0,0,0,true,0,,,,,1.5\n", 2, `resizes "1.5"`},
		{csvHead + "b,a,1,2,0,0,0,0,0,true,0,,,,,1.5:0\n", 2, `resizes "1.5:0"`},
		{csvHead + "b/c,a,1,2,0,0,0,0,0,true,0,,,,,\n", 2, `"b/c" has a character`},
	} {
		_, err := formats.CSV.Read("f", strings.NewReader(c.text), formats.Options{})
		place(t, err, c.line, c.want)
		tr, err := formats.CSV.Read("f", strings.NewReader(c.text), formats.Options{Lenient: true})
		if c.line > 1 && (err != nil || len(tr.Skipped) != 1) {
			t.Errorf("lenient: %v skipped, error %v", tr.Skipped, err)
		}
	}
}
