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

// GPUs returns the GPUs that this process may use (CUDA_VISIBLE_DEVICES; by default, all). It looks for them once.
// The error says why there are no GPUs. It wraps gpu.ErrNoDriver on a machine without a driver.
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

// gpus returns the number of GPUs of each type, as text for keys and records.
func (m Machine) gpus() string {
	if m.GPUs == 0 || strings.Contains(m.GPUType, " × ") {
		return strings.TrimSpace(strconv.Itoa(m.GPUs) + " " + m.GPUType)
	}
	return fmt.Sprintf("%d × %s", m.GPUs, m.GPUType)
}

// A GPU above these values counts as busy. The driver keeps some memory of an idle GPU.
const (
	BusyGPU       = 5       // percent of the time
	BusyGPUMemory = 1 << 30 // bytes
)
