package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// usedColumns are those of occupancy.csv in a cell that ran in containers.
var usedColumns = append(slices.Clone(occupancyColumns),
	usedColumn("cpu_pct", func(o *measure.Occupancy) *float64 { return &o.CPU }),
	usedColumn("memory_bytes", func(o *measure.Occupancy) *float64 { return &o.Memory }),
	usedColumn("memory_pct", func(o *measure.Occupancy) *float64 { return &o.MemoryPct }),
)

// usedColumn is empty in rows in which nothing was sampled.
func usedColumn(name string, field func(*measure.Occupancy) *float64) table.Column[measure.Occupancy] {
	return table.Column[measure.Occupancy]{
		Name: name,
		Add: func(b []byte, o *measure.Occupancy) []byte {
			if !o.Sampled {
				return b
			}
			return table.AppendNumber(b, *field(o))
		},
		Set: func(o *measure.Occupancy, s string) error {
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
	var samples []ContainerRow
	f, err := folder.Open(w.dir, ContainersFile)
	if err == nil {
		defer f.Close()
		samples, err = table.ReadLive(f, containerColumns)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("add what containers used: %w", err)
	}
	var held measure.Occupancy
	next := 0
	for _, used := range together(samples) {
		for ; next < len(w.rows) && w.rows[next].At <= used.At; next++ {
			held = w.rows[next]
			w.keep(w.occupancy.Add(&held, nil))
		}
		used.CoresHeld, used.Running, used.Queued, used.Paused = held.CoresHeld, held.Running, held.Queued, held.Paused
		w.keep(w.occupancy.Add(&used, nil))
	}
	for ; next < len(w.rows); next++ {
		w.keep(w.occupancy.Add(&w.rows[next], nil))
	}
	return nil
}

// sampleAge is how old a sample may be, in seconds, to count as what a
// container uses now. Each is looked at about once a second.
const sampleAge = 1.5

// together adds up the latest sample of each container, once a second. The
// memory is in percent of what those containers may have together.
func together(samples []ContainerRow) []measure.Occupancy {
	var out []measure.Occupancy
	for i, last := range samples {
		if i+1 < len(samples) && math.Floor(samples[i+1].At) == math.Floor(last.At) {
			continue
		}
		sum := measure.Occupancy{At: last.At, Sampled: true}
		limit := 0.0
		var counted []string
		for _, r := range slices.Backward(samples[:i+1]) {
			if r.At < last.At-sampleAge {
				break
			}
			if slices.Contains(counted, r.Container()) {
				continue
			}
			counted = append(counted, r.Container())
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
