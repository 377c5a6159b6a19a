// Package gpu finds this machine's NVIDIA GPUs, and measures their utilization, memory and power.
//
// There are two sources. A build with cgo and the tag nvml uses NVIDIA's management library. Every other build reads
// the driver's files under /proc and calls nvidia-smi, which is part of every driver. So a static binary finds GPUs
// too. The library needs a tag, because a binary that links to it may not start on a machine without the driver.
package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Device is a GPU, or a part of a GPU that is divided (MIG).
type Device struct {
	// ID identifies the device in CUDA_VISIBLE_DEVICES: its UUID, or its index if the UUID is unknown.
	ID string
	// Index counts from 0 in the order of the PCI bus. Parts of a GPU have the index of the GPU.
	Index int
	// Name is the model: "NVIDIA A100-SXM4-40GB".
	Name string
	// MemoryBytes is the size of its memory; 0 if unknown.
	MemoryBytes int64
}

// Reading is the state of a GPU at an instant. A negative value means that the GPU does not report it.
type Reading struct {
	// Utilization is the percentage of time in which the GPU was busy, over the driver's last period (1/6 s to 1 s).
	Utilization float64
	// MemoryBytes is the memory that any programs use.
	MemoryBytes int64
	// Watts is the present power draw.
	Watts float64
}

// Source finds and measures GPUs. At most one goroutine may call its methods at a time.
type Source interface {
	// Devices returns the GPUs ordered by index. The error wraps ErrNoDriver on a machine without GPUs.
	Devices() ([]Device, error)
	// Read returns a reading of each device, in the same order.
	Read([]Device) ([]Reading, error)
	// Period is the shortest time between readings at which they cost little.
	Period() time.Duration
	// Driver returns the version of the driver; empty if unknown.
	Driver() string
	// Close releases the resources of the source.
	Close() error
}

// ErrNoDriver is wrapped if the machine has no NVIDIA driver, so that jobs cannot use GPUs.
var ErrNoDriver = errors.New("no NVIDIA driver")

// VisibleEnv is the environment variable that says which GPUs a CUDA program may use.
const VisibleEnv = "CUDA_VISIBLE_DEVICES"

// Visible returns the devices that this process may use, in the order of value, the value of VisibleEnv; all devices
// if set is false. As in CUDA, an entry is an index or the start of a UUID, and an entry that matches no device ends
// the list.
func Visible(devices []Device, value string, set bool) []Device {
	if !set {
		return devices
	}
	var visible []Device
	for entry := range strings.SplitSeq(value, ",") {
		i := slices.IndexFunc(devices, func(d Device) bool { return d.is(strings.TrimSpace(entry)) })
		if i < 0 || slices.Contains(visible, devices[i]) {
			break
		}
		visible = append(visible, devices[i])
	}
	return visible
}

// is reports whether an entry of VisibleEnv names the device.
func (d Device) is(entry string) bool {
	if n, err := strconv.Atoi(entry); err == nil {
		return n == d.Index
	}
	return entry != "" && strings.HasPrefix(d.ID, entry)
}

// IDs returns the ID of each device.
func IDs(devices []Device) []string {
	return schema.Each(devices, func(d Device) string { return d.ID })
}

// Models returns a phrase with the number of devices of each model: "2 × NVIDIA A100-SXM4-40GB".
func Models(devices []Device) string {
	var names []string
	counts := map[string]int{}
	for _, d := range devices {
		if counts[d.Name]++; counts[d.Name] == 1 {
			names = append(names, d.Name)
		}
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%d × %s", counts[n], n)
	}
	return strings.Join(names, ", ")
}
