package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/results/folder"
)

// Thresholds of the checks.
const (
	lowDisk   = 1 << 30   // bytes free
	lowMemory = 512 << 20 // bytes available
	// loadWindow is how long the CPU load is measured.
	loadWindow = 500 * time.Millisecond
)

// machineChecks examines this machine and the disk of dir, the folder for results. It measures the CPU load for half a
// second.
func machineChecks(dir string) []hardware.Check {
	load, began := hardware.NewLoadSampler(), time.Now()
	m := hardware.Host()
	checks := []hardware.Check{
		checkCores(m), checkGovernor(m),
		checkMemory(), checkDisk(dir),
	}
	checks = append(checks, checkGPUs(lookAtGPUs()))
	time.Sleep(time.Until(began.Add(loadWindow)))
	return append(checks, checkLoad(load.Others()))
}

func checkCores(m hardware.Machine) hardware.Check {
	c := hardware.Check{Name: "cores", Status: hardware.OK, Text: fmt.Sprintf("%d logical CPUs", m.LogicalCPUs)}
	if m.Cores > 0 {
		c.Text += fmt.Sprintf(" on %d physical cores", m.Cores)
	}
	if m.CPUModel != "" {
		c.Text += " (" + m.CPUModel + ")"
	}
	switch {
	case m.Quota > 0 && m.Quota < float64(len(m.Allowed)):
		c.Status = hardware.Warn
		c.Text += fmt.Sprintf("; the container is limited to the CPU time of %.4g", m.Quota)
		c.Hint = "jobs that together exceed the limit are halted for part of each 100 ms: give the container whole " +
			"CPUs (a cpuset)"
	case m.Threads < m.LogicalCPUs:
		c.Text += fmt.Sprintf("; this process may use %d (CPUs %s)", m.Threads, hardware.FormatCPUs(m.Allowed))
	}
	if m.Threads == 1 {
		c.Status = hardware.Warn
		c.Hint = "jobs and tfexp share one core: there is little to schedule"
	}
	return c
}

func checkGovernor(m hardware.Machine) hardware.Check {
	c := hardware.Check{Name: "CPU frequency", Status: hardware.OK, Text: "CPU governor: unknown"}
	if len(m.Allowed) == 0 {
		return c
	}
	switch g := governor(m.Allowed[0]); g {
	case "":
	case "performance":
		c.Text = "CPU governor: performance"
	default:
		c.Status = hardware.Warn
		c.Text = fmt.Sprintf("CPU governor: %s; clock speeds, and with them run times, vary with the load", g)
		c.Hint = "for precise measurements, as root: cpupower frequency-set --governor performance"
	}
	return c
}

func checkMemory() hardware.Check {
	v, err := mem.VirtualMemory()
	if err != nil {
		return hardware.Check{Name: "memory", Status: hardware.Warn, Text: "unknown: " + err.Error()}
	}
	c := hardware.Check{
		Name: "memory", Status: hardware.OK,
		Text: fmt.Sprintf("%.1f GiB available of %.1f GiB", float64(v.Available)/(1<<30), float64(v.Total)/(1<<30)),
	}
	if v.Available < lowMemory {
		c.Status, c.Hint = hardware.Warn, "jobs that swap, or are killed for memory, spoil an experiment"
	}
	return c
}

func checkDisk(dir string) hardware.Check {
	u, err := disk.Usage(existing(dir))
	if err != nil {
		return hardware.Check{Name: "disk", Status: hardware.Warn, Text: fmt.Sprintf("free space of %s unknown: %v", dir, err)}
	}
	c := hardware.Check{Name: "disk", Status: hardware.OK, Text: fmt.Sprintf("%.1f GiB free for %s", float64(u.Free)/(1<<30), dir)}
	if u.Free < lowDisk {
		c.Status, c.Hint = hardware.Warn, "choose another folder with --out"
	}
	if u.Free == 0 {
		c.Status = hardware.Fail
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

func checkLoad(others float64) hardware.Check {
	if others == hardware.UnknownLoad {
		return hardware.Check{Name: "load", Status: hardware.Warn, Text: "CPU load of other programs: unknown"}
	}
	c := hardware.Check{Name: "load", Status: hardware.OK, Text: fmt.Sprintf("other programs use %.2f cores now", others)}
	if others > hardware.BusyCores {
		c.Status = hardware.Warn
		c.Hint = "real jobs will run slower; stop the other programs, or wait"
	}
	return c
}

// gpuLook has the facts about the machine's GPUs.
type gpuLook struct {
	devices  []gpu.Device
	readings []gpu.Reading
	driver   string
	err      error // why no GPUs were found
	readErr  error // why the GPUs' usage cannot be read
}

func lookAtGPUs() gpuLook {
	l := gpuLook{}
	if l.devices, l.err = hardware.GPUs(); l.err != nil {
		return l
	}
	source := gpu.Open()
	defer source.Close()
	if _, l.readErr = source.Devices(); l.readErr == nil {
		l.readings, l.readErr = source.Read(l.devices)
	}
	l.driver = source.Driver()
	return l
}

func checkGPUs(l gpuLook) hardware.Check {
	c := hardware.Check{Name: "GPUs", Status: hardware.OK}
	switch {
	case errors.Is(l.err, gpu.ErrNoDriver):
		c.Text = l.err.Error() + "; experiments without gpus run"
		return c
	case l.err != nil:
		c.Status = hardware.Warn
		c.Text = l.err.Error() + "; only experiments without gpus run"
		c.Hint = "see whether nvidia-smi lists the GPUs; after an update of the driver its kernel module has to be " +
			"loaded again"
		return c
	}
	c.Text = gpu.Models(l.devices)
	if l.driver != "" {
		c.Text += " (driver " + l.driver + ")"
	}
	if l.readErr != nil {
		c.Status = hardware.Warn
		c.Text += "; they can be used, but not monitored: " + l.readErr.Error()
		c.Hint = "cells with GPUs will have no gpus.csv"
		return c
	}
	var busy []string
	for i, r := range l.readings {
		if r.Utilization > hardware.BusyGPU || r.MemoryBytes > hardware.BusyGPUMemory {
			text := fmt.Sprintf("GPU %d", l.devices[i].Index)
			if r.Utilization >= 0 {
				text += fmt.Sprintf(" is busy for %.0f%% of the time", r.Utilization)
			}
			if r.MemoryBytes >= 0 {
				text += fmt.Sprintf(" with %.1f GiB in use", float64(r.MemoryBytes)/(1<<30))
			}
			busy = append(busy, text)
		}
	}
	if len(busy) > 0 {
		c.Status = hardware.Warn
		c.Text += "; " + strings.Join(busy, ", ")
		c.Hint = "other programs use them, and run times will suffer; leave GPUs out by " + gpu.VisibleEnv
	}
	return c
}

// governor returns the frequency governor of a CPU; empty if unknown.
func governor(cpu int) string {
	g, err := folder.ReadSystem(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(g))
}
