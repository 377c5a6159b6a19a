package schema

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// unitError is an error in a text that should be a number with a unit.
type unitError struct {
	problem    string
	suggestion string
}

func (e *unitError) Error() string { return e.problem }

// unit is a unit with its size in nanoseconds or bytes. Lists of units begin with the largest.
type unit struct {
	name string
	size int64
}

var durationUnits = []unit{
	{"h", int64(time.Hour)}, {"m", int64(time.Minute)}, {"s", int64(time.Second)},
	{"ms", int64(time.Millisecond)}, {"us", int64(time.Microsecond)}, {"µs", int64(time.Microsecond)}, {"ns", 1},
}

var sizeUnits = []unit{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// likelyUnits maps common spellings of units, in lower case, to the units of the language.
var likelyUnits = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h",
	"msec": "ms", "millis": "ms", "milliseconds": "ms", "usec": "us",
	"k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB", "ki": "KiB", "mi": "MiB", "gi": "GiB", "ti": "TiB", "bytes": "B",
}

// ParseDuration reads a duration with its units: "1.5s", "200ms", "1h30m".
// Unlike time.ParseDuration it requires a unit even after 0, and accepts no
// sign.
func ParseDuration(text string) (time.Duration, error) {
	n, err := parseQuantity(text, durationUnits, "s", true)
	return time.Duration(n), err
}

// AxisNumber converts a value of an axis to a number; a duration becomes seconds. It returns false for other texts.
func AxisNumber(text string) (float64, bool) {
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, true
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil
}

// ParseSize reads a size in bytes with its unit: "4GiB", "512MB", "1.5TiB".
func ParseSize(text string) (int64, error) { return parseQuantity(text, sizeUnits, "GiB", false) }

// longest is the largest number of digits of a number. Results of divisions in the language have about 150.
const longest = 400

// parseQuantity reads a number with a unit, or several ("1h30m") if compound is set. typical is the unit that an
// error suggests for a number without one.
func parseQuantity(text string, units []unit, typical string, compound bool) (int64, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "-") {
		return 0, &unitError{problem: "it must not be negative"}
	}
	total := new(big.Rat)
	last := unit{size: math.MaxInt64}
	for parts := 0; s != "" || parts == 0; parts++ {
		digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789."))]
		if len(digits) > longest {
			return 0, &unitError{problem: fmt.Sprintf("its number has more than %d digits", longest)}
		}
		value, ok := new(big.Rat).SetString(digits)
		if !ok || (parts > 0 && !compound) {
			return 0, &unitError{problem: fmt.Sprintf("it is not a number with a unit, like \"1.5%s\"", typical)}
		}
		rest := strings.TrimLeft(s[len(digits):], " ")
		name := rest[:len(rest)-len(strings.TrimLeft(rest, letters))]
		s = rest[len(name):]
		of := unit{}
		for _, u := range units {
			if u.name == name {
				of = u
			}
		}
		switch {
		case of.size >= last.size:
			return 0, &unitError{problem: fmt.Sprintf(
				"%s comes after %s: its parts go from large units to small ones, each once, like \"1h30m\"", of.name, last.name)}
		case of.size > 0:
		case strings.EqualFold(name, "e") && s != "":
			return 0, &unitError{problem: fmt.Sprintf(
				"exponents are not allowed; write the number without one, with its unit, like \"1.5%s\"", typical)}
		case name == "" && s == "":
			return 0, &unitError{problem: "it has no unit", suggestion: digits + typical}
		case name == "":
			return 0, &unitError{problem: fmt.Sprintf("it is not a number with a unit, like \"1.5%s\"", typical)}
		default:
			e := &unitError{problem: fmt.Sprintf("%q is not a unit; the units are %s", name, unitNames(units))}
			for _, u := range units {
				if strings.EqualFold(u.name, name) || u.name == likelyUnits[strings.ToLower(name)] {
					e.suggestion = digits + u.name
					break
				}
			}
			return 0, e
		}
		total.Add(total, value.Mul(value, new(big.Rat).SetInt64(of.size)))
		last = of
	}
	f, _ := total.Float64()
	if f > math.MaxInt64/2 {
		return 0, &unitError{problem: "it is too large"}
	}
	// A fraction of the base unit is rounded to the nearest.
	n := int64(math.Round(f))
	if n == 0 && total.Sign() > 0 || f < 1 && f > 0 {
		return 0, &unitError{problem: "it is less than 1 " + units[len(units)-1].name}
	}
	return n, nil
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ"

func unitNames(units []unit) string {
	names := make([]string, 0, len(units))
	for _, u := range units {
		if u.name != "µs" && u.name != "KB" { // µs and KB are other spellings of us and kB
			names = append(names, u.name)
		}
	}
	return strings.Join(names, ", ")
}

// FormatDuration returns a duration in canonical form: "500ms", "1m30s", "2h".
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return strings.ReplaceAll(s, "µ", "u")
}

// FormatSize returns a size in canonical form, in the largest unit that divides it evenly; binary units are
// preferred.
func FormatSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes >= u.size && bytes%u.size == 0 {
			return strconv.FormatInt(bytes/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}

// Canonical returns the canonical form of a text that is a duration or a size, and other texts unchanged.
func Canonical(s string) string {
	if d, err := ParseDuration(s); err == nil {
		return FormatDuration(d)
	}
	if n, err := ParseSize(s); err == nil {
		return FormatSize(n)
	}
	return s
}

// Suggestion returns a replacement for the text that caused an error of ParseDuration or ParseSize; "" if none is
// obvious.
func Suggestion(err error) string {
	var e *unitError
	if errors.As(err, &e) {
		return e.suggestion
	}
	return ""
}
