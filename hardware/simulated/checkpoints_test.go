package simulated

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// by simulates a job with checkpoints step by step. A step is one second of work.
type by struct {
	left, kept     int // remaining work in steps: now, and after the last checkpoint
	until, writing int // steps until the next checkpoint, and until the end of the current one
	every, cost    int
	spent, lead    int
}

func (b *by) second() {
	switch {
	case b.lead > 0:
		b.lead--
	case b.writing > 0:
		b.writing--
		b.spent++
		if b.writing == 0 {
			b.kept = b.left
		}
	case b.left > 0:
		b.left--
		if b.until--; b.until == 0 && b.left > 0 {
			b.until, b.writing = b.every, b.cost
			if b.cost == 0 {
				b.kept = b.left
			}
		}
	}
}

// TestCheckpointsSecondBySecond: a job's completed work, saved work and time spent on checkpoints, at a loss at any
// instant and at the end, equal a simulation second by second. Saved work of a lost attempt is not repeated, but read.
func TestCheckpointsSecondBySecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for n := range 300 {
		work, every, cost, restore, start := 1+rng.IntN(40), 1+rng.IntN(12), rng.IntN(4), rng.IntN(4), rng.IntN(3)
		c := &Checkpoint{Every: seconds(every), Cost: seconds(cost), Restore: seconds(restore)}
		if rng.IntN(3) == 0 && work%4 == 0 {
			every = work / 4
			c.Every, c.Share = 0, 0.25
		}
		e, err := New([]scheduler.Job{{Name: "a", Threads: 1}}, []Scaling{FullRequest(seconds(work), 1)}, Options{
			Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}}, Fleet: &script{}, Checkpoints: []*Checkpoint{c},
			Overheads: Overheads{Start: seconds(start)},
		})
		must(t, err)
		b := by{left: work, kept: work, every: every, cost: cost}
		now := 0
		for attempt := range 4 {
			from, read := work-b.kept, 0
			b.left, b.until, b.writing, b.spent, b.lead = b.kept, every, 0, 0, start
			if from > 0 {
				read = restore
				b.lead += read
			}
			must(t, e.Start(0, cores(1)))
			lost := rng.IntN(work + 20)
			for range lost {
				if b.left == 0 {
					break
				}
				b.second()
				now++
			}
			if b.left == 0 {
				until(t, e, scheduler.Never, seconds(now), 0)
				break
			}
			if lost > 0 {
				until(t, e, seconds(now), seconds(now))
			}
			a, err := e.Revoke(0)
			must(t, err)
			if a.From != seconds(from) || a.Done != seconds(work-b.left) || a.Kept != seconds(work-b.kept) || a.Checkpoints != seconds(b.spent) ||
				a.Restore != seconds(max(read-b.lead, 0)) {
				t.Fatalf("%d: %d s of work, %+v, attempt %d lost after %d s: %+v, want from %d, %+v", n, work, c, attempt, lost, a, from, b)
			}
		}
	}
}

// A sample counts work only after the start-up of the job. No work of a sample is kept.
func TestSamples(t *testing.T) {
	e := newEngine(t, Options{Overheads: Overheads{Start: time.Second}}, FullRequest(10*time.Second, 2), FullRequest(10*time.Second, 2))
	must(t, e.Start(0, cores(2)))
	must(t, e.Sample(0, cores(2), 0.25))
	until(t, e, scheduler.Never, 3500*time.Millisecond, 0)
	must(t, e.Start(0, cores(1)))
	must(t, e.Sample(0, cores(1), 0.1))
	until(t, e, scheduler.Never, 6500*time.Millisecond, 0)
	must(t, e.Start(0, cores(2)))
	until(t, e, scheduler.Never, 17500*time.Millisecond, 0)
	if e.Sample(1, cores(1), 0.5) == nil {
		t.Error("a job that does not run is sampled")
	}
}
