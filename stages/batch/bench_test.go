package batch_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/batch"
)

// cluster makes a cluster, jobs of a load for some days, and how long they take. Users ask for twice as much as they
// need or more; one job in five for half of a day.
func cluster(nodes, cores, days int, load float64) (c scheduler.Cluster, jobs []scheduler.Job, work []simulated.Scaling) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range nodes {
		c.Nodes = append(c.Nodes, scheduler.Node{Name: fmt.Sprintf("n-%d", i+1), Threads: cores})
	}
	end := time.Duration(days) * 24 * time.Hour
	for at := time.Duration(0); ; {
		size := int(math.Exp2(float64(r.IntN(10))))
		run := time.Duration(r.ExpFloat64() * float64(2*time.Hour))
		limit := (run*2 + time.Minute).Round(time.Minute)
		if r.IntN(5) == 0 {
			limit = max(limit, 12*time.Hour)
		}
		run = max(run, time.Second).Round(time.Second)
		gap := 102.3 * 2 * 3600 / float64(nodes*cores) / load // mean core seconds of a job, per second
		if at += time.Duration(r.ExpFloat64() * gap * float64(time.Second)); at > end {
			return c, jobs, work
		}
		n := len(jobs)
		user := fmt.Sprint("u", r.IntN(60))
		j := scheduler.Job{Number: n, Name: fmt.Sprint(n), Class: "main", Arrival: at.Round(time.Second), Threads: size,
			Deadline: scheduler.Never, User: user, Predicted: limit, Divided: true}
		j.Own().Submission = &scheduler.Submission{Account: "a" + user[1:2], Limit: limit}
		jobs = append(jobs, j)
		work = append(work, simulated.Scaling{Scaled: run, Threads: size})
	}
}

var days = 20

func BenchmarkTwentyDaysOfThousandNodes(b *testing.B) { benchmark(b, 1000, days, 0.9) }

// BenchmarkDeepQueue has more jobs than there is room for: the queue grows to thousands.
func BenchmarkDeepQueue(b *testing.B) { benchmark(b, 100, 1, 1.5) }

func benchmark(b *testing.B, nodes, days int, load float64) {
	for range b.N {
		c, jobs, work := cluster(nodes, 64, days, load)
		var waited time.Duration
		p := policy.Policy{Order: batch.Multifactor, Backfill: batch.Periodic, Settings: policy.Settings{
			"weight_age": 1000.0, "weight_fair_share": 10000.0, "weight_size": 500.0, "half_life": 24 * time.Hour,
		}, Blocks: []schema.Settings{{Name: "partition", Label: "main", Args: map[string]any{"tier": 1, "factor": 1}}}}.Complete()
		engine, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			b.Fatal(err)
		}
		out, err := scheduler.Run{Policy: p, Cluster: c, Jobs: jobs, Engine: engine}.Execute(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		for i := range out.Jobs {
			waited += out.Jobs[i].Waiting
		}
		b.ReportMetric(float64(len(jobs)), "jobs")
		b.ReportMetric(waited.Seconds()/float64(len(jobs)), "mean-wait-s")
	}
}
