package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Span is a length of time that is the same for every job of a batch (Every),
// or drawn for each (Exponential, Normal).
type Span struct {
	Kind     ArrivalKind
	Mean, SD time.Duration
}

// Fixed reports whether the span is the same for every job.
func (s Span) Fixed() bool { return s.Kind != Exponential && s.Kind != Normal }

// Draw returns a job's own span, at least 0.
func (s Span) Draw(rng *rand.Rand) time.Duration {
	mean := float64(s.Mean)
	switch s.Kind {
	case Exponential:
		mean *= rng.ExpFloat64()
	case Normal:
		mean = max(mean+rng.NormFloat64()*float64(s.SD), 0)
	}
	return time.Duration(math.Round(mean))
}

// String writes the span as the language does: "500ms", "exponential(1m40s)".
func (s Span) String() string {
	switch s.Kind {
	case Exponential:
		return fmt.Sprintf("exponential(%s)", s.Mean)
	case Normal:
		return fmt.Sprintf("normal(%s, %s)", s.Mean, s.SD)
	}
	return s.Mean.String()
}

// spanUnits are the units of time by the names that logs have for them.
var spanUnits = map[string]time.Duration{}

func init() {
	for unit, names := range map[time.Duration]string{
		time.Millisecond: "ms msec msecs millisecond milliseconds", time.Second: "s sec secs second seconds",
		time.Minute: "m min mins minute minutes", time.Hour: "h hr hrs hour hours",
		24 * time.Hour: "d day days", 7 * 24 * time.Hour: "w week weeks",
	} {
		for _, name := range strings.Fields(names) {
			spanUnits[name] = unit
		}
	}
}

// longestSpan is the longest length of time that is read with units.
const longestSpan = 1e6 * time.Hour

// parseWords reads a length of time with units ("1 day 2 hours", "90 min"), perhaps with a clock behind them
// ("1 day, 2:03:04"), or as ISO 8601 writes it ("PT1H30M"), without years and months.
func parseWords(text string) (sum time.Duration, ok bool) {
	rest := strings.ToLower(strings.TrimSpace(text))
	if iso, is := strings.CutPrefix(rest, "p"); is {
		days, clock, _ := strings.Cut(iso, "t")
		if strings.Trim(days, "0123456789.dw") != "" || strings.ContainsRune(clock, ':') {
			return 0, false
		}
		rest = days + clock
	}
	for rest != "" {
		number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789."))]
		if strings.HasPrefix(rest[len(number):], ":") {
			clock, ok := parseClock(rest)
			return sum + clock, ok && clock < longestSpan
		}
		rest = strings.TrimLeft(rest[len(number):], " ")
		name := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
		n, err := strconv.ParseFloat(number, 64)
		unit, known := spanUnits[name]
		if err != nil || !known || n*float64(unit) > float64(longestSpan-sum) {
			return 0, false
		}
		sum += time.Duration(n * float64(unit))
		rest, ok = strings.TrimLeft(rest[len(name):], " ,"), true
	}
	return sum, ok
}
