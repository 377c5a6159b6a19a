package batch

import (
	"fmt"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestResume: priorities that continue another run's priorities are the same from then on, whatever the run's
// clock.
func TestResume(t *testing.T) {
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 16}}}
	p := policy.Policy{Order: Multifactor, Backfill: Periodic, Settings: policy.Settings{"weight_age": 1000.0,
		"weight_fair_share": 10000.0, "half_life": time.Hour, "max_age": 10 * time.Hour}}.Complete()
	of := func(user int, arrival time.Duration, number int) (j scheduler.Job) {
		j.Number, j.Name, j.User, j.Arrival, j.Threads = number, fmt.Sprint(number), fmt.Sprint("u", user), arrival, 4
		j.Own().Submission = &scheduler.Submission{Account: fmt.Sprint("a", user%2), Limit: time.Hour}
		return j
	}
	priorities := func(jobs []scheduler.Job) *Priorities {
		m, err := NewPriorities(policy.Setup{Policy: p, Run: &scheduler.Run{Cluster: cluster, Jobs: jobs}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	start := func(m *Priorities, job int, at time.Duration) {
		m.OnEvent(&scheduler.Event{At: at, Kind: scheduler.Start, Job: job, Cores: scheduler.CoreSet{{Hi: 4}}})
	}
	const now, ahead = 95 * time.Minute, -50 * time.Minute
	all := []scheduler.Job{of(0, 0, 0), of(1, 0, 1), of(2, time.Hour, 2), of(3, 80*time.Minute, 3)}
	whole := priorities(all)
	start(whole, 0, time.Minute)
	start(whole, 2, time.Hour)
	whole.OnEvent(&scheduler.Event{At: 40 * time.Minute, Kind: scheduler.Finish, Job: 0})
	whole.Rerank(now)
	rest := []scheduler.Job{of(2, time.Hour+ahead, 0), of(3, 80*time.Minute+ahead, 1)}
	part := priorities(rest)
	part.Resume(whole, ahead)
	start(part, 0, time.Hour+ahead)
	for _, at := range []time.Duration{now, now + 3*time.Minute, now + time.Hour} {
		whole.Rerank(at)
		part.Rerank(at + ahead)
		for user := range 4 {
			account, name := fmt.Sprint("a", user%2), fmt.Sprint("u", user)
			used, factor, ok := whole.Usage(account, name)
			if got, f, known := part.Usage(account, name); ok && (!known || got != used || f != factor) {
				t.Errorf("at %s %s has used %v (%v), want %v (%v)", at, name, got, f, used, factor)
			}
		}
		if got, want := part.Of(&rest[1]), whole.Of(&all[3]); got != want {
			t.Errorf("at %s the factors are %v, want %v", at, got, want)
		}
	}
}
