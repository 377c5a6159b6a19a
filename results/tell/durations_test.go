package tell

import "testing"

// Durations in descriptions are as people write them.
func TestPlainDurations(t *testing.T) {
	for text, want := range map[string]string{
		"rounds 6m0s, demotion 16h0m0s": "rounds 6m, demotion 16h",
		"every 1h30m0s from 10m5s":      "every 1h30m from 10m5s",
		"at 0s, 1h0m10s, 10s":           "at 0s, 1h0m10s, 10s",
		`exponential("1h0m0s")`:         `exponential("1h")`,
	} {
		if got := PlainDurations(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
