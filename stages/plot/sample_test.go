package plot

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// cellsOf returns an experiment whose cells have the given numbers of jobs.
func cellsOf(t *testing.T, jobs ...int) *record.Experiment {
	t.Helper()
	e := &record.Experiment{Cells: make([]record.Cell, len(jobs))}
	for i, n := range jobs {
		e.Cells[i].Metrics.Set(measure.Jobs, float64(n))
	}
	return e
}

// Pictures of very many jobs are drawn from a sample, with a note.
func TestSampled(t *testing.T) {
	for _, c := range []struct {
		jobs []int
		step int // of the first cell
		says string
	}{
		{[]int{10, 1000}, 1, ""},
		{[]int{mostSampled, 10}, 2, "Of cells with more than 200000 jobs, only a sample is shown: at least one job in 2."},
		{[]int{100_000, mostKept, mostKept}, 3, "at least one job in 11."},
		{[]int{10, 3 * mostKept, 2 * mostKept}, 6, "at least one job in 31."},
	} {
		d := NewData(cellsOf(t, c.jobs...))
		if got := d.step(d.Cells[0]); got != c.step {
			t.Errorf("%d: one job in %d, want %d", c.jobs, got, c.step)
		}
		if got := d.Sampled(); !strings.HasSuffix(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%d: %q", c.jobs, got)
		}
	}
	many := make([]int, 100)
	for i := range many {
		many[i] = 100_000
	}
	d := NewData(cellsOf(t, many...))
	if got := d.Sampled(); d.step(d.Cells[7]) != 5 || !strings.Contains(got, "so only a sample is shown: one job in 5.") {
		t.Errorf("one job in %d: %q", d.step(d.Cells[7]), got)
	}
}
