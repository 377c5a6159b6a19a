//go:build unix

package slurm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An allocation lasts until its limit, or until its end, which preemption with a grace time moves.
func TestReadStates(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	got, err := readStates(`11|RUNNING|10:00|1800000600|n[1-2]|None
12|RUNNING|10:00|1800000015|n3|None
13|RUNNING|UNLIMITED|NONE|n4|None
14|PENDING|10:00|N/A||Resources
`, now)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]jobState{
		"11": {state: "RUNNING", reason: "None", left: 10 * time.Minute, nodes: []string{"n1", "n2"}},
		"12": {state: "RUNNING", reason: "None", left: 15 * time.Second, nodes: []string{"n3"}},
		"13": {state: "RUNNING", reason: "None", left: Unlimited, nodes: []string{"n4"}},
		"14": {state: "PENDING", reason: "Resources", left: 10 * time.Minute},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(jobState{})); diff != "" {
		t.Error(diff)
	}
}

// The known end of an allocation stays, unless a new one is much sooner.
func TestAllocationLasts(t *testing.T) {
	a := &allocation{}
	for _, left := range []time.Duration{0, -time.Second, Unlimited} {
		if a.setTimeLeft(left); !a.until.IsZero() {
			t.Errorf("%s left: until %s", left, a.until)
		}
	}
	left := func() time.Duration { return time.Until(a.until).Round(time.Second) }
	a.setTimeLeft(time.Minute)
	a.told = true
	a.setTimeLeft(time.Hour)
	if left() != time.Minute-endMargin {
		t.Errorf("%s left after a longer one", left())
	}
	if a.setTimeLeft(4 * time.Second); left() != 2*time.Second {
		t.Errorf("%s left of 4 s", left())
	}
}
