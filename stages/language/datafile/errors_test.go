package datafile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Lines with the same mistake are counted together, even if they quote different texts.
func TestMalformed(t *testing.T) {
	line := func(n int, text string) error {
		return fmt.Errorf("trace: %w", &textfile.LineError{File: "f", Line: n, Err: errors.New(text)})
	}
	if got := Malformed([]error{line(3, `"x" is not a number`)}); got !=
		`1 malformed line (the first is line 3: "x" is not a number)` {
		t.Errorf("%s", got)
	}
	many := []error{line(4, "at least 12 fields, not 3"), line(7, `"a, 1" is not a time`), line(8, `"b2" is not a time`)}
	if got := Malformed(append(many, errors.Join(line(9, "at least 2 fields, not 1")), line(11, `"" is not a time`))); got !=
		`5 malformed lines: "a, 1" is not a time (3, first line 7); at least 12 fields, not 3 (2, first line 4)` {
		t.Errorf("%s", got)
	}
	var all []error
	for i := range 10 {
		all = append(all, line(i+1, "wrong "+strings.Repeat("x", i+1)))
	}
	if got := Malformed(all); !strings.HasSuffix(got, "; wrong xxxxxxxx (1, first line 8); 2 other reasons") {
		t.Errorf("%s", got)
	}
	if got := Malformed(all[:8]); !strings.HasSuffix(got, "; wrong xxxxxxxx (1, first line 8)") {
		t.Errorf("%s", got)
	}
	if got := Malformed([]error{errors.New("odd")}); got != "1 malformed line" {
		t.Errorf("%s", got)
	}
	if a, b := KindOf(errors.New(`line 12: "a 7 b" and "" cost 0.95, 9`)), `line : "" and "" cost ., `; a != b {
		t.Errorf("%q, want %q", a, b)
	}
}
