//go:build unix

package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/stages"
)

// Under a budget the two shortest samples of a request come first; then other
// numbers of threads, longer samples, and repeats.
func TestTasksUnderABudget(t *testing.T) {
	s := &sampling{budget: 0.05, units: []*stages.Unit{
		{Lengths: []int{1, 2, 3}, Repeats: 2, Asked: true},
		{Lengths: []int{1, 2, 3}, Repeats: 1},
	}}
	s.pieces = []stages.PlannedPiece{{Make: true}, {Make: true}}
	text := func(tasks []task) string {
		var parts []string
		for _, t := range tasks {
			parts = append(parts, strings.Repeat("other ", t.unit)+strings.Repeat("·", t.length)+strings.Repeat("'", t.repeat))
		}
		return strings.Join(parts, ", ")
	}
	needed, others := s.tasks()
	if d := cmp.Diff("·, ··", text(needed)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("other ·, other ··, ···, other ···, ·', ··', ···'", text(others)); d != "" {
		t.Error(d)
	}
	s.budget = 0
	if needed, others := s.tasks(); len(needed) != 9 || len(others) != 0 {
		t.Errorf("without a budget %d samples are needed, and %d are not", len(needed), len(others))
	}
}
