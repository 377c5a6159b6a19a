package logs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Instants are numbers since any origin, or dates of several forms.
func TestParseInstant(t *testing.T) {
	day := 1507008813 * time.Second // 2017-10-03 05:33:33 UTC
	for text, want := range map[string]time.Duration{
		"12": 24 * time.Second, "-3": -6 * time.Second, "1.5": 3 * time.Second, "-123456789": -246913578 * time.Second,
		"2017-10-03T05:33:33": day, "2017-10-03 05:33:33": day, "2017/10/03 05:33:33": day,
		"2017-10-03T07:33:33+02:00": day, "2017-10-03 05:33:33 UTC": day, "2017-10-03 05:33:33 GMT": day,
		"Tue 03 Oct 2017 05:33:33 AM UTC": day, "Tue 3 Oct 2017 05:33:33 UTC": day,
		"2017-10-03 05:33": day - 33*time.Second, "2017-10-03": day.Truncate(24 * time.Hour),
	} {
		if got, err := ParseInstant(text, 2*time.Second); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2017-10-03 05:33:33 XYZ": "not known", "3 Foo 2017": "neither", "3/10/2017": "the day or with the month", "2017-13-03": "neither", "soon": "neither", "": "neither",
		"9.3e9": "is out of range", "1709251200000": `milliseconds with unit = "1ms"`, "-1e300": "is out of range", "1e999": "is out of range",
		"2300-01-01T00:00:00": "is out of range", "1600-01-01": "is out of range", "NaN": "neither",
	} {
		if got, err := ParseInstant(text, time.Second); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// Lengths of time are numbers, clocks as Slurm writes them, or numbers with units.
func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"12": 24 * time.Second, "0.5": time.Second, "1h30m": 90 * time.Minute,
		"02:03": 2*time.Minute + 3*time.Second, "1:02:03": time.Hour + 2*time.Minute + 3*time.Second,
		"1-02:03:04": 26*time.Hour + 3*time.Minute + 4*time.Second, "2-03": 51 * time.Hour, "2-03:30": 51*time.Hour + 30*time.Minute,
		"00:01.5": 1500 * time.Millisecond, "90:59": 90*time.Minute + 59*time.Second,
		"90 min": 90 * time.Minute, "1 day, 2:03:04": 26*time.Hour + 3*time.Minute + 4*time.Second,
		"0 days 01:02:03.5": 3723500 * time.Millisecond,
		"PT1H30M":           90 * time.Minute, "P1DT0.5S": 24*time.Hour + 500*time.Millisecond, "P2W": 14 * 24 * time.Hour,
		"1 Hour 2 minutes 3 secs": 3723 * time.Second, "1.5 hrs": 90 * time.Minute, "250 ms": 250 * time.Millisecond,
	} {
		if got, err := ParseSpan(text, 2*time.Second); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1:2:3:4", "1-2:3:4:5", "a:b", "x-1:00", "1-", "-1:00", "1:-2", "1:x", "70000-0", "2x-3", "0:4000000000",
		"3:2097152:00", "soon", "1:99", "0:60", "1:60:00", "1-00:00:60",
		"1,234", "5 months", "min", "P", "PT", "P1M", "P1Y", "PT1:00", "5 min 3",
		"1 day, 2:99", "1 day -2:00",
		"999999999 weeks", "5 min each", "1..5 h"} {
		if got, err := ParseSpan(text, time.Second); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
	for _, text := range []string{"9.3e9", "9300000000", "1e999"} {
		if got, err := ParseSpan(text, time.Second); err == nil || !strings.Contains(err.Error(), "is out of range: times must be less") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if got, err := ParseSpan("-5", time.Second); err != nil || got != -5*time.Second { // is a number
		t.Errorf("-5: %s, %v", got, err)
	}
}

// Memory is a number of units, or has binary units in its text, each of a core or a node.
func TestParseMemory(t *testing.T) {
	for text, want := range map[string]struct {
		bytes int64
		each  byte
	}{
		"3": {3000, 0}, "1K": {1 << 10, 0}, "4000M": {4000 << 20, 0}, "2G": {2 << 30, 0}, "1.5T": {3 << 39, 0}, "1P": {1 << 50, 0},
		"16Gn": {16 << 30, 'n'}, "4000Mc": {4000 << 20, 'c'}, "4KiB": {4 << 10, 0}, "7B": {7000, 0}, "5n": {5000, 'n'}, "0": {},
	} {
		if bytes, each, err := ParseMemory(text, 1000); err != nil || bytes != want.bytes || each != want.each {
			t.Errorf("%s: %d, %q, %v; want %d, %q", text, bytes, each, err, want.bytes, want.each)
		}
	}
	for _, text := range []string{"", "c", "M", "-1", "1X", "4096P", "NaN"} {
		if bytes, _, err := ParseMemory(text, 1); err == nil {
			t.Errorf("%q is %d", text, bytes)
		}
	}
	if bytes, _, err := ParseMemory("4095P", 1); err != nil || bytes != 4095<<50 {
		t.Errorf("4095P: %d, %v", bytes, err)
	}
}

// A builder refuses jobs that no workload may have. It finds duplicate names in any order.
func TestBuilder(t *testing.T) {
	var b Builder
	for i, c := range []struct {
		job  scheduler.Job
		want string
	}{
		{scheduler.Job{Name: "b"}, ""}, {scheduler.Job{Name: "c"}, ""}, {scheduler.Job{Name: "c"}, "twice"},
		{scheduler.Job{Name: "a"}, ""}, {scheduler.Job{Name: "b"}, "twice"}, {scheduler.Job{Name: "aa"}, ""},
		{scheduler.Job{Name: "aa"}, "twice"}, {scheduler.Job{Name: strings.Repeat("x", workload.MaxName)}, ""},
		{scheduler.Job{Name: strings.Repeat("x", workload.MaxName+1)}, "bytes long"},
		{scheduler.Job{Name: "a/b"}, "not allowed in a file name"}, {scheduler.Job{Name: `a\b`}, "not allowed in a file name"},
		{scheduler.Job{Name: "a\x1f"}, "not allowed in a file name"}, {scheduler.Job{Name: "a\x7f"}, "not allowed in a file name"},
		{scheduler.Job{Name: "."}, "not allowed in a file name"}, {scheduler.Job{Name: ".."}, "not allowed in a file name"}, {scheduler.Job{Name: "a b.c"}, ""},
		{scheduler.Job{Name: "t", Threads: workload.MaxThreads + 1}, "more than"}, {scheduler.Job{Name: "t", Threads: workload.MaxThreads}, ""},
		{scheduler.Job{Name: "n", Nodes: workload.MaxThreads + 1}, "more than"}, {scheduler.Job{Name: "n", Nodes: workload.MaxThreads}, ""},
		{scheduler.Job{Name: "g", GPUs: workload.MaxThreads + 1}, "more than"}, {scheduler.Job{Name: "g", GPUs: workload.MaxThreads}, ""},
	} {
		n := len(b.Jobs)
		err := b.Add(i, c.job, -1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.job.Name, err, c.want)
		}
		if err == nil && (len(b.Jobs) != n+1 || b.Jobs[n].Number != n || b.Lines[n] != int32(i)) {
			t.Errorf("%q is added as %+v", c.job.Name, b.Jobs[n])
		}
	}
	if tr := b.Finish(nil); tr.RunTimes != nil {
		t.Errorf("run times that nobody knows: %v", tr.RunTimes)
	}
	b = Builder{}
	_ = b.Add(1, scheduler.Job{Name: "p"}, -1)
	_ = b.Add(2, scheduler.Job{Name: "q"}, 0)
	if tr := b.Finish(nil); !slices.Equal(tr.RunTimes, []time.Duration{-1, 0}) {
		t.Errorf("run times: %v", tr.RunTimes)
	}
	full := Builder{Trace: workload.Trace{Jobs: make([]scheduler.Job, workload.MaxJobs)}}
	if err := full.Add(1, scheduler.Job{Name: "z"}, 0); err == nil || !strings.Contains(err.Error(), "at most 10000000 jobs") {
		t.Errorf("one job too many: %v", err)
	}
}

// A builder finds a name that is there twice, in whatever order names come, and keeps what few jobs have beside each.
func TestBuilderNames(t *testing.T) {
	for _, c := range []struct {
		names string
		twice string // the first that is refused; "" for none
	}{
		{"a b c d", ""}, {"j1 j2 j9 j10 j11", ""}, {"j10 j9 j10", "j10"}, {"a b b", "b"}, {"a c b a", "a"}, {"b a c b", "b"},
		{"b a c d c", "c"}, {"b a c d", ""}, {"aa b aa", "aa"}, {"a b a", "a"}, {"a", ""},
	} {
		var b Builder
		var err error
		for name := range strings.FieldsSeq(c.names) {
			if err = b.Add(1, scheduler.Job{Name: name, Threads: 1}, -1); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
				break
			}
		}
		if (err != nil) != (c.twice != "") || err != nil && !strings.HasPrefix(err.Error(), c.twice+":") {
			t.Errorf("%s: %v, want %q refused", c.names, err, c.twice)
		}
	}
	for _, j := range []scheduler.Job{{Name: "\xe9"}, {Name: "a", User: "Ren\xe9"}, {Name: "a", Class: "\xff"}} {
		var b Builder
		if err := b.Add(1, j, -1); err == nil || !strings.Contains(err.Error(), "is not in UTF-8") {
			t.Errorf("%q of %q in %q: %v", j.Name, j.User, j.Class, err)
		}
	}
	var b Builder
	ways := []workload.Alternative{{RunTime: 1}, {RunTime: 2}}
	for i := range 5 {
		if err := b.Add(i, scheduler.Job{Name: fmt.Sprint(i), Threads: 1}, time.Duration(i-3)); err != nil {
			t.Fatal(err)
		}
		b.AddAlternatives(nil)
		if i == 1 || i == 3 {
			b.AddAlternatives(ways[:i/2+1])
		}
	}
	tr := b.Finish([]error{io.EOF})
	var has []int
	for i := range tr.Jobs {
		has = append(has, len(tr.AlternativesOf(i)))
	}
	if !slices.Equal(has, []int{0, 1, 0, 2, 0}) || len(tr.Alternatives) != 5 || len(tr.Skipped) != 1 {
		t.Errorf("alternatives of %v, of %d jobs", has, len(tr.Alternatives))
	}
	if tr.Timed(2) || !tr.Timed(3) || !tr.Timed(4) {
		t.Errorf("run times %v", tr.RunTimes)
	}
	var none Builder
	_ = none.Add(1, scheduler.Job{Name: "a", Threads: 1}, -1)
	if tr := none.Finish(nil); tr.RunTimes != nil || tr.Timed(0) || tr.AlternativesOf(0) != nil {
		t.Errorf("a trace that knows nothing of its job has %+v", tr)
	}
	shared := []string{b.Share("x"), b.Share(string(bytes.Clone([]byte("x"))))}
	if shared[0] != "x" || shared[1] != "x" || len(b.shared) != 1 {
		t.Errorf("%q are kept as %v", shared, b.shared)
	}
}
