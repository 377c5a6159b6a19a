//go:build unix

package profile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/stages"
)

// With a budget, the two shortest samples of a request come first, followed by other numbers of threads, longer samples
// and repeats.
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

// Jobs whose samples fail for the same reason cause one warning, which names some of them. Another reason causes
// another warning.
func TestJobsWithoutEstimateAreOneWarning(t *testing.T) {
	b, fails := newBench(), map[string]error{}
	for i := range 6 {
		name := fmt.Sprintf("j%d", i)
		b.unit(stages.Unit{Job: name, Asked: true, Threads: 1, Lengths: []int{1, 2}, Repeats: 1}, true)
		fails[name+"-sample-1"] = fmt.Errorf("sample %s-sample-1: %w (10s): it was ended", name, ErrTooLong)
	}
	fails["j2-sample-1"] = errors.New("sample j2-sample-1: exit status 1")
	if err := b.scripted(b.run(t), fails).all(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines(t, "warnings", `no_estimate: no estimate for 5 jobs (j0, j1, j3 and 2 more), for the same reason: `+
		`it took longer than a sample may take (10s): it was ended; limit in the block profile gives samples more time
no_estimate: no estimate for job j2: sample j2-sample-1: exit status 1`, b.told)
}
