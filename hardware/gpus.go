package hardware

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/tfexp/tfexp/hardware/gpu"
)

// GPUs returns the GPUs that this process may use, by CUDA_VISIBLE_DEVICES: the
// machine's own by default. They are found once. The error says why there are no
// GPUs; it wraps gpu.ErrNoDriver on a machine without a driver.
func GPUs() ([]gpu.Device, error) { return visibleGPUs() }

var visibleGPUs = sync.OnceValues(func() ([]gpu.Device, error) {
	source := gpu.Open()
	defer source.Close()
	devices, err := source.Devices()
	value, set := os.LookupEnv(gpu.VisibleEnv)
	return visible(devices, err, value, set)
})

func visible(devices []gpu.Device, err error, value string, set bool) ([]gpu.Device, error) {
	if err != nil {
		return nil, err
	}
	if len(devices) == 0 {
		return nil, errors.New("the NVIDIA driver lists no GPU")
	}
	if usable := gpu.Visible(devices, value, set); len(usable) > 0 {
		return usable, nil
	}
	return nil, fmt.Errorf("%s is %q, which hides all GPUs (%s)", gpu.VisibleEnv, value, gpu.Models(devices))
}

func (m *Machine) describeGPUs(devices []gpu.Device, err error) {
	if err != nil {
		m.NoGPUs = err.Error()
		return
	}
	m.GPUs, m.GPUType = len(devices), devices[0].Name
	for _, d := range devices {
		if d.Name != m.GPUType {
			m.GPUType = gpu.Models(devices)
		}
	}
}

// gpus is the number of GPUs of each type, for keys and records.
func (m Machine) gpus() string {
	if m.GPUs == 0 || strings.Contains(m.GPUType, " × ") {
		return strings.TrimSpace(strconv.Itoa(m.GPUs) + " " + m.GPUType)
	}
	return fmt.Sprintf("%d × %s", m.GPUs, m.GPUType)
}

// gpuLook has the findings of Checks about GPUs.
type gpuLook struct {
	devices  []gpu.Device
	readings []gpu.Reading
	driver   string
	err      error // why there are no GPUs
	readErr  error // why they cannot be watched
}

func lookAtGPUs() gpuLook {
	l := gpuLook{}
	if l.devices, l.err = GPUs(); l.err != nil {
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

// The thresholds of busy GPUs. A driver keeps some memory of an idle one.
const (
	BusyGPU       = 5       // percent of the time
	BusyGPUMemory = 1 << 30 // bytes
)

func checkGPUs(l gpuLook) Check {
	c := Check{Name: "GPUs", Status: OK}
	switch {
	case errors.Is(l.err, gpu.ErrNoDriver):
		c.Text = l.err.Error() + "; experiments without gpus run"
		return c
	case l.err != nil:
		c.Status = Warn
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
		c.Status = Warn
		c.Text += "; they can be used, but not monitored: " + l.readErr.Error()
		c.Hint = "cells with GPUs will have no gpus.csv"
		return c
	}
	var busy []string
	for i, r := range l.readings {
		if r.Utilization > BusyGPU || r.MemoryBytes > BusyGPUMemory {
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
		c.Status = Warn
		c.Text += "; " + strings.Join(busy, ", ")
		c.Hint = "other programs use them, and run times will suffer; leave GPUs out by " + gpu.VisibleEnv
	}
	return c
}
