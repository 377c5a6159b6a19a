// Package throughput reads tables of the speed of jobs on devices: steps per second, by the type of the job, the
// type of device and the number of devices. It also has the rules by which batch sizes change while jobs train.
package throughput

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Key has the properties on which a speed in the table depends.
type Key struct {
	// Job is the type of the job, Device the type of device, and Workers the number of workers.
	Job, Device string
	Workers     int
	// Beside is the type of the job that shares the devices; empty if they are not shared.
	Beside string
}

// Table has the speeds of jobs in steps per second, alone and on shared devices.
type Table struct {
	speeds  map[Key]float64
	devices []string
	jobs    []string
	at      []int // indexes of the columns in columnNames, while a CSV file is read
}

// Read reads a table from JSON in the form of Gavel, or else from CSV. name is the name of the file, for errors. An
// error in a line is a textfile.LineError.
func Read(name string, r io.Reader) (*Table, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > limit:
		return nil, fmt.Errorf("the table of throughputs is larger than %d MiB", limit>>20)
	}
	t := &Table{speeds: map[Key]float64{}}
	if strings.HasPrefix(strings.TrimSpace(string(text[:min(len(text), 64)])), "{") {
		err = t.readJSON(name, text)
	} else {
		_, err = textfile.EachRow(name, bytes.NewReader(text), false, t.head, t.row)
	}
	if err != nil {
		return nil, err
	}
	if len(t.speeds) == 0 {
		return nil, errors.New("it contains no throughputs")
	}
	for k := range t.speeds {
		if k.Beside != "" {
			continue
		}
		t.devices, t.jobs = append(t.devices, k.Device), append(t.jobs, k.Job)
	}
	for _, names := range []*[]string{&t.devices, &t.jobs} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	return t, nil
}

// limit is the greatest size of a file in bytes.
const limit = 64 << 20

func (t *Table) add(k Key, speed float64) error {
	switch _, twice := t.speeds[k]; {
	case math.IsNaN(speed) || math.IsInf(speed, 0) || speed < 0:
		return fmt.Errorf("the job type %q on %d × %s has a throughput of %v steps/s; it must be at least 0", k.Job,
			k.Workers, k.Device, speed)
	case k.Workers < 1:
		return fmt.Errorf("the job type %q has %d workers on %s: the number must be at least 1", k.Job, k.Workers,
			k.Device)
	case twice && k.Beside != "":
		return fmt.Errorf("the job type %q on %d × %s beside %q has two throughputs: remove one of "+
			"them", k.Job, k.Workers, k.Device, k.Beside)
	case twice:
		return fmt.Errorf("the job type %q on %d × %s has two throughputs: remove one of "+
			"them", k.Job, k.Workers, k.Device)
	}
	t.speeds[k] = speed
	return nil
}

// readJSON reads nested objects: device → "('job type', workers)" → "null" → steps per second alone. Instead of
// "null", a key can be another job type that shares the device.
func (t *Table) readJSON(name string, text []byte) error {
	var all map[string]map[string]map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &all); {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
		return &textfile.LineError{File: name, Line: line, Err: syntax}
	case err != nil:
		return errors.New("it is neither a table of throughputs by device, job type and neighbor, nor a CSV file")
	}
	for _, device := range slices.Sorted(maps.Keys(all)) {
		for _, name := range slices.Sorted(maps.Keys(all[device])) {
			k := Key{Device: device}
			var ok bool
			if k.Job, k.Workers, ok = parse(name); !ok {
				return fmt.Errorf("%q is not a job type with its number of workers, such as \"('LM (batch size 5)', 1)\"", name)
			}
			raw, ok := all[device][name]["null"]
			if !ok {
				continue
			}
			var speed float64
			if err := json.Unmarshal(raw, &speed); err != nil {
				return fmt.Errorf("the throughput of %s on %s alone is not a number", name, device)
			}
			if err := t.add(k, speed); err != nil {
				return err
			}
			if err := t.readBeside(k, all[device][name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBeside reads the speeds on shared devices: other job → [steps/s, steps/s of the other job], for jobs with the
// same number of workers.
func (t *Table) readBeside(k Key, speeds map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(speeds)) {
		neighbor, workers, ok := parse(name)
		if !ok || workers != k.Workers {
			continue
		}
		var both []float64
		if err := json.Unmarshal(speeds[name], &both); err != nil || len(both) != 2 {
			return fmt.Errorf("the throughput of (%q, %d) on %s beside %s must be two numbers, one for each "+
				"job, such as [2.5, 1.25]", k.Job,
				k.Workers,
				k.Device, name)
		}
		k.Beside = neighbor
		if err := t.add(k, both[0]); err != nil {
			return err
		}
	}
	return nil
}

// parse splits "('LM (batch size 5)', 1)" into job type and workers.
func parse(name string) (job string, workers int, ok bool) {
	inner, ok := strings.CutPrefix(name, "('")
	at := strings.LastIndex(inner, "', ")
	if !ok || at < 0 || !strings.HasSuffix(inner, ")") {
		return "", 0, false
	}
	workers, err := strconv.Atoi(inner[at+3 : len(inner)-1])
	return inner[:at], workers, err == nil
}

// columnNames are the names of the columns of a CSV file, which may be in any order. Only the last may be missing.
var columnNames = []string{"job_type", "device", "workers", "steps_per_s", "beside"}

// head finds the columns of a CSV file.
func (t *Table) head(columns []string) error {
	for i, name := range columnNames {
		at, err := textfile.Column(columns, name)
		if err != nil && (i < len(columnNames)-1 || slices.Contains(columns, name)) {
			return fmt.Errorf("%w; the table has job_type, device, workers and steps_per_s", err)
		}
		t.at = append(t.at, at)
	}
	return nil
}

// row adds a row of a CSV file.
func (t *Table) row(_ int, fields []string) error {
	text := func(i int) string {
		if t.at[i] < 0 {
			return ""
		}
		return strings.TrimSpace(fields[t.at[i]])
	}
	workers, err := strconv.Atoi(text(2))
	if err != nil {
		return fmt.Errorf("%q is not a number of workers", text(2))
	}
	speed, err := strconv.ParseFloat(text(3), 64)
	if err != nil {
		return fmt.Errorf("%q is not a throughput in steps/s", text(3))
	}
	return t.add(Key{Job: text(0), Device: text(1), Workers: workers, Beside: text(4)}, speed)
}

// Speed returns the steps per second of a job, and whether the table has them; 0 means that the job does not run
// there.
func (t *Table) Speed(k Key) (float64, bool) {
	s, ok := t.speeds[k]
	return s, ok
}

// Kept returns the fraction of its speed that a job keeps when it shares its devices with a job of another type; 0
// if unknown.
func (t *Table) Kept(k Key, beside string) float64 {
	alone := t.speeds[k]
	k.Beside = beside
	if alone == 0 {
		return 0
	}
	return t.speeds[k] / alone
}

// Devices returns the types of devices, sorted.
func (t *Table) Devices() []string { return t.devices }

// Jobs returns the types of jobs, sorted.
func (t *Table) Jobs() []string { return t.jobs }
