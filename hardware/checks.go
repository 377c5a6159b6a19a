package hardware

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
)

// Status is how a check came out.
type Status string

// The outcomes of a check: nothing to do, results may suffer, experiments
// cannot run.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one finding about this machine's fitness for experiments.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"`
	// Hint says what can be done; empty when nothing need be.
	Hint string `json:"hint,omitempty"`
}

// The thresholds of Checks.
const (
	LowDisk   = 1 << 30   // bytes free
	LowMemory = 512 << 20 // bytes available
	// BusyCores is the load by other processes above which real run times
	// are in doubt, in cores.
	BusyCores = 0.25
	// loadWindow is how long Checks looks at the load.
	loadWindow = 500 * time.Millisecond
)

// Checks examines this machine, with the folder dir for results. It takes
// about half a second, in which it watches the load.
func Checks(dir string) []Check {
	load := NewLoadSampler()
	m := Host()
	checks := []Check{
		checkCores(m), checkBinding(m), checkOrphans(), checkGovernor(m),
		checkMemory(), checkDisk(dir),
	}
	checks = append(checks, checkGPUs(lookAtGPUs()))
	time.Sleep(time.Until(load.began.Add(loadWindow)))
	return append(checks, checkLoad(load.Others()))
}

func checkCores(m Machine) Check {
	c := Check{Name: "cores", Status: OK, Text: fmt.Sprintf("%d logical CPUs", m.LogicalCPUs)}
	if m.Cores > 0 {
		c.Text += fmt.Sprintf(" on %d physical cores", m.Cores)
	}
	if m.CPUModel != "" {
		c.Text += " (" + m.CPUModel + ")"
	}
	switch {
	case m.Quota > 0 && m.Quota < float64(len(m.Allowed)):
		c.Status = Warn
		c.Text += fmt.Sprintf("; a limit of the container grants %.4g of them in CPU time", m.Quota)
		c.Hint = "jobs that together exceed the limit are halted for part of each 100 ms; give the container whole CPUs (a cpuset) instead"
	case m.Threads < m.LogicalCPUs:
		c.Text += fmt.Sprintf("; this process may use %d (CPUs %s)", m.Threads, formatCPUs(m.Allowed))
	}
	if m.Threads == 1 {
		c.Status = Warn
		c.Hint = "jobs and tfexp share one core, and policies have little to decide"
	}
	return c
}

func checkBinding(m Machine) Check {
	if !bindsCores {
		return Check{
			Name: "core binding", Status: Warn,
			Text: fmt.Sprintf("%s does not bind processes to cores: jobs keep to their threads only by their own discipline", m.OS),
			Hint: "run experiments whose run times matter on Linux",
		}
	}
	return Check{Name: "core binding", Status: OK, Text: "jobs are bound to their cores (CPUs " + formatCPUs(m.Allowed) + ")"}
}

func checkOrphans() Check {
	c := Check{Name: "clean-up", Status: OK, Text: "when tfexp is killed, the kernel kills its jobs and a guardian what they left"}
	if runtime.GOOS != "linux" {
		c.Text = "when tfexp is killed, a guardian kills its jobs; there is no parent-death signal on this system"
	}
	return c
}

func checkGovernor(m Machine) Check {
	c := Check{Name: "CPU frequency", Status: OK, Text: "the governor is not told"}
	if len(m.Allowed) == 0 {
		return c
	}
	switch g := governor(m.Allowed[0]); g {
	case "":
	case "performance":
		c.Text = "the governor is performance"
	default:
		c.Status = Warn
		c.Text = fmt.Sprintf("the governor is %s: clock speeds, and with them run times, vary with the load", g)
		c.Hint = "for precise measurements, as root: cpupower frequency-set --governor performance"
	}
	return c
}

func checkMemory() Check {
	v, err := mem.VirtualMemory()
	if err != nil {
		return Check{Name: "memory", Status: Warn, Text: "not told: " + err.Error()}
	}
	c := Check{
		Name: "memory", Status: OK,
		Text: fmt.Sprintf("%.1f GiB available of %.1f GiB", float64(v.Available)/(1<<30), float64(v.Total)/(1<<30)),
	}
	if v.Available < LowMemory {
		c.Status, c.Hint = Warn, "jobs that swap, or are killed for memory, spoil an experiment"
	}
	return c
}

func checkDisk(dir string) Check {
	u, err := disk.Usage(existing(dir))
	if err != nil {
		return Check{Name: "disk", Status: Warn, Text: fmt.Sprintf("free space of %s is not told: %v", dir, err)}
	}
	c := Check{Name: "disk", Status: OK, Text: fmt.Sprintf("%.1f GiB free for %s", float64(u.Free)/(1<<30), dir)}
	if u.Free < LowDisk {
		c.Status, c.Hint = Warn, "choose another folder with --out"
	}
	if u.Free == 0 {
		c.Status = Fail
	}
	return c
}

// existing returns dir, or the nearest folder above it that is there.
func existing(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func checkLoad(others float64) Check {
	if others == UnknownLoad {
		return Check{Name: "load", Status: Warn, Text: "the load by other processes is not told"}
	}
	c := Check{Name: "load", Status: OK, Text: fmt.Sprintf("other processes use %.2f cores now", others)}
	if others > BusyCores {
		c.Status = Warn
		c.Hint = "real run times suffer; see what is running, or wait"
	}
	return c
}
