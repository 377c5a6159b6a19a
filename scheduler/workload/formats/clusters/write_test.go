package clusters

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// A trace that was written in a format is read back with the same values, and is then written to the same bytes.
func TestFormatsReplayByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]string{"swf", "requests", "batsim"}).Draw(t, "format")
		class := rapid.SampledFrom([]string{"job", "deep", "shallow"})
		var tr workload.Trace
		at := int64(0)
		for i := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			at += rapid.Int64Range(0, 1e12).Draw(t, "gap")
			j := scheduler.Job{
				Number: i, Class: class.Draw(t, "class"), Arrival: time.Duration(at),
				Threads: rapid.IntRange(1, 64).Draw(t, "threads"), Deadline: scheduler.Never,
			}
			j.Name = fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"job", "mine"}).Draw(t, "name"), i)
			if format != "requests" {
				j.Predicted = time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "predicted"))
				tr.RunTimes = append(tr.RunTimes, time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "run time")))
			} else {
				j.Priority = rapid.IntRange(0, 3).Draw(t, "priority")
			}
			if format == "swf" {
				j.User = rapid.SampledFrom([]string{"", "ann", "user-7"}).Draw(t, "user")
				j.Memory = 1024 * int64(j.Threads) * rapid.Int64Range(0, 1<<30).Draw(t, "memory")
			}
			tr.Jobs = append(tr.Jobs, j)
		}
		if format == "requests" {
			for range rapid.IntRange(0, 2).Draw(t, "updates") {
				j := rapid.IntRange(0, len(tr.Jobs)-1).Draw(t, "updated")
				tr.Resizes = append(tr.Resizes, scheduler.Resize{
					Job: j, At: tr.Jobs[j].Arrival + time.Duration(rapid.Int64Range(0, 1e10).Draw(t,
						"later")), Threads: rapid.IntRange(1, 9).Draw(t, "to"),
				})
			}
		}
		var once, twice bytes.Buffer
		if err := formats.Find(format).Write(&once, tr); err != nil {
			t.Fatal(err)
		}
		back, err := formats.Find(format).Read("w", bytes.NewReader(once.Bytes()), formats.Options{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, once.String())
		}
		shape := formats.Shape{Start: tr.Jobs[0].Arrival,
			Shifted: format == "requests"} // as the first line of the file says
		if err := shape.Apply(&back); err != nil {
			t.Fatal(err)
		}
		for i, j := range back.Jobs {
			want := tr.Jobs[i]
			if j.Arrival != want.Arrival || j.Threads != want.Threads || j.Memory != want.Memory ||
				want.Predicted > 0 && j.Predicted != want.Predicted || tr.RunTimes != nil && back.RunTimes[i] != tr.RunTimes[i] {
				t.Fatalf("job %d: %+v, want %+v in\n%s", i, j, want, once.String())
			}
		}
		if err := formats.Find(format).Write(&twice, back); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Fatalf("once\n%s\ntwice\n%s", once.String(), twice.String())
		}
	})
}

// A workload that a format cannot hold completely is refused.
func TestFormatsRefuseWhatTheyCannotHold(t *testing.T) {
	for _, c := range []struct {
		what    string
		formats []string
		change  func(*workload.Trace)
	}{
		{"GPUs", []string{"swf", "batsim"}, func(t *workload.Trace) { t.Jobs[1].GPUs = 1 }},
		{"several nodes", []string{"swf", "batsim"}, func(t *workload.Trace) { t.Jobs[1].Nodes = 2 }},
		{"a size that changes", []string{"swf", "batsim"}, func(t *workload.Trace) { t.Jobs[1].Malleable = true }},
		{"a deadline", []string{"swf", "requests", "batsim"}, func(t *workload.Trace) { t.Jobs[1].Deadline = time.Second }},
		{"a change of its request", []string{"swf", "batsim"},
			func(t *workload.Trace) { t.Resizes = []scheduler.Resize{{Job: 1, Threads: 1}} }},
		{"a priority", []string{"swf", "batsim"}, func(t *workload.Trace) { t.Jobs[1].Priority = 1 }},
		{"a memory", []string{"batsim"}, func(t *workload.Trace) { t.Jobs[1].Memory = 1 }},
		{"a user", []string{"requests", "batsim"}, func(t *workload.Trace) { t.Jobs[1].User = "ann" }},
		{"a requested time", []string{"requests"}, func(t *workload.Trace) { t.Jobs[1].Predicted = 1 }},
		{"a run time of its own", []string{"requests"}, func(t *workload.Trace) { t.RunTimes[1] = 1 }},
		{"a change of its request before it arrives", []string{"requests"}, func(t *workload.Trace) {
			t.Jobs[1].Arrival, t.Resizes = 5, []scheduler.Resize{{Job: 1, At: 1, Threads: 1}}
		}},
		{"a name with a comma", []string{"requests"}, func(t *workload.Trace) { t.Jobs[1].Name = "a,b" }},
		{"has no run time", []string{"swf", "batsim"}, func(t *workload.Trace) { t.RunTimes[1] = -1 }},
	} {
		for _, f := range c.formats {
			run := time.Second
			if f == "requests" {
				run = -1
			}
			job := func(i int) scheduler.Job {
				return scheduler.Job{Number: i, Name: fmt.Sprintf("a-%d", i), Class: "a", Threads: 1, Deadline: scheduler.Never}
			}
			tr := workload.Trace{Jobs: []scheduler.Job{job(0), job(1)}, RunTimes: slices.Repeat([]time.Duration{run}, 2)}
			if err := formats.Find(f).Write(&bytes.Buffer{}, tr); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			c.change(&tr)
			if err := formats.Find(f).Write(&bytes.Buffer{}, tr); !errors.Is(err, formats.ErrCannotHold) || !strings.Contains(err.Error(),
				c.what) {
				t.Errorf("%s: error %v, want one that says %q", f, err, c.what)
			}
		}
	}
}

// Spreadsheets begin a text file with a byte-order mark, and end lines as Windows does.
func TestFilesOfSpreadsheets(t *testing.T) {
	const mark = "\ufeff"
	for format, text := range map[string]string{
		"requests": "execution,one,image,2,3\r\n",
		"swf":      "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\r\n",
		"csv":      strings.Join(columns, ",") + "\r\na-1,a,0,1,0,0,0,0,1,false,0,,,,5,\r\n",
		"batsim":   `{"nb_res": 4, "jobs": [{"id": "1", "subtime": 0, "res": 2, "profile": "p"}], "profiles": {"p": {"type": "delay", "delay": 3}}}`,
	} {
		trace, err := formats.Find(format).Read("file", strings.NewReader(mark+text), formats.Options{})
		if err != nil || len(trace.Jobs) != 1 {
			t.Errorf("%s: %d jobs, %v", format, len(trace.Jobs), err)
		}
	}
}
