package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dates are the forms of dates in logs.
var dates = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05Z07:00",
	"2006/01/02 15:04:05", "2006-01-02 15:04", "2006-01-02", "02.01.2006 15:04:05", "02.01.2006 15:04", "02.01.2006",
	"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 Z0700", "2006/01/02 15:04",
	"2006-01-02 3:04:05 PM", "2006-01-02 3:04 PM", "2006/01/02 3:04:05 PM", "2006/01/02 3:04 PM",
}

// ParseInstant reads an instant of a log: a number of units since any origin, or a date,
// as the time since the beginning of 1970 (UTC unless it names a zone).
func ParseInstant(text string, unit time.Duration) (time.Duration, error) {
	if IsDate(text) {
		for _, layout := range dates {
			at, err := time.Parse(layout, strings.Replace(strings.Replace(text, "am", "AM", 1), "pm", "PM", 1))
			if err != nil {
				continue
			}
			// Where a zone has no offset of its own here, time.Parse takes its name for one of UTC.
			if zone, offset := at.Zone(); offset == 0 && !slices.Contains([]string{"", "UTC", "GMT"}, zone) {
				return 0, fmt.Errorf("the zone of %q is not known: write it as an offset, like +01:00", text)
			}
			return time.Duration(at.UnixNano()), nil
		}
		return 0, noInstant(text)
	}
	at, err := ParseTime(text, unit)
	if err != nil {
		return 0, noInstant(text)
	}
	return at, nil
}

func noInstant(text string) error {
	if len(text) >= 8 && strings.Count(text, "/") == 2 {
		return fmt.Errorf("%q may begin with the day or the month: write dates like 2017-10-03 05:33:33", text)
	}
	return fmt.Errorf("%q is neither a number nor a date like 2017-10-03 05:33:33", text)
}

// IsDate reports whether the instant of a log is a date and not a number: 2017-10-03, 2017/10/03 or 03.10.2017.
func IsDate(text string) bool {
	return len(text) >= 10 && (text[4] == '-' || text[4] == '/' || text[2] == '.' && text[5] == '.') && text[0] != '-'
}

// ParseSpan reads a length of time of a log: a number of units; hours, minutes and seconds
// with colons, behind days and a hyphen ("1-02:03:04", as Slurm writes it); or numbers
// with units of time ("1h30m", "90 min", "1 day, 2:03:04", "PT1H30M").
func ParseSpan(text string, unit time.Duration) (time.Duration, error) {
	if strings.Contains(text, ":") || daysAhead(text) {
		if d, ok := parseClock(text); ok {
			return d, nil
		}
		if d, ok := parseWords(text); ok {
			return d, nil
		}
		return 0, fmt.Errorf("%q is not a time like 1-02:03:04", text)
	}
	if d, err := ParseTime(text, unit); err == nil {
		return d, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	if d, ok := parseWords(text); ok {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not a time", text)
}

func daysAhead(text string) bool {
	days, hours, ok := strings.Cut(text, "-")
	return ok && days != "" && hours != "" && strings.Trim(days+hours, "0123456789") == ""
}

// parseClock reads [days-]hours[:minutes[:seconds]] or, without days, [[hours:]minutes:]seconds.
// All but the first of the parts with colons are below 60.
func parseClock(text string) (time.Duration, bool) {
	days, rest, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, rest = "0", text
	}
	parts := strings.Split(rest, ":")
	if len(parts) > 3 {
		return 0, false
	}
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	if !hasDays {
		units = units[3-len(parts):]
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, false
	}
	sum := time.Duration(n) * 24 * time.Hour
	for i, part := range parts {
		if units[i] == time.Second {
			seconds, ok := ParseSeconds(part)
			if !ok || seconds > 1e6*time.Hour || i > 0 && seconds >= time.Minute {
				return 0, false
			}
			sum += seconds
			continue
		}
		n, err := strconv.ParseUint(part, 10, 20)
		if err != nil || n > 59 && i > 0 {
			return 0, false
		}
		sum += time.Duration(n) * units[i]
	}
	return sum, true
}

// ParseMemory reads an amount of memory in bytes: a number of units, or with a letter for a
// binary unit behind it and perhaps one that says of what ("4000Mc" of each core, "16Gn" of
// each node, as Slurm writes it), which is returned.
func ParseMemory(text string, unit int64) (bytes int64, each byte, err error) {
	number := text
	if n := len(number); n > 1 && (number[n-1] == 'c' || number[n-1] == 'n') {
		number, each = number[:n-1], number[n-1]
	}
	number = strings.TrimSuffix(strings.TrimSuffix(number, "B"), "i")
	if n := len(number); n > 1 {
		if at := strings.IndexByte("KMGTP", number[n-1]); at >= 0 {
			number, unit = number[:n-1], 1<<(10*(at+1))
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0) || x*float64(unit) >= 1<<62 {
		return 0, 0, fmt.Errorf("memory %q is not an amount like 4000M", text)
	}
	return int64(x * float64(unit)), each, nil
}
