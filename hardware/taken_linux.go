package hardware

import (
	"math"
	"os"

	"github.com/prometheus/procfs"
)

// ticks is how many times in a second the kernel's counters of CPU time go on.
const ticks = 100

// treeSeconds returns the CPU seconds used since boot on the allowed CPUs, and the CPU seconds of this process, its
// descendants, and the processes that they have waited for; NaN where they are unknown.
func treeSeconds() (used, own float64) {
	used, _ = cpuSeconds()
	all, err := procfs.AllProcs()
	if err != nil {
		return math.NaN(), math.NaN()
	}
	seconds, children := map[int]float64{}, map[int][]int{}
	for _, p := range all {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended
		}
		seconds[s.PID] = (float64(s.UTime+s.STime) + float64(s.CUTime+s.CSTime)) / ticks
		children[s.PPID] = append(children[s.PPID], s.PID)
	}
	for tree := []int{os.Getpid()}; len(tree) > 0; {
		pid := tree[len(tree)-1]
		own, tree = own+seconds[pid], append(tree[:len(tree)-1], children[pid]...)
	}
	return used, own
}
