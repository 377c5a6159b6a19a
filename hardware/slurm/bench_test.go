//go:build unix

package slurm

import (
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/scheduler"
)

// BenchmarkStep starts an empty job, from the decision until it is known to have ended, against srun alone: the medians
// of 20 of each, in turn, and their ratio, which is to be at most 1.1.
func BenchmarkStep(b *testing.B) {
	const each = 20
	jobs := make([]launch.Job, each)
	for i := range jobs {
		jobs[i] = job("true")
	}
	o := openFor(b, 1, settings{Watch: time.Hour}, jobs...)
	place, _ := o.pool.slotOf(0)
	for range b.N {
		var ours, plain []float64
		for i := range each {
			began := time.Now()
			args := append(stepArgs(place.alloc.job, place.name, "plain"), "/bin/sh", "-c", "true")
			cmd := exec.Command("srun", args...)
			cmd.Env = slurmcmd.Environ()
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			plain = append(plain, time.Since(began).Seconds())
			began = time.Now()
			if err := o.Start(i, grant(0, 0, 0)); err != nil {
				b.Fatal(err)
			}
			if _, _, err := o.Next(b.Context(), scheduler.Never); err != nil {
				b.Fatal(err)
			}
			ours = append(ours, time.Since(began).Seconds())
		}
		slices.Sort(ours)
		slices.Sort(plain)
		b.ReportMetric(1000*ours[each/2], "ms/step")
		b.ReportMetric(1000*plain[each/2], "ms/srun")
		b.ReportMetric(ours[each/2]/plain[each/2], "ratio")
	}
}

// BenchmarkFiftySteps is the CPU time of this process while 50 steps print a line per second, in percent of a core; it
// must be at most 2. It also reports the CPU time of the sruns.
func BenchmarkFiftySteps(b *testing.B) {
	const steps = 50
	jobs := make([]launch.Job, steps)
	for i := range jobs {
		jobs[i] = job(fmt.Sprintf("while :; do echo line of %d; sleep 1; done", i))
	}
	o := openFor(b, 1, settings{}, jobs...)
	for i := range jobs {
		if err := o.Start(i, grant(0, 0, 1)); err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range o.Living() {
		<-s.started
	}
	for range b.N {
		const span = 10 * time.Second
		before := cpuTime(b)
		time.Sleep(span)
		b.ReportMetric(100*(cpuTime(b)-before).Seconds()/span.Seconds(), "%core")
	}
}

// cpuTime is the CPU time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
