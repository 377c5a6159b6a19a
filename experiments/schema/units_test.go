package schema

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"1.5s": 1500 * time.Millisecond, "200ms": 200 * time.Millisecond, "1h30m": 90 * time.Minute,
		"0s": 0, " 2 s ": 2 * time.Second, "3us": 3 * time.Microsecond, "3µs": 3 * time.Microsecond,
		".5m": 30 * time.Second, "1ns": 1, "0." + strings.Repeat("3", 150) + "s": 333333333,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", in, got, err, want)
		}
	}
	for in, suggestion := range map[string]string{
		"": "", "5": "5s", "0": "0s", "-1s": "", "10sec": "10s", "5min": "5m", "1S": "1s", "s": "", "1.2.3s": "",
		"1e3s": "", "1d": "", "999999999h": "", "1s2": "2s", "1/2s": "", "1h1h1h": "", "30m1h": "", "1us1µs": "",
		"0." + strings.Repeat("3", 10_000) + "s": "",
	} {
		got, err := ParseDuration(in)
		if err == nil || Suggestion(err) != suggestion {
			t.Errorf("%q is %v, %v (suggestion %q, want %q)", in, got, err, Suggestion(err), suggestion)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"4GiB": 4 << 30, "512MB": 512e6, "1.5KiB": 1536, "7B": 7, "2kB": 2000, "1TiB": 1 << 40,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", in, got, err, want)
		}
	}
	for in, suggestion := range map[string]string{
		"4": "4GiB", "4gb": "4GB", "4G": "4GiB", "-1B": "", "1GiB2MiB": "", "4Gib": "4GiB", "99999999TiB": "", "5s": "",
	} {
		got, err := ParseSize(in)
		if err == nil || Suggestion(err) != suggestion {
			t.Errorf("%q is %d, %v (suggestion %q, want %q)", in, got, err, Suggestion(err), suggestion)
		}
	}
}

// TestUnitsRoundTrip checks that the canonical form of a value is read as the same value.
func TestUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "duration"))
		if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
			t.Fatalf("%v is written %s, and read %v, %v", d, FormatDuration(d), got, err)
		}
		n := rapid.Int64Range(0, 1<<50).Draw(t, "size")
		if got, err := ParseSize(FormatSize(n)); err != nil || got != n {
			t.Fatalf("%d is written %s, and read %d, %v", n, FormatSize(n), got, err)
		}
	})
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 500 * time.Millisecond: "500ms", 90 * time.Second: "1m30s", time.Minute: "1m", 2 * time.Hour: "2h",
		time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 20 * time.Hour: "20h", 3 * time.Microsecond: "3us",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%d is written %s, want %s", d, got, want)
		}
	}
}

// TestWhatIsWrong checks that errors name the rule that a text breaks.
func TestWhatIsWrong(t *testing.T) {
	duration := func(text string) error { _, err := ParseDuration(text); return err }
	size := func(text string) error { _, err := ParseSize(text); return err }
	form := "it is not a number with a unit, like \"1.5s\""
	for _, c := range []struct {
		err  error
		want string
	}{
		{duration("-1s"), "it must not be negative"},
		{duration("5"), "it has no unit"},
		{duration(""), form}, {duration("1/2s"), form}, {size("1GiB2MiB"), "it is not a number with a unit, like \"1.5GiB\""},
		{duration("1m1h"), "h comes after m: its parts go from large units to small ones, each once, like \"1h30m\""},
		{duration("1s1s"), "s comes after s: its parts go from large units to small ones, each once, like \"1h30m\""},
		{duration("1e3s"), "exponents are not allowed; write the number without one, with its unit, like \"1.5s\""},
		{duration("1e"), "\"e\" is not a unit; the units are h, m, s, ms, us, ns"},
		{duration("1d2h"), "\"d\" is not a unit; the units are h, m, s, ms, us, ns"},
		{size("5s"), "\"s\" is not a unit; the units are TiB, GiB, MiB, KiB, TB, GB, MB, kB, B"},
		{duration("0.4ns"), "it is less than 1 ns"}, {duration("0.9ns"), "it is less than 1 ns"},
		{size("0.4B"), "it is less than 1 B"},
		{duration("5000000000000000000ns"), "it is too large"},
		{duration(strings.Repeat("0", longest) + "1s"), "its number has more than 400 digits"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	// Values at the limits are allowed.
	if d, err := ParseDuration(strings.Repeat("0", longest-1) + "1s"); err != nil || d != time.Second {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := ParseDuration("4611686018427387904ns"); err != nil || d != 1<<62 {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := ParseDuration("0ns"); err != nil || d != 0 {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := ParseDuration("1.4ns"); err != nil || d != 1 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"90s": "1m30s", "0.5h": "30m", "1024MiB": "1GiB", "1000kB": "1MB", "1500B": "1500B", "0B": "0B", "2048B": "2KiB",
		"ninety": "ninety", "90": "90",
	} {
		if got := Canonical(text); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
	if got := Suggestion(nil); got != "" {
		t.Errorf("no error suggests %q", got)
	}
}
