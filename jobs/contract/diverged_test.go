package contract

import (
	"fmt"
	"strings"
	"testing"
)

// TestNotFinite reads lines as Python's json module writes them: a loss that is NaN or infinite is +Inf, and the other
// fields of the line count.
func TestNotFinite(t *testing.T) {
	for _, c := range []struct{ fields, want string }{
		{`"epoch": 2, "loss": NaN, "accuracy": 0.1`, "2 +Inf 0.1"},
		{`"epoch": 2, "loss": Infinity`, "2 +Inf -"},
		{`"epoch": 2, "loss" : -Infinity, "seconds": NaN`, "2 +Inf -"},
		{`"epoch": 2, "loss": 0.5, "accuracy": NaN`, "2 0.5 -"},
		{`"epoch": 2, "loss": 0.5, "reason": "\"loss\": NaN"`, "2 0.5 -"},
		{`"epoch": 2, "loss": None`, ""},
		{`"epoch": NaN2`, ""},
	} {
		got := ""
		var tail Tail
		line := `{"tfexp": {` + c.fields + "}}\n"
		tail.Add([]byte(line), func(p Progress) {
			text := func(v *float64) string {
				if v == nil {
					return "-"
				}
				return fmt.Sprint(*v)
			}
			got = fmt.Sprint(p.Epoch, " ", text(p.Loss), " ", text(p.Accuracy))
		})
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.fields, got, c.want)
		}
		r, err := Parse(strings.NewReader(line), Last)
		if err != nil || (len(r.Warnings) > 0) != (c.want == "") {
			t.Errorf("%s: %v, warnings %q", c.fields, err, r.Warnings)
		}
	}
}
