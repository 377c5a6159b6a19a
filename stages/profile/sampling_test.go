//go:build unix

package profile

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator"
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

// warned keeps the warnings of a run.
type warned struct {
	stages.Pipeline
	texts []string
}

func (w *warned) Warn(_, _, text string) { w.texts = append(w.texts, text) }
func (*warned) Observe(stages.Progress)  {}

// Jobs whose samples fail alike are one warning, which names a few of them; a job that fails otherwise is another.
func TestJobsWithoutEstimateAreOneWarning(t *testing.T) {
	on := &warned{}
	s := &sampling{Run: &stages.Run{Pipeline: on}}
	for i := range 6 {
		s.units = append(s.units, &stages.Unit{Name: fmt.Sprintf("j%d", i), Lengths: []int{1}, Repeats: 1, Asked: true})
	}
	n := len(s.units)
	s.taken, s.failed, s.over = make([][]estimator.Sample, n), make([]bool, n), make([]bool, n)
	s.logs, s.causes = make([]string, n), make([]error, n)
	s.one = func(_ context.Context, u *stages.Unit, at task) (estimator.Sample, error) {
		if u.Name == "j2" {
			return estimator.Sample{}, fmt.Errorf("sample %s: exit status 1", sampleName(u, at))
		}
		return estimator.Sample{}, fmt.Errorf("sample %s: %w (10s): it was ended", sampleName(u, at), ErrTooLong)
	}
	for i := range s.units {
		if err := s.take(context.Background(), task{unit: i, length: 1}); err != nil {
			t.Fatal(err)
		}
	}
	s.warnNoEstimate()
	want := []string{
		"no estimate for 5 jobs (j0, j1, j3 and 2 more), for the same reason: it took longer than a sample may take (10s): " +
			"it was ended; limit in the block profile gives samples more time",
		"no estimate for job j2: sample j2-sample-1: exit status 1",
	}
	if d := cmp.Diff(want, on.texts); d != "" {
		t.Error(d)
	}
}
