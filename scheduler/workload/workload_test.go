package workload

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
)

func batch(class string, count int, a Arrivals) Submit {
	return Submit{Job: scheduler.Job{Class: class, Threads: 1}, Count: count, Arrivals: a}
}

func TestRealise(t *testing.T) {
	s := time.Second
	jobs, err := Realise("mixed", []Submit{
		batch("long", 2, Arrivals{Kind: At, Times: []time.Duration{3 * s}}),
		batch("short", 3, Arrivals{Kind: Every, Start: s, Mean: 2 * s}),
		batch("long", 2, Arrivals{Kind: At, Times: []time.Duration{5 * s, 4 * s}}),
		{Job: scheduler.Job{Class: "due", Deadline: 10 * s}, Count: 1, Arrivals: Arrivals{Start: s}},
	}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, j := range jobs {
		if j.Number != i {
			t.Errorf("job %d has number %d", i, j.Number)
		}
		got = append(got, fmt.Sprint(j.Name, " ", j.Arrival))
	}
	want := []string{"long-1 3s", "long-2 3s", "short-1 1s", "short-2 3s", "short-3 5s", "long-3 5s", "long-4 4s", "due-1 1s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if jobs[7].Deadline != 11*s || jobs[0].Deadline != scheduler.Never {
		t.Errorf("deadlines %s and %s", jobs[7].Deadline, jobs[0].Deadline)
	}
}

func TestArrivalsHaveTheirDistribution(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		a  Arrivals
		sd float64 // of a gap
	}{
		{Arrivals{Kind: Exponential, Mean: time.Second}, 1},
		{Arrivals{Kind: Normal, Mean: time.Second, SD: 200 * time.Millisecond}, 0.2},
	} {
		jobs, err := Realise("w", []Submit{batch("a", n, c.a)}, 7, nil)
		if err != nil {
			t.Fatal(err)
		}
		last, sum, squares := time.Duration(0), 0.0, 0.0
		for _, j := range jobs {
			gap := (j.Arrival - last).Seconds()
			if gap < 0 {
				t.Fatal("arrivals go back")
			}
			last = j.Arrival
			sum += gap
			squares += gap * gap
		}
		mean := sum / n
		sd := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-1) > 4*c.sd/math.Sqrt(n) || math.Abs(sd/c.sd-1) > 0.05 {
			t.Errorf("%s: mean gap %.4f s, standard deviation %.4f", c.a.Kind, mean, sd)
		}
	}
}

// What one batch draws depends on the seed, the workload and its place alone.
func TestStreamsAreIndependent(t *testing.T) {
	exp := Arrivals{Kind: Exponential, Mean: time.Second}
	draw := func(name string, seed int64, first int) []scheduler.Job {
		jobs, err := Realise(name, []Submit{batch("a", first, exp), batch("b", 5, exp)}, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			jobs[i].Number = 0
		}
		return jobs[first:]
	}
	same := draw("w", 1, 3)
	if !reflect.DeepEqual(same, draw("w", 1, 3)) || !reflect.DeepEqual(same, draw("w", 1, 30)) {
		t.Error("the second batch depends on the first")
	}
	if reflect.DeepEqual(same, draw("w", 2, 3)) || reflect.DeepEqual(same, draw("v", 1, 3)) {
		t.Error("the draws do not depend on the seed and the name")
	}
	if Stream(1, "a", "b").Uint64() == Stream(1, "ab").Uint64() || Stream(1, "a/b").Uint64() == Stream(1, "a", "b").Uint64() {
		t.Error("different paths are the same stream")
	}
}

func TestRealiseRefuses(t *testing.T) {
	for want, s := range map[string]Submit{
		"a count of -1":                  batch("a", -1, Arrivals{}),
		"2 arrival times for 3 jobs":     batch("a", 3, Arrivals{Kind: At, Times: make([]time.Duration, 2)}),
		"an arrival at -1ns":             batch("a", 1, Arrivals{Kind: At, Times: []time.Duration{-1}}),
		`unknown kind of arrivals "now"`: batch("a", 1, Arrivals{Kind: "now"}),
		"is negative":                    batch("a", 1, Arrivals{Kind: Normal, SD: -1}),
		"past the end of time":           batch("a", 9, Arrivals{Kind: Every, Mean: math.MaxInt64 / 4}),
	} {
		if _, err := Realise("w", []Submit{s}, 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

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
		original := Trace{Jobs: jobs}
		if len(jobs) > 0 && rapid.Bool().Draw(t, "timed") {
			original.RunTimes = make([]time.Duration, len(jobs))
			for i := range jobs {
				original.RunTimes[i] = time.Duration(rapid.Int64Range(-1, math.MaxInt64-2e9).Draw(t, "run time"))
			}
			original.RunTimes[0] = max(original.RunTimes[0], 0)
		}
		for at := range rapid.IntRange(0, 4).Draw(t, "resizes") {
			if len(jobs) > 0 {
				original.Resizes = append(original.Resizes, scheduler.Resize{
					At: time.Duration(at), Job: rapid.IntRange(0, len(jobs)-1).Draw(t, "job"), Threads: rapid.IntRange(1, 9).Draw(t, "to"),
				})
			}
		}
		slices.SortStableFunc(original.Resizes, func(a, b scheduler.Resize) int { return a.Job - b.Job }) // as rows have them
		var once, twice bytes.Buffer
		if err := WriteCSV(&once, original); err != nil {
			t.Fatal(err)
		}
		back, err := ReadCSV("w.csv", bytes.NewReader(once.Bytes()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(jobs, back.Jobs, func(a, b scheduler.Job) bool { return reflect.DeepEqual(a, b) }) || !slices.Equal(original.RunTimes, back.RunTimes) || !slices.Equal(original.Resizes, back.Resizes) {
			t.Fatal(cmp.Diff(original, back))
		}
		if err := WriteCSV(&twice, back); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%v\n%s\n%s", err, &once, &twice)
		}
	})
}

const (
	csvHead = "job,class,arrival_s,threads,min_threads,max_threads,gpus,memory_bytes,nodes,malleable,priority,deadline_s,user,predicted_s,run_time_s,resizes\n"
	csvRow  = "a-1,a,0.5,1,0,0,0,0,0,false,0,,,,,\n"
)

// place fails the test unless the error has the line and the text.
func place(t *testing.T, err error, line int, text string) {
	t.Helper()
	var at *LineError
	if !errors.As(err, &at) || at.Line != line || at.File != "f" || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want f:%d and %q", err, line, text)
	}
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	if tr, err := ReadCSV("f", strings.NewReader(csvHead+csvRow), Options{}); err != nil || tr.Jobs[0].Arrival != time.Second/2 {
		t.Fatal(tr, err)
	}
	for _, c := range []struct {
		text string
		line int
		want string
	}{
		{"", 1, "the file is empty"},
		{"job,class\n", 1, "wrong number of fields"},
		{strings.ToUpper(csvHead), 1, "the columns are not"},
		{csvHead + csvRow + csvRow, 3, `"a-1" is there twice`},
		{csvHead + csvRow + "b,a,x" + csvRow[9:], 3, `arrival_s "x"`},
		{csvHead + "b,a,0.1234567891,1,0,0,0,0,0,false,0,,,,,\n", 2, "arrival_s"},
		{csvHead + "b,a,,1,0,0,0,0,0,false,0,,,,,\n", 2, "arrival_s"},
		{csvHead + "b,a,1,0,0,0,0,0,0,false,0,,,,,\n", 2, `threads "0"`},
		{csvHead + "b,a,1,1,0,0,0,0,0,maybe,0,,,,,\n", 2, `malleable "maybe"`},
		{csvHead + "b,a,1,1,0,0,-1,0,0,true,0,,,,,\n", 2, `gpus "-1"`},
		{csvHead + ",a,1,1,0,0,0,0,0,true,0,,,,,\n", 2, "job"},
		{csvHead + "b,a,1\n", 2, "wrong number of fields"},
		{csvHead + "b,a,1,2,3,0,0,0,0,true,0,,,,,\n", 2, `min_threads "3"`},
		{csvHead + "b,a,1,2,0,1,0,0,0,true,0,,,,,\n", 2, `max_threads "1"`},
		{csvHead + "b,a,1,2,0,0,0,0,0,true,0,,,,x,\n", 2, `run_time_s "x"`},
		{csvHead + "b,a,1,2,0,0,0,0,0,true,0,,,,,1.5\n", 2, `resizes "1.5"`},
		{csvHead + "b,a,1,2,0,0,0,0,0,true,0,,,,,1.5:0\n", 2, `resizes "1.5:0"`},
		{csvHead + "b/c,a,1,2,0,0,0,0,0,true,0,,,,,\n", 2, `"b/c" has a character`},
	} {
		_, err := ReadCSV("f", strings.NewReader(c.text), Options{})
		place(t, err, c.line, c.want)
		tr, err := ReadCSV("f", strings.NewReader(c.text), Options{Lenient: true})
		if c.line > 1 && (err != nil || len(tr.Skipped) != 1) {
			t.Errorf("lenient: %v skipped, error %v", tr.Skipped, err)
		}
	}
}

func TestInstants(t *testing.T) {
	const text = "user,at\nada,2500\nbob, 1\nada,-1\nbob\nada,soon\n"
	got, skipped, err := ReadInstants("f", strings.NewReader(text), "at", Options{Unit: time.Millisecond, Lenient: true})
	if err != nil || !slices.Equal(got, []time.Duration{2500 * time.Millisecond, time.Millisecond}) || len(skipped) != 3 {
		t.Errorf("%v, skipped %v, error %v", got, skipped, err)
	}
	for i, want := range []string{"before the start", "wrong number of fields", `"soon" is not a number`} {
		place(t, skipped[i], 4+i, want)
	}
	for want, text := range map[string]string{"the file is empty": "", `no column "at"`: "a,b\n1,2\n"} {
		_, _, err := ReadInstants("f", strings.NewReader(text), "at", Options{})
		place(t, err, 1, want)
	}
	if _, _, err := ReadInstants("f", strings.NewReader(text), "at", Options{}); err == nil || strings.Count(err.Error(), "f:") != 3 {
		t.Errorf("error %v", err)
	}
}

const swf = `; MaxProcs: 128
; Note: unsorted on purpose
  1 5000 -1 3000 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1

  2 1000 -1 0 4 -1 -1 8 60000 -1 1 -1 1 -1 -1 -1 -1 -1
`

func TestSWF(t *testing.T) {
	tr, err := ReadSWF("f", strings.NewReader(swf), Options{Unit: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	want := Trace{
		Processors: 128,
		RunTimes:   []time.Duration{3 * time.Second, 0},
		Lines:      []int32{3, 5},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "job-1", Class: "job", Arrival: 5 * time.Second, Threads: 4, Priority: -1, Deadline: scheduler.Never, User: "user-7", Predicted: 3 * time.Second},
			{Number: 1, Name: "job-2", Class: "job", Arrival: 1 * time.Second, Threads: 8, Priority: -1, Deadline: scheduler.Never, Predicted: time.Minute},
		},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The memory is by processor, in KiB: the requested one, or else the used one.
// Partial executions, and jobs that were cancelled before they ran, are not
// jobs of their own.
func TestSWFMemoryAndStatus(t *testing.T) {
	const log = `1 0 -1 10 4 -1 7 -1 -1 1024 1 3 1 -1 -1 -1 -1 -1
2 0 -1 10 4 -1 0.5 8 -1 -1 0 -1 1 -1 -1 -1 -1 -1
3 0 -1 10 4 -1 -1 -1 -1 0 1 -1 1 -1 -1 -1 -1 -1
3 0 -1 5 4 -1 -1 -1 -1 0 2 -1 1 -1 -1 -1 -1 -1
3 5 -1 5 4 -1 -1 -1 -1 0 3 -1 1 -1 -1 -1 -1 -1
4 5 9 -1 -1 -1 -1 4 -1 0 5 -1 1 -1 -1 -1 -1 -1
5 5 9 20 4 -1 -1 4 -1 0 5 -1 1 -1 -1 -1 -1 -1
`
	tr, err := ReadSWF("f", strings.NewReader(log), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var memory []int64
	for _, j := range tr.Jobs {
		names, memory = append(names, j.Name), append(memory, j.Memory)
	}
	if want := []string{"job-1", "job-2", "job-3", "job-5"}; !slices.Equal(names, want) || tr.Ignored != 3 {
		t.Errorf("jobs %v and %d ignored, want %v and 3", names, tr.Ignored, want)
	}
	if want := []int64{4 << 20, 8 * 512, 0, 0}; !slices.Equal(memory, want) {
		t.Errorf("memory %v, want %v", memory, want)
	}
	if tr, err = ReadSWF("f", strings.NewReader(log), Options{IgnoreMemory: true}); err != nil || tr.Jobs[0].Memory != 0 {
		t.Errorf("memory %d although it is to be ignored, error %v", tr.Jobs[0].Memory, err)
	}
	for want, line := range map[string]string{
		`memory "much" is not a number`: "6 0 -1 10 4 -1 -1 -1 -1 much 1 3 1 -1 -1 -1 -1 -1",
		`memory "1e30" is out of range`: "6 0 -1 10 4 -1 1e30 -1 -1 -1 1 3 1 -1 -1 -1 -1 -1",
	} {
		_, err := ReadSWF("f", strings.NewReader(log+line+"\n"), Options{})
		place(t, err, 8, want)
	}
}

func TestMalformedSWFLines(t *testing.T) {
	for want, line := range map[string]string{
		"17 fields":                        "3 1 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1",
		`submit time "x"`:                  "3 x -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"the submit time is -1":            "3 -1 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"the run time is -1":               "3 1 -1 -1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"the number of processors is -1":   "3 1 -1 1 -1 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		"out of range":                     "3 99999999999999 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		`run time "1e999" is not a number`: "3 1 -1 1e999 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		`"job-2" is there twice`:           "2 1 -1 1 4 -1 -1 -1 -1 -1 1 7 1 -1 -1 -1 -1 -1",
		`MaxProcs "many"`:                  "; MaxProcs: many",
	} {
		_, err := ReadSWF("f", strings.NewReader(swf+line+"\n"), Options{})
		place(t, err, 6, want)
		tr, err := ReadSWF("f", strings.NewReader(swf+line+"\n"), Options{Lenient: true})
		if err != nil || len(tr.Jobs) != 2 || len(tr.Skipped) != 1 {
			t.Errorf("lenient: %d jobs, %v skipped, error %v", len(tr.Jobs), tr.Skipped, err)
		}
	}
}

const batsim = `{
  "nb_res": 8,
  "jobs": [
    {"id": 0, "subtime": 1.5, "res": 4, "walltime": 300, "profile": "d"},
    {"id": "w0!1", "subtime": 2, "res": 2, "profile": "d"}
  ],
  "profiles": {"d": {"type": "delay", "delay": 12.25}, "p": {"type": "parallel", "cpu": [1]}}
}`

func TestBatsim(t *testing.T) {
	tr, err := ReadBatsim("f", strings.NewReader(batsim), Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := 12250 * time.Millisecond
	want := Trace{
		Processors: 8,
		RunTimes:   []time.Duration{run, run},
		Lines:      []int32{4, 5},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "job-0", Class: "d", Arrival: 1500 * time.Millisecond, Threads: 4, Priority: -1, Deadline: scheduler.Never, Predicted: 5 * time.Minute},
			{Number: 1, Name: "job-w0!1", Class: "d", Arrival: 2 * time.Second, Threads: 2, Priority: -1, Deadline: scheduler.Never, Predicted: run},
		},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range []struct {
		old, new string
		line     int
		want     string
	}{
		{`"res": 2`, `"res": 0`, 5, "asks for 0 cores"},
		{`"res": 2`, `"res": "2"`, 5, "cannot unmarshal"},
		{`2, "profile": "d"`, `2, "profile": "e"`, 5, `no profile "e"`},
		{`2, "profile": "d"`, `2, "profile": "p"`, 5, `of the type "parallel"`},
		{`"subtime": 2,`, `"subtime": 1e300,`, 5, "out of range"},
	} {
		text := strings.Replace(batsim, c.old, c.new, 1)
		_, err := ReadBatsim("f", strings.NewReader(text), Options{})
		place(t, err, c.line, c.want)
		tr, err := ReadBatsim("f", strings.NewReader(text), Options{Lenient: true})
		if err != nil || len(tr.Jobs) != 1 || len(tr.Skipped) != 1 {
			t.Errorf("lenient: %d jobs, %v skipped, error %v", len(tr.Jobs), tr.Skipped, err)
		}
	}
	_, err = ReadBatsim("f", strings.NewReader("{\n\"jobs\": [\n"), Options{Lenient: true})
	place(t, err, 3, "unexpected end")
}

const requests = `# action, instance, job, threads, wait, priority
execution,a,mlp,4,1.5
execution,b,svm,2,0,3

update,a,mlp,2,10
execution,c,mlp,1,0
`

func TestRequests(t *testing.T) {
	tr, err := ReadRequestTrace("f", strings.NewReader(requests), Options{})
	if err != nil {
		t.Fatal(err)
	}
	job := func(n int, name, class string, at time.Duration, threads, level int) scheduler.Job {
		return scheduler.Job{Number: n, Name: name, Class: class, Arrival: at, Threads: threads, Priority: level, Deadline: scheduler.Never}
	}
	want := Trace{
		Jobs: []scheduler.Job{
			job(0, "a", "mlp", 0, 4, -1),
			job(1, "b", "svm", 1500*time.Millisecond, 2, 3),
			job(2, "c", "mlp", 11500*time.Millisecond, 1, -1),
		},
		Lines:   []int32{2, 3, 6},
		Resizes: []scheduler.Resize{{At: 1500 * time.Millisecond, Job: 0, Threads: 2}}, ResizeLines: []int32{5},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	template := scheduler.Job{Class: "deep", Malleable: true, Priority: 1, Deadline: time.Second, MinThreads: 2, MaxThreads: 3}
	got := Template(tr.Jobs[0], template)
	if got.Priority != 1 || got.MinThreads != 2 || got.MaxThreads != 4 || !got.Malleable || got.Name != "a" || got.Class != "deep" {
		t.Errorf("%+v", got)
	}
	if got := Template(tr.Jobs[1], template); got.Priority != 3 || got.MaxThreads != 3 || got.Deadline != 2500*time.Millisecond {
		t.Errorf("%+v", got)
	}
}

func TestShape(t *testing.T) {
	s := time.Second
	read := func() Trace {
		return Trace{
			Jobs: []scheduler.Job{
				{Number: 0, Name: "late", Arrival: 13 * s, Threads: 2, Deadline: 20 * s, Predicted: 1},
				{Number: 1, Name: "early", Arrival: 10 * s, Threads: 1, Deadline: scheduler.Never},
				{Number: 2, Name: "cut", Arrival: 1 * s, Threads: 1, Deadline: scheduler.Never},
			},
			RunTimes:    []time.Duration{0, -1, 5 * s},
			Lines:       []int32{1, 2, 4},
			Resizes:     []scheduler.Resize{{At: 15 * s, Job: 1, Threads: 3}, {At: 16 * s, Job: 2, Threads: 1}},
			ResizeLines: []int32{3, 5},
		}
	}
	tr := read()
	if err := (Shape{Limit: 2, Scale: 0.5, Resolution: s, Start: 4 * s, Shifted: true, MinRunTime: s, ThreadsPerProcessor: 2}).Apply(&tr); err != nil {
		t.Fatal(err)
	}
	want := Trace{
		Jobs: []scheduler.Job{
			{Number: 0, Name: "late", Arrival: 5 * s, Threads: 4, Deadline: 12 * s, Predicted: s},
			{Number: 1, Name: "early", Arrival: 4 * s, Threads: 2, Deadline: scheduler.Never},
		},
		RunTimes:    []time.Duration{s, -1},
		Lines:       []int32{1, 2},
		Resizes:     []scheduler.Resize{{At: 6 * s, Job: 1, Threads: 6}},
		ResizeLines: []int32{3},
	}
	if diff := cmp.Diff(want, tr); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	tr = read()
	if err := (Shape{}).Apply(&tr); err != nil || cmp.Diff(read(), tr) != "" {
		t.Errorf("an empty shape changes the trace: %v\n%s", err, cmp.Diff(read(), tr))
	}
	if err := (Shape{Scale: 1e18}).Apply(&tr); err == nil {
		t.Error("arrivals past the end of time are accepted")
	}
}

func TestMalformedRequests(t *testing.T) {
	for want, line := range map[string]string{
		`unknown action "delete"`: "delete,a,mlp,1,0",
		"4 fields":                "execution,d,mlp,1",
		"7 fields":                "execution,d,mlp,1,0,1,1",
		`threads "0"`:             "execution,d,mlp,0,0",
		`threads "two"`:           "execution,d,mlp,two,0",
		`wait "-1"`:               "execution,d,mlp,1,-1",
		`wait "soon"`:             "execution,d,mlp,1,soon",
		`priority "-2"`:           "execution,d,mlp,1,0,-2",
		"has no name":             "execution,,mlp,1,0",
		`"../d" has a character`:  "execution,../d,mlp,1,0",
		`"a" is asked for twice`:  "execution,a,mlp,1,0",
		`which was not asked for`: "update,z,mlp,1,0",
		"more than can be told":   "execution,d,mlp,1,9223372030",
	} {
		_, _, err := ReadRequests("f", strings.NewReader(requests+line+"\n"), Options{})
		place(t, err, 7, want)
		lines, skipped, err := ReadRequests("f", strings.NewReader(requests+line+"\n"), Options{Lenient: true})
		if err != nil || len(lines) != 4 || len(skipped) != 1 {
			t.Errorf("lenient: %d requests, %v skipped, error %v", len(lines), skipped, err)
		}
	}
	// All that is wrong is told at once.
	_, _, err := ReadRequests("f", strings.NewReader("x\ny\nz\n"), Options{})
	if err == nil || strings.Count(err.Error(), "f:") != 3 {
		t.Errorf("error %v", err)
	}
}
