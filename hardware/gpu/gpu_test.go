package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var two = []Device{
	{ID: "GPU-11111111-aaaa", Index: 0, Name: "NVIDIA A100-SXM4-40GB"},
	{ID: "GPU-22222222-bbbb", Index: 1, Name: "NVIDIA A100-SXM4-40GB"},
}

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		name, value string
		set         bool
		want        []Device
	}{
		{"not set: all", "", false, two},
		{"empty: none", "", true, nil},
		{"by index, in the order of the list", "1,0", true, []Device{two[1], two[0]}},
		{"by the beginning of the UUID", "GPU-2222", true, []Device{two[1]}},
		{"the first that is not there ends the list", "0,7,1", true, []Device{two[0]}},
		{"-1 hides all", "-1", true, nil},
		{"twice", "0,0,1", true, []Device{two[0]}},
		{"with spaces", " 0 , 1 ", true, two},
	} {
		if diff := cmp.Diff(c.want, Visible(two, c.value, c.set)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestModels(t *testing.T) {
	mixed := append([]Device{{Name: "Tesla V100"}}, two...)
	if got := Models(mixed); got != "1 × Tesla V100, 2 × NVIDIA A100-SXM4-40GB" {
		t.Error(got)
	}
}

// fake makes files of a driver, and an nvidia-smi that prints smi.
func fake(t *testing.T, files map[string]string, smi string) driver {
	t.Helper()
	dir := t.TempDir()
	d := driver{proc: filepath.Join(dir, "proc"), smi: filepath.Join(dir, "nvidia-smi")}
	for name, text := range files {
		path := filepath.Join(d.proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if smi != "" {
		if err := os.WriteFile(d.smi, []byte("#!/bin/sh\n"+smi), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

const information = "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 94\nGPU UUID: \t %s\nVideo BIOS: \t " +
	"92.00.45.00.03\nDevice Minor: \t 0\n"

var files = map[string]string{
	"version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 " +
		"22:20:39 UTC 2023\nGCC version:  gcc version 12.2.0\n",
	"gpus/0000:0f:00.0/information": strings.Replace(information, "%s", two[1].ID, 1),
	"gpus/0000:07:00.0/information": strings.Replace(information, "%s", two[0].ID, 1),
}

// The devices are listed from the driver's files, in the order of the bus. No program is started.
func TestDriverFiles(t *testing.T) {
	d := fake(t, files, "")
	devices, err := d.Devices()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(two, devices); diff != "" {
		t.Error(diff)
	}
	if v := d.Driver(); v != "535.54.03" {
		t.Errorf("driver %q", v)
	}
	if _, err := d.Read(devices); err == nil || errors.Is(err, ErrNoDriver) {
		t.Errorf("without nvidia-smi nothing is read: %v", err)
	}
}

const smi = `case "$1" in
--query-gpu=index,uuid,name,memory.total) printf '0, GPU-x, Tesla T4, 15360\n1, GPU-y, "Tesla T4", 15360\n' ;;
--query-gpu=index,utilization.gpu,memory.used,power.draw) printf '1, [N/A], 2048, 31.50\n0, 97, 1024, [Not Supported]\n' ;;
--query-gpu=driver_version) printf '550.1\n550.1\n' ;;
*) echo "what is $1?" >&2; exit 6 ;;
esac
`

// Without the driver's files, as on Windows, nvidia-smi reports everything.
func TestProgram(t *testing.T) {
	d := fake(t, nil, smi)
	devices, err := d.Devices()
	if err != nil {
		t.Fatal(err)
	}
	want := []Device{{ID: "GPU-x", Index: 0, Name: "Tesla T4", MemoryBytes: 15 << 30},
		{ID: "GPU-y", Index: 1, Name: "Tesla T4", MemoryBytes: 15 << 30}}
	if diff := cmp.Diff(want, devices); diff != "" {
		t.Error(diff)
	}
	readings, err := d.Read(devices)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Reading{{97, 1 << 30, -1}, {-1, 2 << 30, 31.5}}, readings); diff != "" {
		t.Error(diff)
	}
	if v := d.Driver(); v != "550.1" {
		t.Errorf("driver %q", v)
	}
	if _, err := d.Read([]Device{{Index: 5}}); err == nil || !strings.Contains(err.Error(), "GPU 5") {
		t.Errorf("a GPU that fell off the bus: %v", err)
	}
}

// The driver's files contain the UUIDs only after somebody has used the GPUs.
func TestUnknownUUIDs(t *testing.T) {
	hidden := map[string]string{"gpus/0000:07:00.0/information": strings.Replace(information, "%s",
		"GPU-????????-????", 1)}
	if devices, err := fake(t, hidden, smi).Devices(); err != nil || len(devices) != 2 || devices[0].ID != "GPU-x" {
		t.Errorf("nvidia-smi knows better: %v %v", devices, err)
	}
	if devices, err := fake(t, hidden, "").Devices(); err != nil || len(devices) != 1 || devices[0].ID != "0" {
		t.Errorf("without it an index has to do: %v %v", devices, err)
	}
}

func TestNoDriver(t *testing.T) {
	if _, err := fake(t, nil, "").Devices(); !errors.Is(err, ErrNoDriver) {
		t.Error(err)
	}
	broken := "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18\n"
	_, err := fake(t, nil, broken).Devices()
	if err == nil || errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "version mismatch") {
		t.Error("a driver that does not work is not the same as none:", err)
	}
}

// Open works on every machine, with and without a driver.
func TestOpen(t *testing.T) {
	s := Open()
	defer s.Close()
	devices, err := s.Devices()
	if (err == nil) == (len(devices) == 0) {
		t.Errorf("%d devices, %v", len(devices), err)
	}
	if err != nil && !errors.Is(err, ErrNoDriver) {
		t.Skip("the driver of this machine does not work:", err)
	}
	if s.Period() <= 0 {
		t.Error(s.Period())
	}
}
