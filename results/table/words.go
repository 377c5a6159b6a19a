package table

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/stats"
)

// Number writes a number with three significant digits and separated thousands:
// "0.0123", "3.40", "12,345". NaN is "–".
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

// fixed writes v with the given number of decimals, at least zero, and with separated thousands.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', max(0, decimals), 64)
	whole, frac, dot := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		whole = whole[1:]
		if strings.Trim(s, "-0.") != "" { // nothing has no sign
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

// Interval writes "12.35 ± 0.42", with the digits that the interval warrants, or "3.5 (2.9 to 9.7)" where it reaches
// further to one side; "12 ± ?" where several values give no interval that says something, the mean alone when there is no interval, "–" when there is nothing.
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

// open ends a mean whose interval too few values give.
const open = " ± ?"

// IsOpen reports whether a text is a mean whose interval too few values give.
func IsOpen(text string) bool { return strings.HasSuffix(text, open) }

// PValue writes a p-value in a sentence: "p = 0.012", "p < 0.0001".
func PValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "p unknown"
	case p < leastP:
		return "p " + P(p)
	}
	return "p = " + P(p)
}

// leastP is the least p-value that is written with its digits.
const leastP = 0.0001

// P writes a p-value in a table: "0.012", "< 0.0001"; "–" when it is unknown.
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

// Share writes a share: "43%", and small ones with a decimal: "0.8%".
func Share(share float64) string { return percentDigits(share) + "%" }

func percentDigits(share float64) string {
	p := 100 * share
	if d := math.Abs(p - math.Round(p)); math.Abs(p) < 10 && d > 0.05 || math.Abs(p) >= 99 && d > 0.05 &&
		math.Abs(p) < 100 {
		return fixed(p, 1)
	}
	return fixed(p, 0)
}

// PercentRange writes shares from a low one to a high one: "38–47%".
func PercentRange(low, high float64) string {
	l, h := percentDigits(low), percentDigits(high)
	return fmt.Sprintf("%s–%s%%", l, h)
}

// Signed writes a change that is known: "+12%", "−0.8%".
func Signed(share float64) string {
	if s := Share(share); strings.HasPrefix(s, "−") || strings.TrimLeft(s, "0.%") == "" {
		return s
	}
	return "+" + Share(share)
}

// Bound returns a text in which a line is not broken between a number and its unit, nor in "p = 0.012": the spaces
// there
// are ones that do not break.
func Bound(text string) string {
	return inOneLine.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") })
}

var inOneLine = regexp.MustCompile(`\d (?:s|ms|min|h|d|[A-Z]{3}|[KMG]iB|k jobs|jobs/h|k jobs/h)\b|\bp [=<] \d`)

// Listed joins words: "a", "a and b", "a, b and c".
func Listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return words[0]
}

// Parts of durations without information: the minutes and seconds of 16h0m0s, the seconds of 8m0s.
var (
	emptySeconds = regexp.MustCompile(`\b((?:\d+h)?\d+m)0s\b`)
	emptyMinutes = regexp.MustCompile(`\b(\d+h)0m\b`)
)

// PlainDurations writes the durations of a text in plain form. Keys keep the original form, so that they stay
// the same.
func PlainDurations(text string) string {
	return emptyMinutes.ReplaceAllString(emptySeconds.ReplaceAllString(text, "$1"), "$1")
}
