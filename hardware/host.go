// Package hardware describes this machine: the facts that run times depend on,
// its other load, and whether it is fit for experiments. The engines that run
// jobs on it are separate packages below this one.
package hardware

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Machine has the facts of a machine. Facts that the system does not report are
// zero or empty.
type Machine struct {
	Name   string // the host's name
	OS     string // linux, darwin
	Arch   string // amd64, arm64
	Kernel string // the kernel's release, "6.8.0-45-generic"

	// Threads is how many threads jobs can have at once: the CPUs that this
	// process may use, or the whole cores of a container's limit if those are
	// fewer; at least 1.
	Threads     int
	CPUModel    string
	LogicalCPUs int // of the whole machine
	Cores       int // physical, of the whole machine
	NUMANodes   int // memory domains
	MemoryBytes int64
	GPUs        int    // NVIDIA devices that this process may use
	GPUType     string // their model; several, if they differ, as gpu.Models has them
	NoGPUs      string // why there are no GPUs; empty if there are some

	// Allowed are the CPUs that this process may use, ascending, by their
	// numbers in the operating system.
	Allowed []int
	// Quota is the CPU time that a container's limit grants, in cores; 0
	// means no limit.
	Quota float64
}

// Fact is a name with a value in text form.
type Fact struct{ Name, Value string }

// Host describes this machine. It is found out once: the answer does not
// change while the process runs.
func Host() Machine { return thisMachine() }

var thisMachine = sync.OnceValue(func() Machine {
	m := Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH,
		LogicalCPUs: runtime.NumCPU(),
		Allowed:     AllowedCPUs(), Quota: quota(),
		NUMANodes: numaNodes(),
	}
	// Unknown facts stay empty.
	m.Name, _ = os.Hostname()
	m.Kernel, _ = host.KernelVersion()
	if n, err := cpu.Counts(true); err == nil && n > 0 {
		m.LogicalCPUs = n
	}
	if n, err := cpu.Counts(false); err == nil && n > 0 {
		m.Cores = n
	}
	if infos, err := cpu.Info(); err == nil && len(infos) > 0 {
		m.CPUModel = strings.Join(strings.Fields(infos[0].ModelName), " ")
	}
	if v, err := mem.VirtualMemory(); err == nil {
		m.MemoryBytes = int64(v.Total)
	}
	m.Threads = usable(len(m.Allowed), m.Quota)
	devices, err := GPUs()
	m.describeGPUs(devices, err)
	return m
})

// usable returns how many threads make sense on the given number of CPUs with a
// limit of quota cores (0: no limit).
func usable(cpus int, quota float64) int {
	if quota > 0 {
		cpus = min(cpus, int(math.Floor(quota)))
	}
	return max(cpus, 1)
}

// Fingerprint returns the facts that run times on this machine depend on, in a
// fixed order, for cache keys. Machines of one make, and updates within one
// series of the kernel, agree.
func (m Machine) Fingerprint() []Fact {
	return []Fact{
		{"os", m.OS},
		{"arch", m.Arch},
		{"kernel", series(m.Kernel)},
		{"cpu", m.CPUModel},
		{"logical_cpus", strconv.Itoa(m.LogicalCPUs)},
		{"threads", strconv.Itoa(m.Threads)},
		{"memory", gibibytes(m.MemoryBytes)},
		{"gpus", m.gpus()},
	}
}

// Settings returns all known facts of the machine, in a fixed order, for the
// record of a run. Unknown facts are left out.
func (m Machine) Settings() []Fact {
	all := []Fact{
		{"host", m.Name},
		{"os", m.OS},
		{"arch", m.Arch},
		{"kernel", m.Kernel},
		{"cpu", m.CPUModel},
		{"threads", number(m.Threads)},
		{"logical_cpus", number(m.LogicalCPUs)},
		{"cores", number(m.Cores)},
		{"numa_nodes", number(m.NUMANodes)},
		{"usable_cpus", FormatCPUs(m.Allowed)},
		{"memory", gibibytes(m.MemoryBytes)},
		{"gpus", m.gpus()},
	}
	if m.Quota > 0 {
		all = append(all, Fact{"cpu_limit", strconv.FormatFloat(m.Quota, 'g', 4, 64)})
	}
	var known []Fact
	for _, f := range all {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func gibibytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f GiB", math.Round(float64(n)/(1<<30)))
}

// series returns the first two numbers of a kernel's release, "6.8".
func series(release string) string {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return release
	}
	minor := parts[1]
	if end := strings.IndexFunc(minor, func(c rune) bool { return c < '0' || c > '9' }); end >= 0 {
		minor = minor[:end]
	}
	return parts[0] + "." + minor
}

// FormatCPUs writes ascending CPU numbers as the kernel does: "0-3,7".
func FormatCPUs(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			fmt.Fprintf(&b, "-%d", cpus[j])
		}
		i = j + 1
	}
	return b.String()
}

// Program returns the path of this program. If the system does not report it, as without /proc, it is the path by which
// the program was called.
func Program() (string, error) {
	path, err := os.Executable()
	if err == nil {
		return path, nil
	}
	if path, look := exec.LookPath(os.Args[0]); look == nil {
		return filepath.Abs(path)
	}
	return "", err
}
