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

// driver asks the driver's own files and its program nvidia-smi.
type driver struct {
	proc string // the folder of the driver's files
	smi  string // the program; looked up in PATH
}

// The usual places.
var systemDriver = driver{proc: "/proc/driver/nvidia", smi: "nvidia-smi"}

// patience bounds a call of nvidia-smi, which takes seconds when the driver
// has to wake the GPUs first.
const patience = 15 * time.Second

// Devices reads the files, which takes no time. It calls nvidia-smi in two
// cases only: the files lack the UUIDs, as long as nobody has used the GPUs, or
// there are no files, as under Windows.
func (d driver) Devices() ([]Device, error) {
	folders, _ := filepath.Glob(filepath.Join(d.proc, "gpus", "*")) // the pattern is valid
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
	if err != nil && len(devices) > 0 { // an index will do, in the order of the addresses
		for i := range devices {
			devices[i].ID = strconv.Itoa(i)
		}
		return devices, nil
	}
	return asked, err
}

// ask has nvidia-smi list the GPUs.
func (d driver) ask() ([]Device, error) {
	rows, err := d.query("index", "uuid", "name", "memory.total")
	if err != nil {
		return nil, err // the error names the missing thing
	}
	var devices []Device
	for _, row := range rows {
		index, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, fmt.Errorf("%s gives a GPU the index %q", d.smi, row[0])
		}
		devices = append(devices, Device{Index: index, ID: row[1], Name: row[2], MemoryBytes: max(mebibytes(row[3]), 0)})
	}
	return devices, nil
}

// Read asks nvidia-smi.
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

// Driver reads the version from the driver's own file, or asks nvidia-smi.
func (d driver) Driver() string {
	if raw, err := folder.ReadSystem(filepath.Join(d.proc, "version")); err == nil {
		// NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue …
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

// Period is long: a call of nvidia-smi takes some 50 ms of a core.
func (driver) Period() time.Duration { return 5 * time.Second }

// Close has nothing to do.
func (driver) Close() error { return nil }

// query returns a row of fields for each GPU.
func (d driver) query(fields ...string) ([][]string, error) {
	program, err := exec.LookPath(d.smi)
	if err != nil {
		if _, err := os.Stat(d.proc); err == nil {
			return nil, fmt.Errorf("the NVIDIA driver is there, but its program %s is not in PATH", d.smi)
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

// number reads a field; "[N/A]" and "[Not Supported]" are unknown.
func number(field string) float64 {
	x, err := strconv.ParseFloat(field, 64)
	if err != nil || !(x >= 0 && x < 1e12) {
		return -1
	}
	return x
}

// mebibytes reads a field in MiB.
func mebibytes(field string) int64 {
	if x := number(field); x >= 0 {
		return int64(x) << 20 // below 2^60
	}
	return -1
}
