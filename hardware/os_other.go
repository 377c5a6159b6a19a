//go:build !linux

package hardware

import "runtime"

// BindsCores reports whether jobs can be bound to cores on this system.
const BindsCores = false

// AllowedCPUs returns the CPUs that this process may use, in ascending order:
// here, all of them.
func AllowedCPUs() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

func quota() float64      { return 0 }
func numaNodes() int      { return 0 }
func governor(int) string { return "" }
