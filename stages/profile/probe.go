package profile

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Costs are how long the engine takes to do something to a job once, and so
// how long the job's cores stand still for it; 0 where it is not known.
type Costs struct {
	Pause, Resume, Resize time.Duration
}

// A probe does everything to a job a few times, with pauses in which the job
// goes on: its first moments are spent loading, and its threads come later. What
// is done to it first may wait until the engine has started it, and counts only
// where there is nothing else.
const (
	probeRounds = 7
	probeGap    = 5 * time.Millisecond
	// probeLength is how many times as long as the longest sample the job is told to be.
	probeLength = 4
)

// Probe starts a job, pauses, resumes and resizes it a few times, and kills
// it. The costs are medians; a job that ends by itself is measured as far as
// it got. ctx's error is returned as it is.
func Probe(ctx context.Context, run Run) (c Costs, err error) {
	fail := func(err error) (Costs, error) {
		if ctx.Err() != nil {
			return Costs{}, ctx.Err()
		}
		return Costs{}, fmt.Errorf("probe %s: %w", run.Job.Name, err)
	}
	e, err := run.Open(ctx, watchers{})
	if err != nil {
		return fail(err)
	}
	defer e.Close()
	grant := run.grant()
	if err := e.Start(0, grant); err != nil {
		return fail(err)
	}
	actions := []struct {
		do    func() error
		cost  *time.Duration
		times []time.Duration
	}{
		{do: func() error { return e.Pause(0) }, cost: &c.Pause},
		{do: func() error { return e.Resume(0, grant) }, cost: &c.Resume},
		{do: func() error { return e.Resize(0, grant) }, cost: &c.Resize},
	}
	for round := 0; ; round++ {
		_, ended, err := e.Next(ctx, e.Now()+probeGap)
		if err != nil {
			return fail(err)
		}
		if len(ended) > 0 && round > 1 { // what is done to a job that has ended costs nothing
			for i := range actions {
				actions[i].times = actions[i].times[:round-1]
			}
		}
		if len(ended) > 0 || round == probeRounds {
			break
		}
		for i := range actions {
			began := time.Now()
			if err := actions[i].do(); err != nil {
				return fail(err)
			}
			actions[i].times = append(actions[i].times, time.Since(began))
		}
	}
	for _, a := range actions {
		if times := a.times[min(1, max(0, len(a.times)-1)):]; len(times) > 0 {
			slices.Sort(times)
			*a.cost = times[len(times)/2]
		}
	}
	return c, nil
}
