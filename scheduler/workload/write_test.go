package workload

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
)

// What a format can tell is read back, and written to the same bytes again.
func TestFormatsReplayByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]Format{SWF, Requests, Batsim}).Draw(t, "format")
		class := rapid.SampledFrom([]string{"job", "deep", "shallow"})
		var tr Trace
		at := int64(0)
		for i := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			at += rapid.Int64Range(0, 1e12).Draw(t, "gap")
			j := scheduler.Job{
				Number: i, Class: class.Draw(t, "class"), Arrival: time.Duration(at),
				Threads: rapid.IntRange(1, 64).Draw(t, "threads"), Deadline: scheduler.Never,
			}
			j.Name = fmt.Sprintf("%s-%d", rapid.SampledFrom([]string{"job", "mine"}).Draw(t, "name"), i)
			if format != Requests {
				j.Predicted = time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "predicted"))
				tr.RunTimes = append(tr.RunTimes, time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "run time")))
			} else {
				j.Priority = rapid.IntRange(0, 3).Draw(t, "priority")
			}
			if format == SWF {
				j.User = rapid.SampledFrom([]string{"", "ann", "user-7"}).Draw(t, "user")
				j.Memory = 1024 * int64(j.Threads) * rapid.Int64Range(0, 1<<30).Draw(t, "memory")
			}
			tr.Jobs = append(tr.Jobs, j)
		}
		if format == Requests {
			for range rapid.IntRange(0, 2).Draw(t, "updates") {
				j := rapid.IntRange(0, len(tr.Jobs)-1).Draw(t, "updated")
				tr.Resizes = append(tr.Resizes, scheduler.Resize{
					Job: j, At: tr.Jobs[j].Arrival + time.Duration(rapid.Int64Range(0, 1e10).Draw(t, "later")), Threads: rapid.IntRange(1, 9).Draw(t, "to"),
				})
			}
		}
		var once, twice bytes.Buffer
		if err := format.Write(&once, tr); err != nil {
			t.Fatal(err)
		}
		back, err := format.Read("w", bytes.NewReader(once.Bytes()), Options{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, once.String())
		}
		shape := Shape{Start: tr.Jobs[0].Arrival, Shifted: format == Requests} // as the first line of the file says
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
		if err := format.Write(&twice, back); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Fatalf("once\n%s\ntwice\n%s", once.String(), twice.String())
		}
	})
}

// Nothing is dropped in silence.
func TestFormatsRefuseWhatTheyCannotTell(t *testing.T) {
	for _, c := range []struct {
		what    string
		formats []Format
		change  func(*Trace)
	}{
		{"GPUs", []Format{SWF, Batsim}, func(t *Trace) { t.Jobs[1].GPUs = 1 }},
		{"several nodes", []Format{SWF, Batsim}, func(t *Trace) { t.Jobs[1].Nodes = 2 }},
		{"a size that changes", []Format{SWF, Batsim}, func(t *Trace) { t.Jobs[1].Malleable = true }},
		{"a deadline", []Format{SWF, Requests, Batsim}, func(t *Trace) { t.Jobs[1].Deadline = time.Second }},
		{"a change of its request", []Format{SWF, Batsim}, func(t *Trace) { t.Resizes = []scheduler.Resize{{Job: 1, Threads: 1}} }},
		{"a priority", []Format{SWF, Batsim}, func(t *Trace) { t.Jobs[1].Priority = 1 }},
		{"a memory", []Format{Batsim}, func(t *Trace) { t.Jobs[1].Memory = 1 }},
		{"a user", []Format{Requests, Batsim}, func(t *Trace) { t.Jobs[1].User = "ann" }},
		{"a requested time", []Format{Requests}, func(t *Trace) { t.Jobs[1].Predicted = 1 }},
		{"a run time of its own", []Format{Requests}, func(t *Trace) { t.RunTimes[1] = 1 }},
		{"a change of its request before it arrives", []Format{Requests}, func(t *Trace) {
			t.Jobs[1].Arrival, t.Resizes = 5, []scheduler.Resize{{Job: 1, At: 1, Threads: 1}}
		}},
		{"a name with a comma", []Format{Requests}, func(t *Trace) { t.Jobs[1].Name = "a,b" }},
		{"nobody tells how long", []Format{SWF, Batsim}, func(t *Trace) { t.RunTimes[1] = -1 }},
	} {
		for _, f := range c.formats {
			run := time.Second
			if f == Requests {
				run = -1
			}
			job := func(i int) scheduler.Job {
				return scheduler.Job{Number: i, Name: fmt.Sprintf("a-%d", i), Class: "a", Threads: 1, Deadline: scheduler.Never}
			}
			tr := Trace{Jobs: []scheduler.Job{job(0), job(1)}, RunTimes: slices.Repeat([]time.Duration{run}, 2)}
			if err := f.Write(&bytes.Buffer{}, tr); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			c.change(&tr)
			if err := f.Write(&bytes.Buffer{}, tr); !errors.Is(err, ErrInexpressible) || !strings.Contains(err.Error(), c.what) {
				t.Errorf("%s: error %v, want one that says %q", f, err, c.what)
			}
		}
	}
}
