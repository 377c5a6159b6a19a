package measure_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
)

// The row of a job with alternatives has the resource on which it ran, its request there, and the prediction for that
// resource. Its slowdown is relative to the fastest alternative.
func TestRowOfAnAlternative(t *testing.T) {
	ways := []scheduler.Alternative{{Name: "cpu", Threads: 4}, {Name: "gpu:V100", Threads: 1, GPUs: 1, GPU: "V100"},
		{Name: "fast", Threads: 1, GPUs: 1}}
	setup := measure.Setup{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4}, {Threads: 2, GPUs: 2, GPU: "V100"}}},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "a", Threads: 4, Special: &scheduler.Special{Alternatives: ways}}, {Number: 1, Name: "b", Threads: 4, Special: &scheduler.Special{Alternatives: ways}},
			{Number: 2, Name: "c", Threads: 1, GPUs: 1}, {Number: 3, Name: "d", Threads: 4, Special: &scheduler.Special{Alternatives: ways}},
		},
	}
	for range setup.Jobs {
		setup.PredictedOn = append(setup.PredictedOn, []time.Duration{8 * time.Second, 2 * time.Second, 4 * time.Second})
	}
	c := measure.NewCollector(setup)
	set := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	for j := range setup.Jobs {
		c.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: j})
	}
	c.Event(&scheduler.Event{Kind: scheduler.Start, Job: 0, Cores: set(0, 4)})
	c.Event(&scheduler.Event{Kind: scheduler.Start, Job: 1, Cores: set(4, 5), GPUs: set(0, 1), Alternative: 1})
	c.Event(&scheduler.Event{Kind: scheduler.Start, Job: 2, Cores: set(5, 6), GPUs: set(1, 2)})
	c.Event(&scheduler.Event{Kind: scheduler.Finish, Job: 1, At: 4 * time.Second})
	c.Event(&scheduler.Event{Kind: scheduler.Finish, Job: 2, At: 4 * time.Second})
	c.Event(&scheduler.Event{Kind: scheduler.Start, Job: 3, At: 4 * time.Second, Cores: set(4, 5), GPUs: set(1, 2),
		Alternative: 2})
	for j, want := range []struct {
		resource      string
		threads, gpus int
		predicted     float64
	}{{"cpu", 4, 0, 8}, {"gpu:V100", 1, 1, 2}, {"gpu:V100", 1, 1, 8}, {"fast:V100", 1, 1, 4}} {
		r := c.Outcome(j)
		if r.Resource != want.resource || r.ThreadsRequested != want.threads || r.GPUs != want.gpus ||
			r.Predicted != want.predicted {
			t.Errorf("job %s ran on %q with %d threads and %d GPUs, predicted %g s; want %+v", r.Job, r.Resource,
				r.ThreadsRequested, r.GPUs, r.Predicted, want)
		}
	}
	if r := c.Outcome(1); r.Slowdown != 2 || r.PredictionErrorPct != -50 {
		t.Errorf("a slowdown of %g and an error of %g%%, want 2 and -50%%", r.Slowdown, r.PredictionErrorPct)
	}
}
