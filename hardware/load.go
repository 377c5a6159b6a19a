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

// LoadSampler measures the load of other processes on the CPUs that this process may use. It is the total CPU time
// less the CPU time of this process and of children that have ended. CPU time that a hypervisor gives to other
// guests counts as load.
type LoadSampler struct {
	began  time.Time
	used   float64 // CPU seconds of all processes on the allowed CPUs; NaN if unknown
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

// Others returns the mean number of cores that other processes have used since NewLoadSampler; UnknownLoad if
// unknown. Call it after the measured jobs have ended, because running jobs count as other processes. A measurement
// of less than a few hundred milliseconds is inaccurate: the system counts in ticks of 10 ms.
func (s *LoadSampler) Others() float64 { return s.others(time.Since(s.began)) }

func (s *LoadSampler) others(elapsed time.Duration) float64 {
	used, own := s.source()
	cores := ((used - s.used) - (own - s.own)) / elapsed.Seconds()
	if math.IsNaN(cores) || math.IsInf(cores, 0) {
		return UnknownLoad
	}
	return max(cores, 0)
}

// cpuSeconds returns the CPU seconds since boot on the allowed CPUs, and the CPU seconds of this process and its
// children.
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
			// The system includes the time of guests in User, so Guest is not added.
			used += t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
		}
	}
	return used, ownSeconds()
}
