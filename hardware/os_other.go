//go:build !linux

package hardware

import (
	"runtime"
	"time"
)

// BindsCores reports whether jobs can be bound to cores on this system.
const BindsCores = false

// AllowedCPUs returns the CPUs that this process may use, ascending: on this system, all CPUs.
func AllowedCPUs() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

func quota() float64 { return 0 }
func numaNodes() int { return 0 }

var watchedSince = time.Now()

// readClocks reads the monotonic clock and the wall clock. If somebody sets the wall clock forward, it looks like a
// sleep, and the cell is run again without need.
func readClocks() clocks {
	now := time.Now()
	return clocks{running: now.Sub(watchedSince), all: now.Round(0).Sub(watchedSince.Round(0))}
}
