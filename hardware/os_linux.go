package hardware

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// BindsCores reports whether jobs can be bound to cores on this system.
const BindsCores = true

var allowedOnce = sync.OnceValue(func() []int {
	var set unix.CPUSet
	var cpus []int
	// The affinity of the whole process, not of the calling thread.
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err == nil {
		for cpu := range 8 * 8 * len(set) {
			if set.IsSet(cpu) {
				cpus = append(cpus, cpu)
			}
		}
	}
	if len(cpus) == 0 {
		for cpu := range runtime.NumCPU() {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
})

// AllowedCPUs returns the CPUs that this process may use, by its affinity and its cpuset, ascending. It reads them
// once.
func AllowedCPUs() []int { return slices.Clone(allowedOnce()) }

// quota returns the limit on CPU time, in cores, of this process's control group and its parents; 0 means no limit.
func quota() float64 {
	groups, err := folder.ReadSystem("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	return quotaOf("/sys/fs/cgroup", string(groups))
}

// quotaOf returns the smallest limit of control groups below the folder root. groups is the content of
// /proc/PID/cgroup, with lines "number:controllers:path" (cgroups(7)). In version 2 the limit is in cpu.max; in
// version 1 it is in two files of the cpu controller.
func quotaOf(root, groups string) float64 {
	tightest := 0.0
	consider := func(limit, period string) {
		l, err1 := strconv.ParseFloat(limit, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && l > 0 && p > 0 && (tightest == 0 || l/p < tightest) {
			tightest = l / p
		}
	}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		unified := parts[1] == ""
		base := root
		switch {
		case unified:
		case slices.Contains(strings.Split(parts[1], ","), "cpu"):
			base = filepath.Join(root, "cpu")
			if _, err := os.Stat(base); err != nil {
				base = filepath.Join(root, parts[1])
			}
		default:
			continue
		}
		for dir := filepath.Clean("/" + parts[2]); ; dir = filepath.Dir(dir) {
			at := filepath.Join(base, dir)
			if unified {
				if max, err := folder.ReadSystem(filepath.Join(at, "cpu.max")); err == nil {
					limit, period, _ := strings.Cut(strings.TrimSpace(string(max)), " ")
					consider(limit, period) // "max" is not a number and means no limit
				}
			} else {
				limit, err1 := folder.ReadSystem(filepath.Join(at, "cpu.cfs_quota_us"))
				period, err2 := folder.ReadSystem(filepath.Join(at, "cpu.cfs_period_us"))
				if err1 == nil && err2 == nil {
					consider(strings.TrimSpace(string(limit)), strings.TrimSpace(string(period)))
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return tightest
}

func numaNodes() int {
	nodes, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*") // the pattern is valid, so there is no error
	return len(nodes)
}

// readClocks reads CLOCK_MONOTONIC and CLOCK_BOOTTIME.
func readClocks() clocks {
	read := func(id int32) time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(id, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
	// The time between the two reads is far less than a tick.
	return clocks{running: read(unix.CLOCK_MONOTONIC), all: read(unix.CLOCK_BOOTTIME)}
}
