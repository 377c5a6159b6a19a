package hardware

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
)

// Status is the result of a check.
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
	// Hint suggests a remedy; empty if none is needed.
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

// Checks examines this machine, with the folder dir for results. It takes about
// half a second, while it watches the load.
func Checks(dir string) []Check {
	load := NewLoadSampler()
	m := Host()
	checks := []Check{
		checkCores(m), checkGovernor(m),
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
		c.Text += fmt.Sprintf("; the container is limited to the CPU time of %.4g", m.Quota)
		c.Hint = "jobs that together exceed the limit are halted for part of each 100 ms: give the container whole " +
			"CPUs (a cpuset)"
	case m.Threads < m.LogicalCPUs:
		c.Text += fmt.Sprintf("; this process may use %d (CPUs %s)", m.Threads, FormatCPUs(m.Allowed))
	}
	if m.Threads == 1 {
		c.Status = Warn
		c.Hint = "jobs and tfexp share one core: there is little to schedule"
	}
	return c
}

func checkGovernor(m Machine) Check {
	c := Check{Name: "CPU frequency", Status: OK, Text: "CPU governor: unknown"}
	if len(m.Allowed) == 0 {
		return c
	}
	switch g := governor(m.Allowed[0]); g {
	case "":
	case "performance":
		c.Text = "CPU governor: performance"
	default:
		c.Status = Warn
		c.Text = fmt.Sprintf("CPU governor: %s; clock speeds, and with them run times, vary with the load", g)
		c.Hint = "for precise measurements, as root: cpupower frequency-set --governor performance"
	}
	return c
}

func checkMemory() Check {
	v, err := mem.VirtualMemory()
	if err != nil {
		return Check{Name: "memory", Status: Warn, Text: "unknown: " + err.Error()}
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
		return Check{Name: "disk", Status: Warn, Text: fmt.Sprintf("free space of %s unknown: %v", dir, err)}
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

// existing returns dir, or the nearest existing folder above it.
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
		return Check{Name: "load", Status: Warn, Text: "CPU load of other programs: unknown"}
	}
	c := Check{Name: "load", Status: OK, Text: fmt.Sprintf("other programs use %.2f cores now", others)}
	if others > BusyCores {
		c.Status = Warn
		c.Hint = "real jobs will run slower; stop the other programs, or wait"
	}
	return c
}
