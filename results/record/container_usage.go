package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
)

// addUsed merges the usage of the cell's containers into its occupancy, in order of time.
func (w *CellWriter) addUsed() error {
	samples, err := Containers.ReadLive(w.dir)
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

// sampleAge is the largest age in seconds of a sample that counts as a container's current usage. Each container is
// sampled about once a second.
const sampleAge = 1.5

// together returns, for each second, the sum of the latest samples of all containers. Memory is in percent of the sum
// of their limits.
func together(samples []ContainerRow) []measure.Occupancy {
	var out []measure.Occupancy
	for i, last := range samples {
		if i+1 < len(samples) && math.Floor(samples[i+1].At) == math.Floor(last.At) {
			continue
		}
		sum := measure.Occupancy{At: last.At}
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
