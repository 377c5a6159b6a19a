//go:build unix

package docker

import (
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
)

// rounds is the number of measurements of a latency. The median is reported.
const rounds = 20

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkStart measures the time from the decision to start a container to the first line of its program. It also
// measures `docker run` of the same program, in alternation. ratio is the ratio of the two medians.
func BenchmarkStart(b *testing.B) {
	h := local(b)
	for range b.N {
		first := make([]chan time.Time, rounds)
		jobs := make([]launch.Job, rounds)
		for i := range jobs {
			first[i] = make(chan time.Time, 1)
			jobs[i] = shell(b, fmt.Sprint("a", i), `echo '{"tfexp":{"step":1}}'; sleep 60`)
		}
		e := newEngine(b, h, Options{Sampling: time.Hour, Report: func(job int, _ time.Duration, _ contract.Progress) {
			first[job] <- time.Now()
		}}, jobs...)
		var own, cli []time.Duration
		for i := range rounds {
			began := time.Now()
			if err := e.Start(i, grant(0, 1)); err != nil {
				b.Fatal(err)
			}
			own = append(own, (<-first[i]).Sub(began))
			if err := e.Stop(i); err != nil {
				b.Fatal(err)
			}
			cli = append(cli, dockerRun(b))
		}
		b.ReportMetric(float64(median(own))/1e6, "ms/start")
		b.ReportMetric(float64(median(cli))/1e6, "ms/docker-run")
		b.ReportMetric(float64(median(own))/float64(median(cli)), "ratio")
		b.ReportMetric(0, "ns/op")
	}
}

// dockerRun returns the time until docker run prints the first line of the program.
func dockerRun(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	c := exec.Command("docker", "run", "--rm", "--init", "--network", "none", "--cpuset-cpus", "0", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", testImage, "sh", "-c", "echo line; exit 0")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		b.Fatal("docker run printed nothing")
	}
	took := time.Since(began)
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// BenchmarkPause measures how long it takes to pause, to resume and to resize
// a running container.
func BenchmarkPause(b *testing.B) {
	h := local(b)
	for range b.N {
		e := newEngine(b, h, Options{Sampling: time.Hour}, shell(b, "a", "while true; do :; done"))
		if err := e.Start(0, grant(0, 1)); err != nil {
			b.Fatal(err)
		}
		actions := []struct {
			name  string
			do    func() error
			times []time.Duration
		}{
			{name: "ms/pause", do: func() error { return e.Pause(0) }},
			{name: "ms/resume", do: func() error { return e.Resume(0, grant(0, 1)) }},
			{name: "ms/resize", do: func() error { return e.Resize(0, grant(0, 2)) }},
		}
		for range rounds {
			for i := range actions {
				began := time.Now()
				if err := actions[i].do(); err != nil {
					b.Fatal(err)
				}
				actions[i].times = append(actions[i].times, time.Since(began))
			}
		}
		for _, a := range actions {
			b.ReportMetric(float64(median(a.times))/1e6, a.name)
		}
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkSixteen measures the CPU time of tfexp itself, in percent of one core, while sixteen containers run. They
// report progress and are sampled each second.
func BenchmarkSixteen(b *testing.B) {
	h := local(b)
	const containers, span = 16, 10 * time.Second
	for range b.N {
		jobs := make([]launch.Job, containers)
		for i := range jobs {
			jobs[i] = shell(b, fmt.Sprint("a", i), `while true; do echo '{"tfexp":{"step":1,"seconds":1}}'; sleep 1; done`)
		}
		var mu sync.Mutex
		samples, reports := 0, 0
		e := newEngine(b, h, Options{
			Sampling: DefaultSampling,
			Observe:  func(engine.Sample) { mu.Lock(); samples++; mu.Unlock() },
			Report:   func(int, time.Duration, contract.Progress) { mu.Lock(); reports++; mu.Unlock() },
		}, jobs...)
		for i := range jobs {
			if err := e.Start(i, grant(int32(i%2), int32(i%2+1))); err != nil {
				b.Fatal(err)
			}
		}
		before, began := ownTime(b), time.Now()
		time.Sleep(span)
		used := ownTime(b) - before
		b.ReportMetric(100*float64(used)/float64(time.Since(began)), "%core")
		mu.Lock()
		b.ReportMetric(float64(samples), "samples")
		if samples == 0 || reports == 0 {
			b.Errorf("%d samples and %d reports", samples, reports)
		}
		mu.Unlock()
		b.ReportMetric(0, "ns/op")
	}
}

// ownTime returns the CPU time of this process so far.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
