package hardware

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
)

// UnknownLoad is the load on a system that does not report it.
const UnknownLoad = -1

// LoadSampler measures the load of other processes on the CPUs that this
// process may use: their total usage, less the usage of this process and of the
// children that it has waited for. CPU time that a hypervisor gives to other
// guests counts as theirs.
type LoadSampler struct {
	began  time.Time
	used   float64 // CPU seconds of all on the allowed CPUs; NaN: unknown
	own    float64 // CPU seconds of this process and its children
	source func() (used, own float64)
}

// NewLoadSampler starts a measurement.
func NewLoadSampler() *LoadSampler { return newLoadSampler(cpuSeconds) }

func newLoadSampler(source func() (used, own float64)) *LoadSampler {
	s := &LoadSampler{source: source, began: time.Now()}
	s.used, s.own = source()
	return s
}

// Others returns the mean number of cores that other processes have used since
// the sampler was made; UnknownLoad if it is unknown. Call it when the jobs of
// the measured stretch have ended: the usage of a living job counts as another
// process's. Below a few hundred milliseconds the system's accounting, in ticks
// of 10 ms, is too coarse.
func (s *LoadSampler) Others() float64 { return s.others(time.Since(s.began)) }

func (s *LoadSampler) others(elapsed time.Duration) float64 {
	used, own := s.source()
	cores := ((used - s.used) - (own - s.own)) / elapsed.Seconds()
	if math.IsNaN(cores) || math.IsInf(cores, 0) {
		return UnknownLoad
	}
	return max(cores, 0)
}

// cpuSeconds returns the CPU seconds used since boot on the allowed CPUs, and
// the CPU seconds of this process and its children.
func cpuSeconds() (used, own float64) {
	times, err := cpu.Times(true)
	if err != nil || len(times) == 0 {
		return math.NaN(), 0
	}
	allowed := AllowedCPUs()
	for i, t := range times {
		number, err := strconv.Atoi(strings.TrimPrefix(t.CPU, "cpu"))
		if err != nil {
			number = i
		}
		if _, ok := slices.BinarySearch(allowed, number); ok {
			// A guest's time is already part of the user's.
			used += t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
		}
	}
	return used, ownSeconds()
}
