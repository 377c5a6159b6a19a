// Package gpu finds this machine's NVIDIA GPUs and watches them: how busy they
// are, how much memory and power they take.
//
// There are two sources. A binary built with cgo and the tag nvml asks NVIDIA's
// management library in its own process. Every other binary reads the driver's
// files under /proc and gets the rest from nvidia-smi, which comes with each
// driver: so the static binary finds GPUs as well. The library is behind a tag
// because a binary that links to it holds symbols which only the driver has;
// where compilers bind all symbols at start, it would not even start on
// machines without one.
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

// Device is one GPU, or one part of a GPU that is divided (MIG).
type Device struct {
	// ID is its name for programs, in CUDA_VISIBLE_DEVICES: its UUID,
	// or its index where that is unknown.
	ID string
	// Index counts from 0 in the order of the PCI bus. Parts of a GPU have the
	// index of the whole.
	Index int
	// Name is the model, "NVIDIA A100-SXM4-40GB".
	Name string
	// MemoryBytes is 0 where it is unknown.
	MemoryBytes int64
}

// Reading is the activity of a GPU at an instant. Values that the GPU does not report are negative.
type Reading struct {
	// Utilization is the percentage of the time in which the GPU computed, over
	// the driver's last period (a sixth of a second to a second).
	Utilization float64
	// MemoryBytes is in use, by whomever.
	MemoryBytes int64
	// Watts is the power drawn.
	Watts float64
}

// Source is where GPUs are found. Its methods may be called from one goroutine
// at a time.
type Source interface {
	// Devices lists the GPUs, in the order of their indices. The error wraps
	// ErrNoDriver on a machine without GPUs.
	Devices() ([]Device, error)
	// Read looks at GPUs, and returns a reading for each, in the same order.
	Read([]Device) ([]Reading, error)
	// Period is how often the GPUs can be read at little cost.
	Period() time.Duration
	// Driver is the version of the driver; empty where it is unknown.
	Driver() string
	// Close releases the resources of the source.
	Close() error
}

// ErrNoDriver is wrapped when there is no NVIDIA driver, and so no GPU that
// jobs could use.
var ErrNoDriver = errors.New("no NVIDIA driver")

// VisibleEnv is the variable that lists the GPUs of a CUDA program.
const VisibleEnv = "CUDA_VISIBLE_DEVICES"

// Visible returns the devices that this process may use, in the order of the value
// of VisibleEnv; all of them if it is not set. As in CUDA, entries are indices or
// beginnings of UUIDs, and the first that names no device ends the list.
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

// IDs returns the names of devices for programs: see Device.ID.
func IDs(devices []Device) []string {
	return schema.Each(devices, func(d Device) string { return d.ID })
}

// Models sums devices up in a phrase: "2 × NVIDIA A100-SXM4-40GB".
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
