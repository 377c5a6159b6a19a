//go:build unix

package gpu

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Any output of nvidia-smi and any content of the driver's files is refused, or gives values in their ranges.
func FuzzDriver(f *testing.F) {
	for _, text := range []string{"0, GPU-1, NVIDIA H200, 143771\n", "0, 97, 1024, 312.5\n", "0, [N/A], nan, inf\n", "1, 1e300, -1, 1e999\n",
		"Model: \t NVIDIA\nGPU UUID: \t GPU-?\n", "NVRM version: Kernel Module  535.54.03  Tue", "\"", "Kernel Module", ""} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	smi, said := filepath.Join(dir, "smi"), filepath.Join(dir, "said")
	info := filepath.Join(dir, "proc", "gpus", "0", "information")
	if err := os.MkdirAll(filepath.Dir(info), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(smi, []byte("#!/bin/sh\nexec cat "+said+"\n"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, path := range []string{said, info, filepath.Join(dir, "proc", "version")} {
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		d := driver{proc: filepath.Join(dir, "proc"), smi: smi}
		devices, _ := d.Devices()
		for _, g := range devices {
			if g.MemoryBytes < 0 {
				t.Errorf("%+v", g)
			}
		}
		d.Driver()
		readings, _ := d.Read([]Device{{}})
		for _, r := range readings {
			if !(r.Utilization >= -1 && r.Utilization < math.Inf(1) && r.Watts >= -1 && r.Watts < math.Inf(1)) || r.MemoryBytes < -1 {
				t.Errorf("%+v", r)
			}
		}
	})
}
