package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

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
