//go:build linux && cgo && nvml

// Package nvml finds and watches GPUs by NVIDIA's management library, in the process of tfexp. Programs have it that are built
// with cgo and the tag nvml.
package nvml

import (
	"errors"
	"fmt"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/tfexp/tfexp/hardware/gpu"
)

func init() {
	gpu.Library = func() (gpu.Source, error) { return open(nvml.New()) }
}

// library is NVIDIA's management library.
type library struct {
	api     nvml.Interface
	handles map[string]nvml.Device // by gpu.Device.ID
}

func open(api nvml.Interface) (*library, error) {
	switch ret := api.Init(); ret {
	case nvml.SUCCESS:
		return &library{api: api, handles: map[string]nvml.Device{}}, nil
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return nil, fmt.Errorf("open NVML: %w: %w", gpu.ErrNoDriver, ret)
	default:
		return nil, fmt.Errorf("open NVML: %w", ret)
	}
}

// Devices lists the GPUs. A GPU that is divided (MIG) is listed as its MIG devices.
func (l *library) Devices() ([]gpu.Device, error) {
	count, ret := l.api.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, fmt.Errorf("count GPUs: %w", ret)
	}
	var devices []gpu.Device
	for i := range count {
		whole, ret := l.api.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			return nil, fmt.Errorf("find GPU %d: %w", i, ret)
		}
		handles := []nvml.Device{whole}
		if divided, _, ret := whole.GetMigMode(); ret == nvml.SUCCESS && divided == nvml.DEVICE_MIG_ENABLE {
			handles = l.parts(whole)
		}
		for _, h := range handles {
			d, err := describe(h, i)
			if err != nil {
				return nil, err
			}
			l.handles[d.ID] = h
			devices = append(devices, d)
		}
	}
	return devices, nil
}

// parts returns the MIG devices of a GPU. Their indexes may have gaps.
func (l *library) parts(whole nvml.Device) []nvml.Device {
	most, ret := whole.GetMaxMigDeviceCount()
	if ret != nvml.SUCCESS {
		return nil
	}
	var parts []nvml.Device
	for k := range most {
		if part, ret := whole.GetMigDeviceHandleByIndex(k); ret == nvml.SUCCESS {
			parts = append(parts, part)
		}
	}
	return parts
}

func describe(h nvml.Device, index int) (gpu.Device, error) {
	d := gpu.Device{Index: index}
	var ret nvml.Return
	if d.ID, ret = h.GetUUID(); ret != nvml.SUCCESS {
		return d, fmt.Errorf("read the UUID of GPU %d: %w", index, ret)
	}
	if d.Name, ret = h.GetName(); ret != nvml.SUCCESS {
		return d, fmt.Errorf("read the name of GPU %d: %w", index, ret)
	}
	if m, ret := h.GetMemoryInfo(); ret == nvml.SUCCESS {
		d.MemoryBytes = int64(m.Total)
	}
	return d, nil
}

// Read returns the usage of GPUs that Devices has listed. MIG devices report neither utilization nor power draw.
func (l *library) Read(devices []gpu.Device) ([]gpu.Reading, error) {
	readings := make([]gpu.Reading, len(devices))
	for i, d := range devices {
		h, ok := l.handles[d.ID]
		if !ok {
			return nil, fmt.Errorf("read GPU %s: it is not listed", d.ID)
		}
		r := gpu.Reading{Utilization: -1, MemoryBytes: -1, Watts: -1}
		m, ret := h.GetMemoryInfo()
		switch ret {
		case nvml.SUCCESS:
			r.MemoryBytes = int64(m.Used)
		case nvml.ERROR_GPU_IS_LOST:
			return nil, fmt.Errorf("read GPU %d: %w", d.Index, ret)
		}
		if u, ret := h.GetUtilizationRates(); ret == nvml.SUCCESS {
			r.Utilization = float64(u.Gpu)
		}
		if milliwatts, ret := h.GetPowerUsage(); ret == nvml.SUCCESS {
			r.Watts = float64(milliwatts) / 1000
		}
		readings[i] = r
	}
	return readings, nil
}

// Driver returns the version of the driver.
func (l *library) Driver() string {
	version, ret := l.api.SystemGetDriverVersion()
	if ret != nvml.SUCCESS {
		return ""
	}
	return version
}

// Period returns one second: the library averages usage over between 1/6 s and 1 s.
func (l *library) Period() time.Duration { return time.Second }

// Close releases the library.
func (l *library) Close() error {
	if ret := l.api.Shutdown(); ret != nvml.SUCCESS && !errors.Is(ret, nvml.ERROR_UNINITIALIZED) {
		return fmt.Errorf("close NVML: %w", ret)
	}
	return nil
}
