package workload

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	want := []string{"long-1 3s", "long-2 3s", "short-1 1s", "short-2 3s", "short-3 5s", "long-3 5s", "long-4 4s",
		"due-1 1s"}
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

// The draws of one batch depend only on the seed, the workload and its place.
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
	if Stream(1, "a", "b").Uint64() == Stream(1, "ab").Uint64() || Stream(1, "a/b").Uint64() == Stream(1, "a",
		"b").Uint64() {
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
		"is out of range":                batch("a", 9, Arrivals{Kind: Every, Mean: math.MaxInt64 / 4}),
	} {
		if _, err := Realise("w", []Submit{s}, 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// place fails the test unless the error has the line and the text.
func place(t *testing.T, err error, line int, text string) {
	t.Helper()
	var at *LineError
	if !errors.As(err, &at) || at.Line != line || at.File != "f" || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want f:%d and %q", err, line, text)
	}
}

func TestInstants(t *testing.T) {
	const text = "user,at\nada,2.5\nbob, 1\nada,-1\nbob\nada,soon\n"
	got, skipped, err := ReadInstants("f", strings.NewReader(text), "at", true)
	if err != nil || !slices.Equal(got, []time.Duration{2500 * time.Millisecond, time.Second}) || len(skipped) != 3 {
		t.Errorf("%v, skipped %v, error %v", got, skipped, err)
	}
	for i, want := range []string{"before the start", "the number of its fields is", `"soon" is not a number`} {
		place(t, skipped[i], 4+i, want)
	}
	for want, text := range map[string]string{"the file is empty": "", `no column "at"`: "a,b\n1,2\n"} {
		_, _, err := ReadInstants("f", strings.NewReader(text), "at", false)
		place(t, err, 1, want)
	}
	if _, _, err := ReadInstants("f", strings.NewReader(text), "at", false); err == nil || strings.Count(err.Error(),
		"f:") != 3 {
		t.Errorf("error %v", err)
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
	if err := (Shape{Limit: 2, Scale: 0.5, Resolution: s, Start: 4 * s, Shifted: true, MinRunTime: s,
		ThreadsPerProcessor: 2}).Apply(&tr); err != nil {
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
		t.Error("arrivals is out of range are accepted")
	}
}

func TestTemplate(t *testing.T) {
	one := scheduler.Job{Number: 0, Name: "a", Class: "mlp", Threads: 4, Priority: -1, Deadline: scheduler.Never}
	other := scheduler.Job{
		Number: 1, Name: "b", Class: "svm", Arrival: 1500 * time.Millisecond, Threads: 2,
		Priority: 3, Deadline: scheduler.Never, GPUs: 2, Nodes: 2,
	}
	template := scheduler.Job{Class: "deep", Malleable: true, Priority: 1, Deadline: time.Second, MinThreads: 2,
		MaxThreads: 3}
	got := Template(one, template)
	if got.Priority != 1 || got.MinThreads != 2 || got.MaxThreads != 4 || !got.Malleable || got.Name != "a" ||
		got.Class != "deep" {
		t.Errorf("%+v", got)
	}
	if got := Template(other, template); got.Priority != 3 || got.MaxThreads != 3 ||
		got.Deadline != 2500*time.Millisecond ||
		got.GPUs != 2 || got.Nodes != 2 {
		t.Errorf("%+v", got)
	}
}
