package editor

import (
	"slices"
	"strings"
	"testing"
)

// All uses of a name are found from its definition and from each use. The same name of another kind is not a use.
func TestReferences(t *testing.T) {
	src := `policy "rr" {}
job "rr" {}
compare "mean_jct" { baseline = policy.rr }
workload "w" {
  submit { job = job.rr }
}
locals { a = [policy.rr, x.policy.rr, policy.rrr] }
`
	want := []int{strings.Index(src, "rr"), strings.Index(src, "policy.rr }") + 7, strings.Index(src, "[policy.rr") + 8}
	for _, at := range want {
		var got []int
		for _, r := range References([]byte(src), at+1) {
			got = append(got, r.Start)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %d: %v, want %v", at, got, want)
		}
	}
	if got := References([]byte(src), strings.Index(src, "baseline")); got != nil {
		t.Errorf("of no name: %v", got)
	}
}

func TestIsExperiment(t *testing.T) {
	for src, want := range map[string]bool{"": true, "\n": true, `policy "p" {}`: true, `experiment "e" {`: true,
		"terraform {}": false, `job "x" { group "g" {} }`: false, `variable "a" {}`: false} {
		if got := IsExperiment([]byte(src)); got != want {
			t.Errorf("%q: %t", src, got)
		}
	}
}

func TestValueDoc(t *testing.T) {
	const doc = "How runs end. They are:\n- `all`: everything stays.\n- `metrics`: only the numbers.\nWith `none`, nothing is kept. That is all."
	for value, want := range map[string]string{"all": "everything stays.", "metrics": "only the numbers.", "x": ""} {
		if got := valueDoc(doc, value); got != want {
			t.Errorf("%s: %q", value, got)
		}
	}
	if got := valueDoc("A text. With `none`, nothing is kept. The end.", "none"); got != "With `none`, nothing is kept." {
		t.Errorf("%q", got)
	}
}
