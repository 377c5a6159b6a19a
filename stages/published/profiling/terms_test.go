package profiling

import (
	"reflect"
	"testing"

	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestTerms reads the profiling settings of a policy, and settings without them.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		settings policy.Settings
		want     *terms
		wrong    string
	}{
		{policy.Settings{}, nil, ""},
		{policy.Settings{"profiling": 0.25}, &terms{part: 0.25}, ""},
		{policy.Settings{"profiling": 0.25, "profiled_by": "job"}, &terms{part: 0.25}, ""},
		{policy.Settings{"profiling": 0.25, "profiled_by": "class"}, &terms{part: 0.25, byClass: true}, ""},
		{policy.Settings{"profiled_by": "class"}, nil, "profiled_by"},
	} {
		if got := termsOf(c.settings); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %+v, want %+v", c.settings, got, c.want)
		}
		if arg, err := check(c.settings); arg != c.wrong || (err != nil) != (c.wrong != "") {
			t.Errorf("%v: %q, %v; want %q", c.settings, arg, err, c.wrong)
		}
	}
}
