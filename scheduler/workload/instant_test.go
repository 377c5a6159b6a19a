package workload

import (
	"strings"
	"testing"
	"time"
)

// Dates are read in whatever order their separators show; where they do not, the reader does not guess.
func TestDates(t *testing.T) {
	want := time.Duration(time.Date(2017, 10, 3, 5, 33, 30, 0, time.UTC).UnixNano())
	for _, text := range []string{"2017-10-03 05:33:30", "2017/10/03 05:33:30", "03.10.2017 05:33:30"} {
		if got, err := ParseInstant(text, time.Second); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	if _, err := ParseInstant("03/10/2017 05:33:30", time.Second); err == nil || !strings.Contains(err.Error(), "the day or the month") {
		t.Errorf("a date with slashes behind the day: %v", err)
	}
}
