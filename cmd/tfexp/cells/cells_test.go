package cells

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestByNumber(t *testing.T) {
	names := []string{"short-10", "long-2", "short-2", "long-1", "b", "short-1"}
	slices.SortFunc(names, byNumber)
	want := []string{"b", "long-1", "long-2", "short-1", "short-2", "short-10"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
}
