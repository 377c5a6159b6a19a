package workload

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Instants are numbers since any origin, or dates of several forms.
func TestParseInstant(t *testing.T) {
	day := 1507008813 * time.Second // 2017-10-03 05:33:33 UTC
	for text, want := range map[string]time.Duration{
		"12": 24 * time.Second, "-3": -6 * time.Second, "1.5": 3 * time.Second, "-123456789": -246913578 * time.Second,
		"2017-10-03T05:33:33": day, "2017-10-03 05:33:33": day, "2017/10/03 05:33:33": day,
		"2017-10-03T07:33:33+02:00": day, "2017-10-03 05:33:33 UTC": day, "2017-10-03 05:33:33 GMT": day,
		"2017-10-03 05:33": day - 33*time.Second, "2017-10-03": day.Truncate(24 * time.Hour),
	} {
		if got, err := ParseInstant(text, 2*time.Second); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2017-10-03 05:33:33 XYZ": "not known", "3 Foo 2017": "neither", "3/10/2017": "the day or the month", "2017-13-03": "neither", "soon": "neither", "": "neither",
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

// Times are kept within 64 bits, and seconds are exact to the last nanosecond.
func TestTimesAreExact(t *testing.T) {
	const most = "9223372035.999999999"
	for text, want := range map[string]time.Duration{
		most: (9223372035*time.Second + 999999999), "0.000000001": 1, "7": 7 * time.Second, "1.": time.Second,
		"9223372036": 9223372036 * time.Second, "-9223372036": -9223372036 * time.Second,
	} {
		if got, err := ParseTime(text, 0); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	if d, ok := ParseSeconds(most); !ok || Seconds(d) != most {
		t.Errorf("%s comes back as %s", most, Seconds(d))
	}
	for _, text := range []string{"9223372037", "-9223372037", "1e300", "NaN", "+Inf", "1.x"} {
		if got, err := ParseTime(text, 0); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
	for _, text := range []string{"9223372036", "-1", "1.0000000001", "1.+5", "x"} {
		if got, ok := ParseSeconds(text); ok {
			t.Errorf("%s is %s", text, got)
		}
	}
	if d, err := Units(2.5, 0); err != nil || d != 2500*time.Millisecond {
		t.Errorf("2.5 units are %s, %v", d, err)
	}
}

// A builder refuses what no workload may have, and finds names that are there twice also when they come in no order.
func TestBuilder(t *testing.T) {
	var b Builder
	for i, c := range []struct {
		job  scheduler.Job
		want string
	}{
		{scheduler.Job{Name: "b"}, ""}, {scheduler.Job{Name: "c"}, ""}, {scheduler.Job{Name: "c"}, "twice"},
		{scheduler.Job{Name: "a"}, ""}, {scheduler.Job{Name: "b"}, "twice"}, {scheduler.Job{Name: "aa"}, ""},
		{scheduler.Job{Name: "aa"}, "twice"}, {scheduler.Job{Name: strings.Repeat("x", MaxName)}, ""},
		{scheduler.Job{Name: strings.Repeat("x", MaxName+1)}, "bytes long"},
		{scheduler.Job{Name: "a/b"}, "cannot have"}, {scheduler.Job{Name: `a\b`}, "cannot have"},
		{scheduler.Job{Name: "a\x1f"}, "cannot have"}, {scheduler.Job{Name: "a\x7f"}, "cannot have"},
		{scheduler.Job{Name: "."}, "cannot have"}, {scheduler.Job{Name: ".."}, "cannot have"}, {scheduler.Job{Name: "a b.c"}, ""},
		{scheduler.Job{Name: "t", Threads: MaxThreads + 1}, "more than"}, {scheduler.Job{Name: "t", Threads: MaxThreads}, ""},
		{scheduler.Job{Name: "n", Nodes: MaxThreads + 1}, "more than"}, {scheduler.Job{Name: "n", Nodes: MaxThreads}, ""},
		{scheduler.Job{Name: "g", GPUs: MaxThreads + 1}, "more than"}, {scheduler.Job{Name: "g", GPUs: MaxThreads}, ""},
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
	full := Builder{Trace: Trace{Jobs: make([]scheduler.Job, MaxJobs)}}
	if err := full.Add(1, scheduler.Job{Name: "z"}, 0); err == nil || !strings.Contains(err.Error(), "more than 10000000") {
		t.Errorf("one job too many: %v", err)
	}
}

// A span is drawn again for each job, unless it is fixed, and its text is the text of the language.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		span  Span
		fixed bool
		text  string
	}{
		{Span{Kind: Every, Mean: 500 * time.Millisecond}, true, "500ms"},
		{Span{Kind: Exponential, Mean: 100 * time.Second}, false, "exponential(1m40s)"},
		{Span{Kind: Normal, Mean: 100 * time.Second, SD: 10 * time.Second}, false, "normal(1m40s, 10s)"},
	} {
		rng := Stream(1, "spans")
		sum, squares, n := 0.0, 0.0, 4000
		for range n {
			v := c.span.Draw(rng).Seconds()
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / float64(n)
		variance, want := squares/float64(n)-mean*mean, map[ArrivalKind]float64{Exponential: 1e4, Normal: 100}[c.span.Kind]
		if c.span.Fixed() != c.fixed || c.span.String() != c.text || mean/c.span.Mean.Seconds() < 0.94 ||
			mean/c.span.Mean.Seconds() > 1.06 || variance < 0.85*want || variance > 1.15*want+1e-6 {
			t.Errorf("%s: fixed %t, a mean of %g s and a variance of %g", c.span, c.span.Fixed(), mean, variance)
		}
	}
	if d := (Span{Kind: Normal, SD: time.Second}); d.Draw(Stream(2, "a")) < 0 || d.Draw(Stream(3, "a")) < 0 {
		t.Error("a span below 0")
	}
}

// What no column holds is part of a hash: the units of jobs, and their weights.
func TestWriteRest(t *testing.T) {
	var out strings.Builder
	WriteRest(&out, []scheduler.Job{{}, {Special: &scheduler.Special{Units: 3}}, {Special: &scheduler.Special{Weight: 2}}, {Special: &scheduler.Special{Units: 1, Weight: 0.5}}})
	if want := "1 has 3 units of work and the weight 0\n2 has 0 units of work and the weight 2\n" +
		"3 has 1 units of work and the weight 0.5\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// A reader gives up after a number of malformed lines, unless it is lenient: then it reports all of them.
func TestReadersGiveUp(t *testing.T) {
	lines := "at\n" + strings.Repeat("x\n", MaxErrors+5)
	for _, lenient := range []bool{false, true} {
		_, skipped, err := ReadInstants("f", strings.NewReader(lines+"7\n"), "at", lenient)
		told := len(skipped)
		if err != nil {
			told = strings.Count(err.Error(), "f:")
		}
		if lenient != (err == nil) || told != map[bool]int{false: MaxErrors, true: MaxErrors + 5}[lenient] {
			t.Errorf("lenient %t: %d lines, %v", lenient, told, err)
		}
		calls := 0
		skipped, err = EachLine("f", strings.NewReader(lines), lenient, func(number int, line string) error {
			calls++
			return map[bool]error{true: ErrLate}[line == "x"]
		})
		if lenient != (err == nil) || calls != map[bool]int{false: MaxErrors + 1, true: MaxErrors + 6}[lenient] ||
			lenient != (len(skipped) > 0) {
			t.Errorf("lenient %t: %d calls, %d skipped, %v", lenient, calls, len(skipped), err)
		}
	}
	if _, _, err := ReadInstants("f", strings.NewReader("at\n-1\n"), "at", false); err == nil {
		t.Error("an instant before the start")
	}
	if at, _, err := ReadInstants("f", strings.NewReader("at\n0\n"), "at", false); err != nil || at[0] != 0 {
		t.Errorf("the instant 0: %v, %v", at, err)
	}
}
