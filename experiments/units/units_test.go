package units

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

// TestUnitsRoundTrip: the canonical form of a value is read as the same value.
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
