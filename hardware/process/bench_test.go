//go:build unix

package process

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// BenchmarkHandover measures the time from the end of a job's program, which the benchmark kills, until the program of
// the next job runs on the same core. This is the engine's part of the time in which a core is idle.
func BenchmarkHandover(b *testing.B) {
	n := max(b.N, 300) // a 99th percentile needs that many measurements
	jobs := make([]launch.Job, n+1)
	for i := range jobs {
		jobs[i] = launch.Job{Name: "job", Argv: []string{"sleep", "1000"}, Threads: 1}
	}
	e := open(b, Options{}, jobs...)
	start(b, e, 0)
	var times []time.Duration
	b.ResetTimer()
	for i := range n {
		b.StopTimer()
		time.Sleep(2 * time.Millisecond) // lets the program finish its start
		pid := e.Programs(i)[0].id.pid
		b.StartTimer()
		began := time.Now()
		syscall.Kill(pid, syscall.SIGKILL)
		if _, _, err := e.Next(b.Context(), scheduler.Never); err != nil {
			b.Fatal(err)
		}
		start(b, e, i+1)
		times = append(times, time.Since(began))
	}
	b.StopTimer()
	slices.Sort(times)
	quantile := func(q float64) float64 {
		return float64(times[int(q*float64(len(times)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(quantile(0.5), "p50-ms")
	b.ReportMetric(quantile(0.99), "p99-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOwnCPU measures the CPU time of the engine itself, in percent of one core, without the jobs. Each job prints
// ten lines per second and is paused and resumed twice per second.
func BenchmarkOwnCPU(b *testing.B) {
	const n = 4
	script := `while :; do echo '{"tfexp":{"epoch":3,"loss":0.41}}'; sleep 0.1; done`
	jobs := make([]launch.Job, n)
	for i := range jobs {
		jobs[i] = sh(script)
		jobs[i].Name = fmt.Sprint("job-", i)
	}
	e := open(b, Options{}, jobs...)
	for i := range jobs {
		start(b, e, i)
	}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	for range b.N {
		for _, act := range []func(int) error{e.Pause, func(job int) error { return e.Resume(job, cores(0)) }} {
			for i := range jobs {
				if err := act(i); err != nil {
					b.Fatal(err)
				}
			}
			if _, _, err := e.Next(b.Context(), e.Now()+500*time.Millisecond); err != nil {
				b.Fatal(err)
			}
		}
	}
	wall := time.Since(began)
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(100*float64(used)/float64(wall), "%core")
}
