package store

import (
	"slices"
	"testing"
)

func key(pairs ...string) *Key {
	k := NewKey("execute")
	for i := 0; i < len(pairs); i += 2 {
		k.Add(pairs[i], pairs[i+1])
	}
	return k
}

func TestKeyNamesWhatChanged(t *testing.T) {
	old := key("policy.order", "round_robin", "policy.quantum", "1s", "gone", "x").Description()
	now := key("policy.order", "round_robin", "policy.quantum", "500ms", "policy.feedback", "10s").Description()
	want := []Change{
		{Label: "policy.quantum", Old: "1s", New: "500ms"},
		{Label: "policy.feedback", New: "10s"},
		{Label: "gone", Old: "x"},
	}
	if got := Diff(old, now); !slices.Equal(got, want) {
		t.Errorf("diff = %v, want %v", got, want)
	}
	if got := Diff(now, now); len(got) != 0 {
		t.Errorf("a description differs from itself: %v", got)
	}
}

// Repeated labels are numbered, so that the difference of two keys shows swapped lines.
func TestKeyDiffRepeatedLabels(t *testing.T) {
	got := Diff(key("file", "a", "file", "b").Description(), key("file", "a", "file", "c").Description())
	want := []Change{{Label: "file#2", Old: "b", New: "c"}}
	if !slices.Equal(got, want) {
		t.Errorf("diff = %v, want %v", got, want)
	}
}

// A value with a line break is quoted, so that it cannot look like another line.
func TestKeyQuotesLineBreaks(t *testing.T) {
	a := key("env.X", "1\npolicy.quantum 1s")
	b := key("env.X", "1", "policy.quantum", "1s")
	if a.Hash() == b.Hash() {
		t.Error("a line break in a value makes two descriptions the same")
	}
}

func TestChangeString(t *testing.T) {
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{"policy.quantum", "1s", "500ms"}, "policy.quantum: 1s → 500ms"},
		{Change{"job.x.limit", "", "3s"}, "job.x.limit: 3s (new)"},
		{Change{"job.x.limit", "3s", ""}, "job.x.limit: 3s (gone)"},
	} {
		if got := c.change.String(); got != c.want {
			t.Errorf("%+v = %q, want %q", c.change, got, c.want)
		}
	}
}
