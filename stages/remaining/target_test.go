package remaining

import (
	"testing"

	"github.com/tfexp/tfexp/stages/experiment"
)

// A job ends when its losses reach its target, or after all its epochs.
func TestDone(t *testing.T) {
	losses := &experiment.Runtime{Losses: []float64{0.9, 0.5, 0.3, 0.1}}
	for _, c := range []struct {
		job  experiment.Job
		want int
	}{
		{experiment.Job{Epochs: 7}, 7},
		{experiment.Job{Steps: 70}, 70},
		{experiment.Job{Epochs: 7, Runtime: losses}, 7},
		{experiment.Job{Epochs: 7, Parts: experiment.Parts{target{0.5}}}, 7},
		{experiment.Job{Epochs: 7, Parts: experiment.Parts{target{0.5}}, Runtime: losses}, 2},
		{experiment.Job{Epochs: 7, Parts: experiment.Parts{target{0.9}}, Runtime: losses}, 1},
		{experiment.Job{Epochs: 2, Parts: experiment.Parts{target{0.2}}, Runtime: losses}, 2}, // it would need four epochs
		{experiment.Job{Epochs: 7, Parts: experiment.Parts{target{0.05}}, Runtime: losses}, 7},
		{experiment.Job{Epochs: 7, Runtime: &experiment.Runtime{Losses: []float64{0}}}, 7}, // the job has no target
	} {
		if got := c.job.Done(); got != c.want {
			t.Errorf("%+v is done after %d, want %d", c.job, got, c.want)
		}
	}
}
