package logs

import (
	"strings"
	"testing"
)

// Instants of digits that all have the form of a date may be dates. One instant in seconds has such a form by chance.
func TestCompactDates(t *testing.T) {
	for _, c := range []struct {
		texts       string
		short, want bool
	}{
		{"2609011000", true, true}, {"2609011000", false, true}, {"2609011000 2609011030 2609012359", true, true},
		{"2609011000 2609011030 2609012460", true, false}, // there is no hour 24
		{"1709251502", true, false}, {"1709251502 1709251502", true, false}, {"1709251502 1709251510 1709251520", true, true},
		{"1709251502 1709251510 1709251580", true, false}, {"1767225600 1767225610 1767229200", true, false},
		{"20260901100000 20260901101500", false, true}, {"202609011000", false, true}, {"260901100000", true, true},
		{"20260901", false, true}, {"01092026", true, true}, {"09012026", true, true}, {"0901100000 0901101500", true, true},
		{"2026090110", true, true}, {"0901260910", true, true},
		{"1000 1030", true, true}, {"1000 1030", false, false}, {"0 10 25", true, false}, {"1000 1060", true, false},
		{"100000", true, true}, {"100000", false, false}, {"010926", true, true},
		{"2026-09-01T10:00:00", true, false}, {"2026-09-01T10:00:00 2609011000", true, true}, {"", true, false},
		{"1767225600000 1767225610000", false, false}, {"20269901", false, false}, {"21000101", false, false},
	} {
		var d CompactDates
		for i, text := range strings.Split(c.texts, " ") {
			d.Add(text, i+2, c.short)
		}
		err := d.Err("log", "write dates")
		if (err != nil) != c.want || err != nil && !strings.HasPrefix(err.Error(), "log:") {
			t.Errorf("%s: %v, want an error: %t", c.texts, err, c.want)
		}
	}
}
