//go:build linux && cgo && nvml

package nvml

import (
	"errors"
	"fmt"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxa100"

	"github.com/tfexp/tfexp/hardware/gpu"
)

// machine returns NVIDIA's mock of a DGX A100. Its GPU i has a utilization of 10·i percent and draws 50 + i watts.
func machine() *dgxa100.Server {
	s := dgxa100.New()
	for i, d := range s.Devices {
		d := d.(*dgxa100.Device)
		d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
			return nvml.Utilization{Gpu: uint32(10 * i)}, nvml.SUCCESS
		}
		d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return uint32(50_000 + 1000*i), nvml.SUCCESS }
	}
	return s
}

func TestLibrary(t *testing.T) {
	s := machine()
	l, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	devices, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if len(devices) != 8 || devices[3].Index != 3 || devices[3].Name != "Mock NVIDIA A100-SXM4-40GB" ||
		devices[3].MemoryBytes == 0 {
		t.Fatalf("%+v", devices)
	}
	for i, d := range devices {
		uuid, _ := s.Devices[i].GetUUID()
		if d.ID != uuid {
			t.Errorf("GPU %d is %s, want %s", i, d.ID, uuid)
		}
	}
	readings, err := l.Read(devices[1:3])
	if err != nil {
		t.Fatal(err)
	}
	if r := readings[1]; len(readings) != 2 || r.Utilization != 20 || r.Watts != 52 || r.MemoryBytes < 0 {
		t.Errorf("%+v", readings)
	}
	if l.Driver() == "" {
		t.Error("the driver has no version")
	}
	if _, err := l.Read([]gpu.Device{{ID: "GPU-unknown"}}); err == nil {
		t.Error("a GPU that was not listed was read")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Jobs can get the MIG devices of a GPU.
func TestParts(t *testing.T) {
	s := machine()
	whole := s.Devices[0].(*dgxa100.Device)
	whole.MigMode = nvml.DEVICE_MIG_ENABLE
	whole.GetMaxMigDeviceCountFunc = func() (int, nvml.Return) { return 7, nvml.SUCCESS }
	whole.GetMigDeviceHandleByIndexFunc = func(k int) (nvml.Device, nvml.Return) {
		if k != 1 && k != 4 {
			return nil, nvml.ERROR_NOT_FOUND
		}
		return &mock.Device{
			GetUUIDFunc: func() (string, nvml.Return) { return fmt.Sprintf("MIG-%d", k), nvml.SUCCESS },
			GetNameFunc: func() (string, nvml.Return) { return "NVIDIA A100 MIG 3g.20gb", nvml.SUCCESS },
			GetMemoryInfoFunc: func() (nvml.Memory, nvml.Return) {
				return nvml.Memory{Total: 20 << 30, Used: 1 << 30},
					nvml.SUCCESS
			},
			GetUtilizationRatesFunc: func() (nvml.Utilization, nvml.Return) {
				return nvml.Utilization{},
					nvml.ERROR_NOT_SUPPORTED
			},
			GetPowerUsageFunc: func() (uint32, nvml.Return) { return 0, nvml.ERROR_NOT_SUPPORTED },
		}, nvml.SUCCESS
	}
	l, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	devices, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if len(devices) != 9 || devices[0].ID != "MIG-1" || devices[1].ID != "MIG-4" || devices[1].Index != 0 ||
		devices[2].Index != 1 {
		t.Fatalf("%+v", devices)
	}
	readings, err := l.Read(devices[:2])
	if err != nil {
		t.Fatal(err)
	}
	if readings[0] != (gpu.Reading{Utilization: -1, MemoryBytes: 1 << 30, Watts: -1}) {
		t.Errorf("%+v", readings[0])
	}
}

func TestLibraryMissing(t *testing.T) {
	s := machine()
	s.InitFunc = func() nvml.Return { return nvml.ERROR_LIBRARY_NOT_FOUND }
	if _, err := open(s); !errors.Is(err, gpu.ErrNoDriver) {
		t.Error(err)
	}
	s.InitFunc = func() nvml.Return { return nvml.ERROR_LIB_RM_VERSION_MISMATCH }
	if _, err := open(s); err == nil || errors.Is(err, gpu.ErrNoDriver) {
		t.Error("a driver that does not work is not the same as none:", err)
	}
}

// Reading a GPU that has fallen off the bus is an error.
func TestLostGPU(t *testing.T) {
	s := machine()
	l, err := open(s)
	if err != nil {
		t.Fatal(err)
	}
	devices, err := l.Devices()
	if err != nil {
		t.Fatal(err)
	}
	s.Devices[2].(*dgxa100.Device).GetMemoryInfoFunc = func() (nvml.Memory, nvml.Return) {
		return nvml.Memory{}, nvml.ERROR_GPU_IS_LOST
	}
	if _, err := l.Read(devices); !errors.Is(err, nvml.ERROR_GPU_IS_LOST) {
		t.Error(err)
	}
}
