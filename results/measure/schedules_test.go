package measure_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
)

// For any schedule, the fragments equal the ones that a check of all nodes after each event finds.
func TestFragmentsOfAnySchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type node struct{ cores, gpus []int32 }
		var free []node
		var c scheduler.Cluster
		var core, gpu int32
		for range rapid.IntRange(1, 3).Draw(t, "nodes") {
			n := scheduler.Node{Threads: rapid.IntRange(1, 6).Draw(t, "cores"), GPUs: rapid.IntRange(0, 4).Draw(t, "GPUs")}
			var own node
			for range n.Threads {
				own.cores = append(own.cores, core)
				core++
			}
			for range n.GPUs {
				own.gpus = append(own.gpus, gpu)
				gpu++
			}
			c.Nodes, free = append(c.Nodes, n), append(free, own)
		}
		jobs := make([]scheduler.Job, rapid.IntRange(1, 6).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = scheduler.Job{Number: i, Name: string(rune('a' + i)), Deadline: scheduler.Never,
				Threads: rapid.IntRange(1, 4).Draw(t, "threads"), GPUs: rapid.IntRange(0, 3).Draw(t, "of GPUs")}
		}
		var lost, missed, wantJobs, capacity int64
		for _, j := range jobs {
			if j.GPUs > 0 {
				wantJobs++
			}
		}
		for _, n := range c.Nodes {
			capacity += int64(n.GPUs)
		}
		// count adds the free GPUs that fit nobody during a second.
		count := func() {
			for _, n := range free {
				fitting := int64(0)
				for _, j := range jobs {
					if j.GPUs > 0 && j.GPUs <= len(n.gpus) && j.Threads <= len(n.cores) {
						fitting++
					}
				}
				missed += int64(len(n.gpus)) * (wantJobs - fitting)
				if fitting == 0 {
					lost += int64(len(n.gpus))
				}
			}
		}
		set := func(numbers []int32) (s scheduler.CoreSet) {
			for _, n := range numbers {
				s = s.Union(scheduler.CoreSet{{Lo: n, Hi: n + 1}})
			}
			return s
		}
		var events []scheduler.Event
		for i := range jobs {
			events = append(events, scheduler.Event{Kind: scheduler.Arrive, Job: i})
		}
		type grant struct{ node, cores, gpus int }
		running := map[int]grant{}
		next, at := 0, time.Duration(0)
		for next < len(jobs) || len(running) > 0 {
			if next < len(jobs) && (len(running) == 0 || rapid.Bool().Draw(t, "start")) {
				v := rapid.IntRange(0, len(free)-1).Draw(t, "node")
				j, n := jobs[next], &free[v]
				if j.Threads > len(n.cores) || j.GPUs > len(n.gpus) { // it is given up before it begins
					events = append(events, scheduler.Event{At: at, Kind: scheduler.Stop, Job: next})
				} else {
					events = append(events, scheduler.Event{At: at, Kind: scheduler.Start, Job: next,
						Cores: set(n.cores[:j.Threads]), GPUs: set(n.gpus[:j.GPUs])})
					running[next] = grant{v, j.Threads, j.GPUs}
					n.cores, n.gpus = n.cores[j.Threads:], n.gpus[j.GPUs:]
				}
				next++
			} else {
				for i := range jobs {
					g, ok := running[i]
					if !ok {
						continue
					}
					events = append(events, scheduler.Event{At: at, Kind: scheduler.Finish, Job: i})
					delete(running, i)
					for k := range events {
						if e := &events[k]; e.Kind == scheduler.Start && e.Job == i {
							e.Cores.Each(func(n int) { free[g.node].cores = append(free[g.node].cores, int32(n)) })
							e.GPUs.Each(func(n int) { free[g.node].gpus = append(free[g.node].gpus, int32(n)) })
						}
					}
					break
				}
			}
			if next < len(jobs) || len(running) > 0 {
				count()
				at += time.Second
			}
		}
		metrics := collect(measure.Setup{Jobs: jobs, Cluster: c}, events).Metrics()
		fragments, fragmentation := math.NaN(), math.NaN()
		if wantJobs > 0 && capacity > 0 && at > 0 {
			all := float64(capacity) * at.Seconds()
			fragments, fragmentation = float64(lost)/all, float64(missed)/float64(wantJobs)/all
		}
		for m, want := range map[*measure.Metric]float64{&measure.Fragments: fragments, &measure.Fragmentation: fragmentation} {
			if got := m.Of(&metrics); math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9 {
				t.Errorf("%s is %v, want %v", m.Name, got, want)
			}
		}
	})
}

// A job that runs when the records end has missed its deadline if the deadline has passed, but its lateness is unknown.
// A job that never arrived has missed no deadline.
func TestDeadlinesOfUnfinishedJobs(t *testing.T) {
	var s measure.Setup
	s.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4}}}
	for i, due := range []time.Duration{4 * second, 6 * second, 5 * second, scheduler.Never, 3 * second, second} {
		s.Jobs = append(s.Jobs, scheduler.Job{Number: i, Name: string(rune('a' + i)), Threads: 1, Deadline: due})
	}
	var events []scheduler.Event
	for i := range s.Jobs[:5] { // the last has not arrived
		events = append(events, scheduler.Event{Kind: scheduler.Arrive, Job: i})
	}
	for i := range s.Jobs[:4] {
		events = append(events, scheduler.Event{Kind: scheduler.Start, Job: i, Cores: cores(int32(i), int32(i+1))})
	}
	events = append(events, scheduler.Event{At: 5 * second, Kind: scheduler.Finish, Job: 3})
	c := collect(s, events)
	m := c.Metrics()
	// a is due at 4 s and runs at 5; b has a second left; c is due now; e waits since 3 s.
	if got := measure.MissedDeadlines.Of(&m); got != 2 {
		t.Errorf("%v missed deadlines, want 2", got)
	}
	if got := measure.Lateness.Of(&m); got != 0 {
		t.Errorf("late by %v s, want 0", got)
	}
	for i := range s.Jobs {
		if got := c.Outcome(i).Lateness; !math.IsNaN(got) {
			t.Errorf("job %d is late by %v, which nobody knows", i, got)
		}
	}
}

// Jobs with GPUs are grouped by their GPUs, and other jobs by their cores.
func TestGroupsOfGPUs(t *testing.T) {
	groups := one([]scheduler.Job{
		{Name: "a", Class: "j", Threads: 1, GPUs: 1}, {Name: "b", Class: "j", Threads: 4, GPUs: 3},
		{Name: "c", Class: "j", Threads: 4}, {Name: "d", Class: "j", Threads: 4, GPUs: 2},
	}).Groups()
	want := []string{"size 4–7 cores: 1", "size 1 GPU: 1", "size 2–3 GPUs: 2"}
	if d := cmp.Diff(want, groupNames(groups)); d != "" {
		t.Error(d)
	}
}

// A cell that was closed while jobs waited is saturated. A cell in which only running jobs were stopped is not.
func TestClosedCells(t *testing.T) {
	for _, c := range []struct {
		wait, closed, want bool
	}{{true, true, true}, {false, true, false}, {true, false, false}} {
		s := measure.Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}}}
		var events []scheduler.Event
		for i := range 2 {
			s.Jobs = append(s.Jobs, scheduler.Job{Number: i, Name: string(rune('a' + i)), Threads: 1, Deadline: scheduler.Never})
			events = append(events, scheduler.Event{Kind: scheduler.Arrive, Job: i})
		}
		events = append(events, scheduler.Event{Kind: scheduler.Start, Job: 0, Cores: cores(0, 1)})
		if !c.wait {
			events = append(events, scheduler.Event{At: second, Kind: scheduler.Finish, Job: 0},
				scheduler.Event{At: second, Kind: scheduler.Start, Job: 1, Cores: cores(0, 1)})
		}
		for i := range 2 {
			if c.wait || i == 1 {
				events = append(events, scheduler.Event{At: 2 * second, Kind: scheduler.Stop, Job: i})
			}
		}
		if got := collect(s, events).Load(c.closed); got.Saturated != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// If all events occur at the same instant, the makespan is unknown, and the mean JCT is 0.
func TestNoSpan(t *testing.T) {
	s := measure.Setup{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}},
		Jobs: []scheduler.Job{{Name: "a", Threads: 1, Deadline: scheduler.Never, Arrival: second}}}
	m := collect(s, []scheduler.Event{{At: second, Kind: scheduler.Arrive}, {At: second, Kind: scheduler.Start, Cores: cores(0, 1)},
		{At: second, Kind: scheduler.Finish}}).Metrics()
	if got := measure.Makespan.Of(&m); !math.IsNaN(got) {
		t.Errorf("the makespan is %v", got)
	}
	if got := measure.MeanJCT.Of(&m); got != 0 {
		t.Errorf("the mean JCT is %v", got)
	}
}

// A metric that was set has its own value, whichever other metrics are set.
func TestSetOneMetric(t *testing.T) {
	for _, m := range measure.AllMetrics() {
		var v measure.Metrics
		v.Set(m, 2)
		for _, other := range measure.AllMetrics() {
			if got := other.Of(&v); other.Name == m.Name && got != 2 || other.Name != m.Name && !math.IsNaN(got) {
				t.Errorf("%s is set: %s is %v", m.Name, other.Name, got)
			}
		}
	}
}
