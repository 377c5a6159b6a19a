// Package logs parses texts that logs of clusters and simulators contain, for all formats of traces: instants,
// durations, amounts of memory. Its Builder collects jobs line by line.
package logs

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// dates are the layouts of dates in logs. Dates with names of months, and dates that end with the year, were
// rewritten before with the year first.
var dates = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 MST", "2006-1-2 15:04:05",
	"2006-1-2 15:04", "2006-1-2", "2006-1-2 3:04:05 PM", "2006-1-2 3:04 PM",
	"2006-1-2 15:04:05 MST", "2006-1-2 3:04:05 PM MST",
	"2006/1/2 15:04:05", "2006/1/2 15:04", "2006/1/2", "2006/1/2 3:04:05 PM", "2006/1/2 3:04 PM",
	"02.01.2006 15:04:05", "02.01.2006 15:04", "02.01.2006", "2006.1.2 15:04:05", "2006.1.2 15:04", "2006.1.2",
	"20060102T150405", "20060102T150405Z0700",
}

const dateTime = "2006-01-02T15:04:05"

// ParseInstant parses an instant of a log: a number of units from any origin, or a date. It returns the time since
// the start of 1970, in UTC unless the date names a zone.
func ParseInstant(text string, unit time.Duration) (time.Duration, error) {
	if len(text) == len(dateTime) && text[10] == 'T' { // most dates of logs have this form
		if at, err := time.Parse(dateTime, text); err == nil {
			return since1970(at, text)
		}
	}
	if IsDate(text) {
		form := strings.Replace(strings.Replace(text, "am", "AM", 1), "pm", "PM", 1)
		if date, ok := yearFirst(text); ok {
			form = date
		}
		for _, layout := range dates {
			at, err := time.Parse(layout, form)
			if err != nil {
				continue
			}
			// For a zone name without a known offset, time.Parse assumes UTC, which would be wrong.
			if zone, offset := at.Zone(); offset == 0 && !slices.Contains([]string{"", "UTC", "GMT"}, zone) {
				return 0, fmt.Errorf("the zone of %q is not known: write it as an offset, like +01:00", text)
			}
			return since1970(at, text)
		}
		return 0, noInstant(text)
	}
	at, err := textfile.ParseTime(text, unit)
	if errors.Is(err, textfile.ErrTooLong) {
		return 0, fmt.Errorf("%w; a trace block reads milliseconds with unit = \"1ms\"", tooFar(text))
	}
	if err != nil {
		return 0, noInstant(text)
	}
	return at, nil
}

// since1970 returns the time from the start of 1970 to at. text is the date in the log, for errors.
func since1970(at time.Time, text string) (time.Duration, error) {
	if y := at.Year(); y < 1678 || y > 2261 { // outside these years, UnixNano is not defined
		return 0, tooFar(text)
	}
	return time.Duration(at.UnixNano()), nil
}

func tooFar(text string) error {
	return fmt.Errorf("%q is out of range: times must be within 292 years of 1970, or of the start of the log", text)
}

func noInstant(text string) error {
	if _, ok := OrderOf(text); ok {
		return fmt.Errorf("%q may begin with the day or with the month: write dates like 2017-10-03 05:33:33", text)
	}
	return fmt.Errorf("%q is neither a number nor a date like 2017-10-03 05:33:33", text)
}

// IsDate reports whether the text of an instant is a date, not a number: 2017-10-03, 2017/10/03, 03.10.2017,
// 20171003T053333, 10/03/2017 or 3 Oct 2017.
func IsDate(text string) bool {
	if len(text) < 8 || text[0] == '-' {
		return false
	}
	switch at := text[4]; {
	case at == '-' || at == '/', at == '.' && strings.Count(text, ".") > 1, len(text) > 14 && text[8] == 'T',
		len(text) > 9 && text[2] == '.' && text[5] == '.':
		return true
	}
	if _, ok := OrderOf(text); ok {
		return true
	}
	_, ok := yearFirst(text)
	return ok
}

// withMonth matches dates with names of months: 12 Mar 2024 10:03, 12/Mar/2024:10:03:01 +0100, Mar 12, 2024 10:03
// and, from the command date, Tue Mar 12 10:03:01 UTC 2024.
var withMonth = []*regexp.Regexp{
	regexp.MustCompile(`^(?P<d>\d{1,2})(?:st|nd|rd|th)?[ /.-]+(?P<m>[a-z]+)[ /.,-]+(?P<y>\d{4})(?:[ :,T]+(?P<t>\d.*))?$`),
	regexp.MustCompile(`^(?P<m>[a-z]+)[ .-]+(?P<d>\d{1,2})(?:st|nd|rd|th)?[ ,-]+(?P<y>\d{4})(?:[ ,T]+(?P<t>\d.*))?$`),
	regexp.MustCompile(`^(?P<m>[a-z]+)[ .-]+(?P<d>\d{1,2}),? +(?P<t>\d[^ ]*(?: [ap]m)?(?: [^ ]+)?) +(?P<y>\d{4})$`),
}

// weekday matches the name of a weekday before a date.
var weekday = regexp.MustCompile(`^(mon|tue|wed|thu|fri|sat|sun)[a-z]*[ ,]+`)

// yearFirst rewrites a date with the name of a month as numbers with the year first; ok is false for other texts.
func yearFirst(text string) (date string, ok bool) {
	if !strings.ContainsFunc(text, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }) {
		return "", false
	}
	text = strings.ToLower(text)
	text = text[len(weekday.FindString(text)):]
	for _, form := range withMonth {
		parts := form.FindStringSubmatch(text)
		if parts == nil {
			continue
		}
		part := func(name string) string { return parts[form.SubexpIndex(name)] }
		month := slices.IndexFunc(months, func(name string) bool {
			return len(part("m")) >= 3 && strings.HasPrefix(name, part("m")) || part("m") == "sept" && name == "september"
		})
		if month < 0 {
			return "", false
		}
		date = fmt.Sprintf("%s-%02d-%02s %s", part("y"), month+1, part("d"), strings.ToUpper(part("t")))
		return strings.TrimSpace(date), true
	}
	return "", false
}

var months = []string{
	"january", "february", "march", "april", "may", "june",
	"july", "august", "september", "october", "november", "december",
}

// DayOrder says whether the day or the month is first in dates that end with the year.
type DayOrder int

// The orders. Most dates, such as 03/04/2024, do not show their order.
const (
	NoOrder DayOrder = iota
	DayFirst
	MonthFirst
)

// OrderOf returns the order of day and month in a date that ends with the year. In 03/13/2024, 3-13-2024 and
// 03/13/24 the month is first, because there is no month 13. 13/03/24 shows no order: it may begin with the year. ok
// is false for other texts.
func OrderOf(text string) (order DayOrder, ok bool) {
	first, second, rest, ok := yearLast(text)
	switch {
	case ok && first > 12 && second <= 12 && strings.Contains(text, rest):
		return DayFirst, true
	case ok && second > 12 && first <= 12:
		return MonthFirst, true
	}
	return NoOrder, ok
}

// In rewrites a date that ends with the year, so that it begins with the year. Other texts are returned unchanged.
func (o DayOrder) In(text string) string {
	day, month, rest, ok := yearLast(text)
	if !ok || o == NoOrder {
		return text
	}
	if o == MonthFirst {
		day, month = month, day
	}
	return fmt.Sprintf("%s-%02d-%02d%s", rest[:4], month, day, rest[4:])
}

// yearLast splits a date like 3/13/2024 10:00 into its first two numbers and the rest, which begins with the year.
func yearLast(text string) (first, second int, rest string, ok bool) {
	number := func() (n int) {
		digits := 0
		for ; digits < len(text) && digits < 4 && text[digits] >= '0' && text[digits] <= '9'; digits++ {
			n = 10*n + int(text[digits]-'0')
		}
		ok = ok && (digits == 1 || digits == 2) && digits < len(text) && (text[digits] == '/' || text[digits] == '-')
		if ok {
			text = text[digits+1:]
		}
		return n
	}
	ok = true
	slash := strings.IndexByte(text, '/')
	first, second = number(), number()
	if slash > 0 && len(text) > 1 && strings.Trim(text[:2], "0123456789") == "" && (len(text) == 2 || text[2] == ' ' || text[2] == 'T') {
		century := "20"
		if text[0] >= '7' {
			century = "19"
		}
		text = century + text
	}
	if len(text) < 4 || strings.Trim(text[:4], "0123456789") != "" || len(text) > 4 && text[4] != ' ' && text[4] != 'T' {
		ok = false
	}
	return first, second, text, ok
}

// ParseSpan parses a duration of a log. It is a number of units, a clock with optional days as Slurm writes it
// ("1-02:03:04"), or numbers with units of time ("1h30m", "90 min", "1 day, 2:03:04", "PT1H30M").
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
	switch d, err := textfile.ParseTime(text, unit); {
	case err == nil:
		return d, nil
	case errors.Is(err, textfile.ErrTooLong):
		return 0, fmt.Errorf("%q is out of range: times must be less than 292 years", text)
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

// parseClock parses [days-]hours[:minutes[:seconds]] or, without days, [[hours:]minutes:]seconds. Parts after the
// first colon are below 60.
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
			seconds, ok := textfile.ParseSeconds(part)
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

// ParseMemory parses an amount of memory and returns bytes. It is a number of units, or a number with a letter for a
// binary unit. Slurm may append a further letter, which is returned as each: "4000Mc" is for each core, "16Gn" for
// each node.
func ParseMemory(text string, unit int64) (bytes int64, each byte, err error) {
	number := text
	if n := len(number); n > 1 && (number[n-1] == 'c' || number[n-1] == 'n') {
		number, each = number[:n-1], number[n-1]
	}
	number = strings.TrimSuffix(strings.TrimSuffix(number, "B"), "i")
	if n := len(number); n > 1 {
		if at := strings.IndexByte("KMGTP", number[n-1]); at >= 0 {
			number, unit = strings.TrimSpace(number[:n-1]), 1<<(10*(at+1))
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0) || x*float64(unit) >= 1<<62 {
		return 0, 0, fmt.Errorf("memory %q is not an amount like 4000M", text)
	}
	return int64(x * float64(unit)), each, nil
}

// spanUnits has the units of time by their names in logs.
var spanUnits = map[string]time.Duration{}

func init() {
	for unit, names := range map[time.Duration]string{
		time.Millisecond: "ms msec msecs millisecond milliseconds", time.Second: "s sec secs second seconds",
		time.Minute: "m min mins minute minutes", time.Hour: "h hr hrs hour hours",
		24 * time.Hour: "d day days", 7 * 24 * time.Hour: "w week weeks",
	} {
		for name := range strings.FieldsSeq(names) {
			spanUnits[name] = unit
		}
	}
}

// longestSpan is the longest duration with units that is accepted.
const longestSpan = 1e6 * time.Hour

// parseWords parses a duration with units ("1 day 2 hours", "90 min"), with an optional clock at the end ("1 day,
// 2:03:04"), or in the form of ISO 8601 ("PT1H30M") without years and months.
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
