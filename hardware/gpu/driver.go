package gpu

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// driver finds GPUs by the files of the NVIDIA driver and by nvidia-smi.
type driver struct {
	proc string // folder of the driver's files
	smi  string // name of the program, searched in PATH
}

// systemDriver has the usual paths.
var systemDriver = driver{proc: "/proc/driver/nvidia", smi: "nvidia-smi"}

// patience limits a call of nvidia-smi. It takes seconds if the driver must initialize the GPUs first.
const patience = 15 * time.Second

// Devices reads the driver's files, which is fast. It calls nvidia-smi only if the files have no UUIDs, because no
// program has used the GPUs since the boot, or if there are no files, as on Windows.
func (d driver) Devices() ([]Device, error) {
	folders, _ := filepath.Glob(filepath.Join(d.proc, "gpus", "*")) // the pattern is valid, so there is no error
	slices.Sort(folders)                                            // by PCI address
	var devices []Device
	for i, dir := range folders {
		raw, err := folder.ReadSystem(filepath.Join(dir, "information"))
		if err != nil {
			return nil, fmt.Errorf("find GPUs: %w", err)
		}
		device := Device{Index: i}
		for line := range strings.Lines(string(raw)) {
			label, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); label {
			case "Model":
				device.Name = value
			case "GPU UUID":
				device.ID = value
			}
		}
		devices = append(devices, device)
	}
	if len(devices) > 0 && !slices.ContainsFunc(devices, func(d Device) bool {
		return d.ID == "" ||
			strings.Contains(d.ID, "?")
	}) {
		return devices, nil
	}
	asked, err := d.ask()
	if err != nil && len(devices) > 0 { // use indexes in the order of addresses instead of UUIDs
		for i := range devices {
			devices[i].ID = strconv.Itoa(i)
		}
		return devices, nil
	}
	return asked, err
}

// ask calls nvidia-smi to list the GPUs.
func (d driver) ask() ([]Device, error) {
	rows, err := d.query("index", "uuid", "name", "memory.total")
	if err != nil {
		return nil, err // the error names the missing program
	}
	var devices []Device
	for _, row := range rows {
		index, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, fmt.Errorf("%s prints the index %q of a GPU, which is not a number", d.smi, row[0])
		}
		devices = append(devices, Device{Index: index, ID: row[1], Name: row[2], MemoryBytes: max(mebibytes(row[3]), 0)})
	}
	return devices, nil
}

// Read calls nvidia-smi.
func (d driver) Read(devices []Device) ([]Reading, error) {
	rows, err := d.query("index", "utilization.gpu", "memory.used", "power.draw")
	if err != nil {
		return nil, fmt.Errorf("read GPUs: %w", err)
	}
	readings := make([]Reading, len(devices))
	for i, device := range devices {
		k := slices.IndexFunc(rows, func(row []string) bool { return row[0] == strconv.Itoa(device.Index) })
		if k < 0 {
			return nil, fmt.Errorf("read GPUs: nvidia-smi does not list GPU %d any more", device.Index)
		}
		readings[i] = Reading{Utilization: number(rows[k][1]), MemoryBytes: mebibytes(rows[k][2]), Watts: number(rows[k][3])}
	}
	return readings, nil
}

// Driver returns the version from the driver's file, or else from nvidia-smi.
func (d driver) Driver() string {
	if raw, err := folder.ReadSystem(filepath.Join(d.proc, "version")); err == nil {
		// The line is: NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue …
		_, rest, _ := strings.Cut(string(raw), "Kernel Module")
		for word := range strings.FieldsSeq(rest) {
			if word[0] >= '0' && word[0] <= '9' {
				return word
			}
		}
	}
	if rows, err := d.query("driver_version"); err == nil && len(rows) > 0 {
		return rows[0][0]
	}
	return ""
}

// Period is long, because a call of nvidia-smi takes about 50 ms of CPU time.
func (driver) Period() time.Duration { return 5 * time.Second }

// Close does nothing.
func (driver) Close() error { return nil }

// query returns the given fields of each GPU.
func (d driver) query(fields ...string) ([][]string, error) {
	program, err := exec.LookPath(d.smi)
	if err != nil {
		if _, err := os.Stat(d.proc); err == nil {
			return nil, fmt.Errorf("the NVIDIA driver is installed, but its program %s is not in PATH", d.smi)
		}
		return nil, fmt.Errorf("%w: there is no %s, and no %s in PATH", ErrNoDriver, d.proc, d.smi)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, errs, err := folder.Output(exec.CommandContext(ctx, program, "--query-gpu="+strings.Join(fields, ","),
		"--format=csv,noheader,nounits"))
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s does not answer within %s", d.smi, patience)
	case errors.As(err, &failed):
		said := strings.TrimSpace(string(out) + string(errs))
		first, _, _ := strings.Cut(said, "\n")
		return nil, fmt.Errorf("%s fails: %s", d.smi, first)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", d.smi, err)
	}
	r := csv.NewReader(strings.NewReader(string(out)))
	r.TrimLeadingSpace = true
	r.FieldsPerRecord = len(fields)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.smi, err)
	}
	return rows, nil
}

// number parses a field; "[N/A]" and "[Not Supported]" mean unknown and become -1.
func number(field string) float64 {
	x, err := strconv.ParseFloat(field, 64)
	if err != nil || !(x >= 0 && x < 1e12) {
		return -1
	}
	return x
}

// mebibytes parses a field in MiB and returns bytes.
func mebibytes(field string) int64 {
	if x := number(field); x >= 0 {
		return int64(x) << 20 // less than 2^60
	}
	return -1
}
