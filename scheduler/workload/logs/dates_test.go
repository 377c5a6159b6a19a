package logs

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
	if _, err := ParseInstant("03/10/2017 05:33:30", time.Second); err == nil || !strings.Contains(err.Error(), "the day or with the month") {
		t.Errorf("a date with slashes behind the day: %v", err)
	}
}

// A number above 12 is a day; with an order, a date that ends with the year is written with the year first.
func TestOrderOfDates(t *testing.T) {
	for text, want := range map[string]struct {
		order DayOrder
		ok    bool
		day   string // with the day first
		month string
	}{
		"3/13/2024":           {MonthFirst, true, "2024-13-03", "2024-03-13"},
		"31-3-2024 7:00":      {DayFirst, true, "2024-03-31 7:00", "2024-31-03 7:00"},
		"12/12/2024T10:00:00": {NoOrder, true, "2024-12-12T10:00:00", "2024-12-12T10:00:00"},
		"13/13/2024":          {NoOrder, true, "2024-13-13", "2024-13-13"},
		"2024-31-03":          {NoOrder, false, "2024-31-03", "2024-31-03"},
		"31/3/24":             {NoOrder, true, "2024-03-31", "2024-31-03"}, // or of the year 2031
		"3/31/24 7:00":        {MonthFirst, true, "2024-31-03 7:00", "2024-03-31 7:00"},
		"09/01/98T10:00:00":   {NoOrder, true, "1998-01-09T10:00:00", "1998-09-01T10:00:00"},
		"31-3-24":             {NoOrder, false, "31-3-24", "31-3-24"},
		"1/2/345":             {NoOrder, false, "1/2/345", "1/2/345"},
		"31/3/20245":          {NoOrder, false, "31/3/20245", "31/3/20245"},
		"1-02:03:04":          {NoOrder, false, "1-02:03:04", "1-02:03:04"},
		"31.3/2024":           {NoOrder, false, "31.3/2024", "31.3/2024"},
		"":                    {NoOrder, false, "", ""},
	} {
		order, ok := OrderOf(text)
		if day, month := DayFirst.In(text), MonthFirst.In(text); order != want.order || ok != want.ok ||
			day != want.day || month != want.month || NoOrder.In(text) != text {
			t.Errorf("%q: %d, %t, %q, %q", text, order, ok, day, month)
		}
	}
}
