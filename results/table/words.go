package table

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
)

// Number returns the text of a number, with three significant digits and a comma after thousands: "0.0123", "3.40",
// "12,345". NaN is "–".
func Number(v float64) string {
	if !stats.Finite(v) {
		return "–"
	}
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a == math.Trunc(a) && a < 1000:
		return fixed(v, 0)
	case a < 0.001 && v < 0:
		return "−" + Number(a)
	case a < 0.001:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return fixed(v, 2-int(math.Floor(math.Log10(a))))
}

// fixed returns the text of v with that many decimals, at least zero, and with a comma after thousands.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', max(0, decimals), 64)
	whole, frac, dot := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		whole = whole[1:]
		if strings.Trim(s, "-0.") != "" { // 0 has no sign
			sign = "−"
		}
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + frac
	}
	return sign + whole
}

// Interval returns the text of a mean with its confidence interval, rounded to the digits that the interval's width
// allows. Examples: "12.35 ± 0.42", or "3.5 (2.9 to 9.7)" for an asymmetric interval. "12 ± ?" means that there are
// several values but too few for an interval. A single value has its mean alone, and no value is "–".
func Interval(i stats.Interval) string {
	half := (i.High - i.Low) / 2
	if stats.Finite(i.Mean) && i.N > 1 && math.IsNaN(half) {
		return Number(i.Mean) + open
	}
	if !stats.Finite(i.Mean) || !stats.Finite(half) {
		return Number(i.Mean)
	}
	if half <= 1e-9*math.Abs(i.Mean) {
		return Number(i.Mean) + " ± 0"
	}
	decimals := min(max(1-int(math.Floor(math.Log10(half))), 0), 3)
	mean := fixed(i.Mean, decimals)
	if skew := i.High + i.Low - 2*i.Mean; math.Abs(skew) > 0.25*half {
		return mean + " (" + fixed(i.Low, decimals) + " to " + fixed(i.High, decimals) + ")"
	}
	return mean + " ± " + fixed(half, decimals)
}

// open follows a mean of several values that are too few for an interval.
const open = " ± ?"

// IsOpen reports whether a text from Interval shows a mean of too few values for an interval.
func IsOpen(text string) bool { return strings.HasSuffix(text, open) }

// PValue returns the text of a p-value for a sentence: "p = 0.012", "p < 0.0001".
func PValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "p unknown"
	case p < leastP:
		return "p " + P(p)
	}
	return "p = " + P(p)
}

// leastP is the smallest p-value that is written with digits. Smaller ones are written as "< 0.0001".
const leastP = 0.0001

// P returns the text of a p-value for a table: "0.012", "< 0.0001", or "–" if it is unknown.
func P(p float64) string {
	switch {
	case math.IsNaN(p):
		return "–"
	case p < leastP:
		return "< 0.0001"
	case p < 0.001:
		return strconv.FormatFloat(p, 'f', 4, 64)
	}
	return strconv.FormatFloat(p, 'f', min(3, max(2, 1-int(math.Floor(math.Log10(p))))), 64)
}

// Share returns a share as a percentage: "43%", with a decimal if it is small: "0.8%".
func Share(share float64) string { return percentDigits(share) + "%" }

func percentDigits(share float64) string {
	p := 100 * share
	if d := math.Abs(p - math.Round(p)); math.Abs(p) < 10 && d > 0.05 || math.Abs(p) >= 99 && d > 0.05 &&
		math.Abs(p) < 100 {
		return fixed(p, 1)
	}
	return fixed(p, 0)
}

// PercentRange returns a range of shares as percentages: "38–47%".
func PercentRange(low, high float64) string {
	l, h := percentDigits(low), percentDigits(high)
	return fmt.Sprintf("%s–%s%%", l, h)
}

// Signed returns a relative change as a percentage: "+12%", "−0.8%". The share must be known.
func Signed(share float64) string {
	if s := Share(share); strings.HasPrefix(s, "−") || strings.TrimLeft(s, "0.%") == "" {
		return s
	}
	return "+" + Share(share)
}

// Bound returns a text with spaces at which lines do not break between a number and its unit, and within "p = 0.012".
func Bound(text string) string {
	return inOneLine.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") })
}

var inOneLine = regexp.MustCompile(`\d (?:s|ms|min|h|d|[A-Z]{3}|[KMG]iB|k jobs|jobs/h|k jobs/h)\b|\bp [=<] \d`)

// Listed joins words: "a", "a and b", "a, b and c".
func Listed(words []string) string { return schema.Listed(words, "and") }

// These match parts of durations that carry no information: the minutes and seconds of 16h0m0s, the seconds of 8m0s.
var (
	emptySeconds = regexp.MustCompile(`\b((?:\d+h)?\d+m)0s\b`)
	emptyMinutes = regexp.MustCompile(`\b(\d+h)0m\b`)
)

// PlainDurations shortens the durations in a text: 16h0m0s becomes 16h. Cache keys use the original form, so they stay
// the same.
func PlainDurations(text string) string {
	return emptyMinutes.ReplaceAllString(emptySeconds.ReplaceAllString(text, "$1"), "$1")
}
