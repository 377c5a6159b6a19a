package textfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// Times are kept within 64 bits, and seconds are exact to the last nanosecond.
func TestTimesAreExact(t *testing.T) {
	const most = "9223372035.999999999"
	for text, want := range map[string]time.Duration{
		most: (9223372035*time.Second + 999999999), "0.000000001": 1, "7": 7 * time.Second, "1.": time.Second,
		"9223372036": 9223372036 * time.Second, "-9223372036": -9223372036 * time.Second,
	} {
		if got, err := ParseTime(text, 0); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	if d, ok := ParseSeconds(most); !ok || Seconds(d) != most {
		t.Errorf("%s comes back as %s", most, Seconds(d))
	}
	for _, text := range []string{"9223372037", "-9223372037", "1e300", "NaN", "+Inf", "1.x"} {
		if got, err := ParseTime(text, 0); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
	for _, text := range []string{"9223372036", "-1", "1.0000000001", "1.+5", "x"} {
		if got, ok := ParseSeconds(text); ok {
			t.Errorf("%s is %s", text, got)
		}
	}
	if d, err := Units(2.5, 0); err != nil || d != 2500*time.Millisecond {
		t.Errorf("2.5 units are %s, %v", d, err)
	}
}

// A reader gives up after a number of malformed lines, unless it is lenient: then it reports all of them.
func TestReadersGiveUp(t *testing.T) {
	lines := "at\n" + strings.Repeat("x\n", MaxErrors+5)
	for _, lenient := range []bool{false, true} {
		_, skipped, err := ReadInstants("f", strings.NewReader(lines+"7\n"), "at", lenient)
		told := len(skipped)
		if err != nil {
			told = strings.Count(err.Error(), "f:")
		}
		if lenient != (err == nil) || told != map[bool]int{false: MaxErrors, true: MaxErrors + 5}[lenient] {
			t.Errorf("lenient %t: %d lines, %v", lenient, told, err)
		}
		calls := 0
		skipped, err = EachLine("f", strings.NewReader(lines), lenient, func(number int, line string) error {
			calls++
			return map[bool]error{true: errors.New("x")}[line == "x"]
		})
		if lenient != (err == nil) || calls != map[bool]int{false: MaxErrors + 1, true: MaxErrors + 6}[lenient] ||
			lenient != (len(skipped) > 0) {
			t.Errorf("lenient %t: %d calls, %d skipped, %v", lenient, calls, len(skipped), err)
		}
	}
	if _, _, err := ReadInstants("f", strings.NewReader("at\n-1\n"), "at", false); err == nil {
		t.Error("an instant before the start")
	}
	if at, _, err := ReadInstants("f", strings.NewReader("at\n0\n"), "at", false); err != nil || at[0] != 0 {
		t.Errorf("the instant 0: %v, %v", at, err)
	}
}

// place fails the test unless the error has the line and the text.
func place(t *testing.T, err error, line int, text string) {
	t.Helper()
	var at *LineError
	if !errors.As(err, &at) || at.Line != line || at.File != "f" || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want f:%d and %q", err, line, text)
	}
}

func TestInstants(t *testing.T) {
	const text = "user,at\nada,2.5\nbob, 1\nada,-1\nbob\nada,soon\n"
	got, skipped, err := ReadInstants("f", strings.NewReader(text), "at", true)
	if err != nil || !slices.Equal(got, []time.Duration{2500 * time.Millisecond, time.Second}) || len(skipped) != 3 {
		t.Errorf("%v, skipped %v, error %v", got, skipped, err)
	}
	for i, want := range []string{"before the start", "the row has", `"soon" is not a number`} {
		place(t, skipped[i], 4+i, want)
	}
	for want, text := range map[string]string{"the file is empty": "", `no column "at"`: "a,b\n1,2\n"} {
		_, _, err := ReadInstants("f", strings.NewReader(text), "at", false)
		place(t, err, 1, want)
	}
	if _, _, err := ReadInstants("f", strings.NewReader(text), "at", false); err == nil || strings.Count(err.Error(),
		"f:") != 3 {
		t.Errorf("error %v", err)
	}
}
