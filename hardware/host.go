// Package hardware describes this machine: facts on which run times depend, the load of other processes, and whether
// it is fit for experiments. The engines, which run jobs, are in packages below it.
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

// Machine has the facts about a machine. A fact that the system does not report is zero or empty.
type Machine struct {
	Name   string // the host name
	OS     string // linux, darwin
	Arch   string // amd64, arm64
	Kernel string // the release of the kernel, "6.8.0-45-generic"

	// Threads is the number of threads that jobs can have at once, at least 1: the CPUs that this process may use,
	// or the whole cores of a container's limit if that is less.
	Threads     int
	CPUModel    string
	LogicalCPUs int // of the whole machine
	Cores       int // physical cores of the whole machine
	NUMANodes   int // memory domains
	MemoryBytes int64
	GPUs        int    // NVIDIA devices that this process may use
	GPUType     string // their model; several models as in gpu.Models
	NoGPUs      string // why there are no GPUs; empty if there are some

	// Allowed are the numbers of the CPUs that this process may use, as the operating system counts them, ascending.
	Allowed []int
	// Quota is the CPU time that a container's limit allows, in cores; 0 means no limit.
	Quota float64
}

// Fact is the name and the value of a fact, as text.
type Fact struct{ Name, Value string }

// Host returns the facts about this machine. It collects them once; they do not change while the process runs.
func Host() Machine { return thisMachine() }

var thisMachine = sync.OnceValue(func() Machine {
	m := Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH,
		LogicalCPUs: runtime.NumCPU(),
		Allowed:     AllowedCPUs(), Quota: quota(),
		NUMANodes: numaNodes(),
	}
	// Facts that are not known stay empty.
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

// usable returns the number of threads that can run at once on cpus CPUs with a limit of quota cores (0 means no
// limit).
func usable(cpus int, quota float64) int {
	if quota > 0 {
		cpus = min(cpus, int(math.Floor(quota)))
	}
	return max(cpus, 1)
}

// Fingerprint returns the facts on which run times depend, in a fixed order, for cache keys. It is the same for
// machines of one model, and after updates within one series of the kernel.
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

// Settings returns all known facts about the machine, in a fixed order, for the record of a run.
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

// series returns the first two numbers of a kernel release: "6.8".
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

// FormatCPUs returns ascending CPU numbers as Linux writes them: "0-3,7".
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

// Program returns the path of this program. If the system does not report it, for example without /proc, it returns
// the path by which the program was called.
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
