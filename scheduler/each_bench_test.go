package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// each returns policies that together use every choice of every argument at least once, with defaults for the other
// arguments. The choice of victims is used with a policy that preempts by level.
func each() (policies []Policy) {
	for _, q := range Questions {
		for _, name := range q.Names() {
			p := Policy{}
			if q == VictimsOf || q == PreemptionOf {
				p = Policy{Order: Priority, Preemption: PausePreemption}
			}
			if q == VictimsOf {
				p.Order, p.Settings = "las", Settings{"quantum": time.Hour}
			}
			p.Set(q, name)
			for setting, value := range map[string]any{"quantum": time.Hour, "round": time.Minute} {
				with := p
				with.Settings = Settings{setting: value}
				if p.Validate() != nil && with.Validate() == nil {
					p = with
				}
			}
			if p.Validate() == nil {
				policies = append(policies, p)
			}
		}
	}
	return policies
}

// BenchmarkEach runs the policies of each with all jobs arriving at once. It measures the cost of events and decisions
// when the queue is long. Runs that take longer than some seconds are stopped.
func BenchmarkEach(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		for _, nodes := range []int{1, 64} {
			jobs := widths(poisson(n, 1024, 1, 1), 1)
			for i := range jobs {
				jobs[i].Arrival /= 1000
				jobs[i].Priority, jobs[i].User = i%10, fmt.Sprint("user-", i%7)
				jobs[i].Threads = min(jobs[i].Threads, 1024/nodes)
				jobs[i].Deadline = 100 * jobs[i].Predicted
			}
			var c Cluster
			for range nodes {
				c.Nodes = append(c.Nodes, Node{Threads: 1024 / nodes})
			}
			for _, p := range each() {
				b.Run(fmt.Sprintf("%s/nodes=%d/queued=%d", p, nodes, n), func(b *testing.B) {
					largeFrom(b, n, 0)
					for b.Loop() {
						ctx, stop := context.WithTimeout(context.Background(), 6*time.Second)
						engine, err := simulated.New(jobs, works(jobs), simulated.Options{})
						if err != nil {
							b.Fatal(err)
						}
						var count tally
						began := time.Now()
						o, err := Run{Policy: p, Cluster: c, Jobs: jobs, Engine: engine, Recorder: &count,
							EventsOnly: true}.Execute(ctx)
						stop()
						spent := float64(time.Since(began).Nanoseconds())
						if err != nil && !errors.Is(err, context.DeadlineExceeded) {
							b.Skip(err)
						}
						b.ReportMetric(spent/float64(max(count.events, 1)), "ns/event")
						b.ReportMetric(spent/float64(max(o.Instants, 1))/1000, "µs/decision")
						b.ReportMetric(float64(count.events), "events")
					}
				})
			}
		}
	}
}
