package results

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
)

// inContainers is the engine whose cells have more columns in occupancy.csv.
const inContainers = "docker"

// usedColumns are those of occupancy.csv in a cell that ran in containers.
var usedColumns = append(slices.Clone(occupancyColumns),
	usedColumn("cpu_pct", func(o *Occupancy) *float64 { return &o.CPU }),
	usedColumn("memory_bytes", func(o *Occupancy) *float64 { return &o.Memory }),
	usedColumn("memory_pct", func(o *Occupancy) *float64 { return &o.MemoryPct }),
)

// usedColumn is empty in rows in which nothing was sampled.
func usedColumn(name string, field func(*Occupancy) *float64) column[Occupancy] {
	return column[Occupancy]{
		name: name,
		add: func(b []byte, o *Occupancy) []byte {
			if !o.Sampled {
				return b
			}
			return appendNumber(b, *field(o))
		},
		set: func(o *Occupancy, s string) error {
			o.Sampled = s != ""
			if !o.Sampled {
				*field(o) = 0
				return nil
			}
			v, err := strconv.ParseFloat(s, 64)
			*field(o) = v
			return err
		},
	}
}

// addUsed puts what the containers of the cell used between the rows of its
// occupancy, in the order of time.
func (w *CellWriter) addUsed() error {
	samples, err := readLive(filepath.Join(w.dir, ContainersFile), containerColumns)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("add what containers used: %w", err)
	}
	var held Occupancy
	next := 0
	for _, used := range together(samples) {
		for ; next < len(w.rows) && w.rows[next].At <= used.At; next++ {
			held = w.rows[next]
			w.keep(w.occupancy.write(&held, nil))
		}
		used.CoresHeld, used.Running, used.Queued, used.Paused = held.CoresHeld, held.Running, held.Queued, held.Paused
		w.keep(w.occupancy.write(&used, nil))
	}
	for ; next < len(w.rows); next++ {
		w.keep(w.occupancy.write(&w.rows[next], nil))
	}
	return nil
}

// sampleAge is how old a sample may be, in seconds, to count as what a
// container uses now. Each is looked at about once a second.
const sampleAge = 1.5

// together adds up the latest sample of each container, once a second. The
// memory is in percent of what those containers may have together.
func together(samples []ContainerRow) []Occupancy {
	var out []Occupancy
	for i, last := range samples {
		if i+1 < len(samples) && math.Floor(samples[i+1].At) == math.Floor(last.At) {
			continue
		}
		sum := Occupancy{At: last.At, Sampled: true}
		limit := 0.0
		var counted []string
		for _, r := range slices.Backward(samples[:i+1]) {
			if r.At < last.At-sampleAge {
				break
			}
			if slices.Contains(counted, r.Job) {
				continue
			}
			counted = append(counted, r.Job)
			sum.CPU += r.CPU
			sum.Memory += r.Memory
			if r.MemoryPct > 0 {
				limit += 100 * r.Memory / r.MemoryPct
			}
		}
		if limit > 0 {
			sum.MemoryPct = 100 * sum.Memory / limit
		}
		out = append(out, sum)
	}
	return out
}
