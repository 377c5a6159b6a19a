package scheduler_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload"
	. "github.com/tfexp/tfexp/stages/allox"
)

// largeFrom skips a benchmark of a size of least or more in short runs.
func largeFrom(b *testing.B, n, least int) {
	b.Helper()
	if testing.Short() && n >= least {
		b.Skip("a large size: make bench-large")
	}
}

// tally is a Recorder that only counts events.
type tally struct{ events int }

func (c *tally) Event(*Event)       { c.events++ }
func (c *tally) Decision(*Decision) {}

// poisson returns n jobs with exponential gaps and run times, on one core
// each, such that a machine with the given cores has the given load.
func poisson(n, cores int, load float64, seed int64) []Job {
	rng := workload.Stream(seed, "poisson")
	jobs := make([]Job, n)
	now := 0.0
	for i := range jobs {
		now += rng.ExpFloat64() / (load * float64(cores))
		jobs[i] = Job{
			Number: i, Name: fmt.Sprintf("job-%d", i), Class: "job", Threads: 1, Deadline: Never,
			Arrival:   time.Duration(now * 1e9),
			Predicted: max(time.Duration(rng.ExpFloat64()*1e9), 1),
		}
	}
	return jobs
}

// widths gives each job 1 to 64 cores, and multiplies the arrival times so that the load stays the same.
func widths(jobs []Job, seed int64) []Job {
	rng := workload.Stream(seed, "widths")
	total := 0
	for i := range jobs {
		jobs[i].Threads = 1 << rng.IntN(7)
		total += jobs[i].Threads
	}
	mean := float64(total) / float64(len(jobs))
	for i := range jobs {
		jobs[i].Arrival = time.Duration(float64(jobs[i].Arrival) * mean)
	}
	return jobs
}

func benchmark(b *testing.B, p Policy, cores int, jobs []Job) {
	b.Helper()
	benchmarkWork(b, p, cores, jobs, works(jobs))
}

func benchmarkWork(b *testing.B, p Policy, cores int, jobs []Job, work []simulated.Scaling) {
	b.Helper()
	for b.Loop() {
		engine, err := simulated.New(jobs, work, simulated.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var count tally
		began := time.Now()
		o, err := Run{Policy: p, Cluster: one(cores), Jobs: jobs, Engine: engine, Recorder: &count,
			EventsOnly: true}.Execute(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		spent := time.Since(began)
		b.ReportMetric(float64(spent.Nanoseconds())/float64(o.Events), "ns/event")
		b.ReportMetric(float64(len(jobs))/spent.Seconds(), "jobs/s")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}

func BenchmarkFCFS(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("strict/jobs=%d", n), func(b *testing.B) {
			largeFrom(b, n, 1_000_000)
			benchmark(b, Policy{}, 1024, poisson(n, 1024, 0.95, 1))
		})
		b.Run(fmt.Sprintf("easy/jobs=%d", n), func(b *testing.B) {
			largeFrom(b, n, 1_000_000)
			benchmark(b, Policy{Backfill: EASY}, 1024, poisson(n, 1024, 0.95, 1))
		})
		b.Run(fmt.Sprintf("easy-wide/jobs=%d", n), func(b *testing.B) {
			largeFrom(b, n, 1_000_000)
			benchmark(b, Policy{Backfill: EASY}, 1024, widths(poisson(n, 1024, 0.8, 1), 1))
		})
	}
}

// BenchmarkOverload lets all jobs arrive nearly at once. It measures the cost of an event when the queue is long.
func BenchmarkOverload(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, p := range []Policy{
			{Order: FCFS, Backfill: NoBackfill}, {Order: SJF}, {Order: "edf"}, {Order: Priority, Preemption: PausePreemption},
			{Order: "srtf"},
			{Order: "las", Settings: Settings{"quantum": time.Hour}}, {Order: "fair", Settings: Settings{"quantum": time.Hour}},
			{Order: RoundRobin, Settings: Settings{"quantum": time.Hour}},
			{Backfill: EASY}, {Backfill: FirstFit}, {Backfill: "conservative"},
		} {
			if p.Backfill == "conservative" && n > 10_000 {
				continue // it keeps a reservation for each waiting job, which takes too long
			}
			b.Run(fmt.Sprintf("%s-%s/queued=%d", cmp.Or(p.Order, FCFS), cmp.Or(p.Backfill, NoBackfill), n), func(b *testing.B) {
				largeFrom(b, n, 100_000)
				if p.Order == "las" { // at each finish it pauses all running jobs for jobs that have not run
					largeFrom(b, n, 10_000)
				}
				jobs := widths(poisson(n, 1024, 1, 1), 1)
				for i := range jobs {
					jobs[i].Arrival /= 1000
					jobs[i].Priority = i % 10
				}
				benchmark(b, p, 1024, jobs)
			})
		}
	}
}

// BenchmarkCompression measures conservative backfill when jobs end earlier than predicted. Random jobs on 256 cores
// request up to ten times their run time, at a load below and above 1. In a second part all jobs arrive at once and
// take between half and all of their requested time.
func BenchmarkCompression(b *testing.B) {
	p := Policy{Backfill: "conservative"}
	for _, load := range []float64{0.9, 1.5} {
		b.Run(fmt.Sprintf("jobs=3000/load=%g", load), func(b *testing.B) {
			jobs := widths(poisson(3000, 256, load, 1), 1)
			work := works(jobs)
			rng := workload.Stream(1, "requested")
			for i := range jobs {
				jobs[i].Predicted = time.Duration(float64(jobs[i].Predicted) * (1 + 9*rng.Float64()))
			}
			benchmarkWork(b, p, 256, jobs, work)
		})
	}
	for _, n := range []int{1000, 3000, 10_000} {
		b.Run(fmt.Sprintf("queued=%d", n), func(b *testing.B) {
			largeFrom(b, n, 10_000)
			jobs := widths(poisson(n, 1024, 1, 1), 1)
			work := works(jobs)
			rng := workload.Stream(1, "early")
			for i := range jobs {
				jobs[i].Arrival /= 1000
				work[i].Scaled = max(time.Duration(float64(work[i].Scaled)*(0.5+0.5*rng.Float64())), 1)
			}
			benchmarkWork(b, p, 1024, jobs, work)
		})
	}
}

func BenchmarkRoundRobin(b *testing.B) {
	p := Policy{Order: RoundRobin, Settings: Settings{"quantum": 10 * time.Millisecond}}
	for _, n := range []int{10_000, 100_000} {
		for _, cores := range []int{1, 16, 1024} {
			b.Run(fmt.Sprintf("quanta=100/jobs=%d/cores=%d", n, cores), func(b *testing.B) {
				largeFrom(b, n, 100_000)
				benchmark(b, p, cores, poisson(n, cores, 0.95, 1))
			})
		}
		b.Run(fmt.Sprintf("quanta=100/jobs=%d/cores=16/overload", n), func(b *testing.B) {
			largeFrom(b, n, 100_000)
			jobs := poisson(n, 16, 1, 1)
			for i := range jobs {
				jobs[i].Arrival /= 1000
			}
			benchmark(b, p, 16, jobs)
		})
	}
}

func BenchmarkNASA(b *testing.B) {
	tr := nasaHalf(b)
	benchmark(b, Policy{}, 128, tr.Jobs)
}

// BenchmarkValidated does the same with the validator as recorder.
func BenchmarkValidated(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) {
			largeFrom(b, n, 1_000_000)
			jobs := poisson(n, 1024, 0.95, 1)
			work := works(jobs)
			for b.Loop() {
				runValidated(b, Run{Policy: Policy{Backfill: EASY}, Cluster: one(1024), Jobs: jobs}, work, simulated.Options{})
			}
		})
	}
}

// BenchmarkAlloXDecision measures one decision of AlloX: n jobs wait for 16 places on cores and 4 GPUs. The run is
// stopped right after it.
func BenchmarkAlloXDecision(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("queued=%d", n), func(b *testing.B) {
			jobs := poisson(n, 16, 1, 1)
			for i := range jobs {
				jobs[i].Arrival = 0
				jobs[i].Predicted *= 600
				jobs[i] = onGPU(jobs[i].Predicted.Seconds()/float64(1+i%20), jobs[i])
			}
			r := Run{
				Policy: Policy{Order: AlloX}, Jobs: jobs, EventsOnly: true, Until: 1,
				Cluster: Cluster{Nodes: []Node{{Threads: 16}, {Threads: 4, GPUs: 4}}},
			}
			work := waysOf(jobs)
			for b.Loop() {
				engine, err := simulated.New(jobs, work, simulated.Options{})
				if err != nil {
					b.Fatal(err)
				}
				r.Engine = engine
				if _, err := r.Execute(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
