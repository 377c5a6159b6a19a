package process

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/tfexp/tfexp/hardware"
)

// TestJobsAreNoOtherPrograms checks that the usage of a job does not count as load of other programs: tfexp and its
// jobs use the total usage minus the usage of others.
func TestJobsAreNoOtherPrograms(t *testing.T) {
	used := func() (seconds float64) {
		times, err := cpu.Times(true)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range times {
			if n, err := strconv.Atoi(strings.TrimPrefix(c.CPU, "cpu")); err == nil && slices.Contains(hardware.AllowedCPUs(), n) {
				seconds += c.User + c.Nice + c.System + c.Irq + c.Softirq + c.Steal
			}
		}
		return seconds
	}
	e := open(t, Options{}, sh("i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; times"))
	load, before, began := hardware.NewLoadSampler(), used(), time.Now()
	start(t, e, 0)
	next(t, e)
	others := load.Others() * time.Since(began).Seconds()
	own := used() - before - others
	took, _ := e.Usage(0)
	job := (took.User + took.System).Seconds()
	if job < 0.1 || own < 0.8*job-0.05 {
		t.Errorf("the job used %.2f s of the CPU, tfexp and its jobs %.2f s, others %.2f s", job, own, others)
	}
}
