package realise

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// maxCellName keeps a cell's folder and its files well below the limits of
// file systems.
const maxCellName = 150

// point is a point of the matrix, without its replicate.
type point = experiments.Cell

// Cell is one cell of an experiment: a point of its matrix with a replicate.
type Cell struct {
	// Ref names it in records.
	Ref record.CellRef

	point
	x *Experiment
	// planned is set when its samples are planned.
	planned bool
}

// expand lists the cells with their replicates, in the order of the file:
// all replicates of a point stand together.
func expand(x *Experiment) (cells []*Cell) {
	spec := x.spec
	taken := map[string]bool{}
	for _, c := range spec.Cells {
		name, fixed := cellName(c), spec.Fixed(c)
		for n := 2; taken[name]; n++ { // two names that differ only in replaced characters
			name = fmt.Sprintf("%s~%d", cellName(c), n)
		}
		taken[name] = true
		axes := make([]record.Setting, len(c.Axes))
		for k, a := range c.Axes {
			axes[k] = record.Setting(a)
		}
		var cores, gpus int
		for _, n := range c.Hardware.Cluster.Nodes {
			cores += n.Threads
			gpus += n.GPUs
		}
		for r := 1; r <= spec.Replicates; r++ {
			cells = append(cells, &Cell{x: x, point: c, planned: true, Ref: record.CellRef{
				Cell:     fmt.Sprintf("%s-r%d", name, r),
				Workload: c.Workload.Name, Hardware: c.Hardware.Name, Policy: c.Policy.Name,
				Replicate: r, Seed: replicateSeed(spec.Seed, r), Engine: c.Hardware.Engine,
				Simulated: !c.Hardware.Real(), Contained: c.Hardware.Kind().Contained,
				Recorded: c.Hardware.Kind().Recorded,
				Fixed:    fixed,
				Axes:     axes, Cores: cores, GPUs: gpus,
			}})
		}
	}
	return cells
}

// cellName is readable and fit for a folder: workload-hardware-policy and the
// axes that the cell reads.
func cellName(c point) string {
	var b strings.Builder
	b.WriteString(c.Workload.Name + "-" + c.Hardware.Name + "-" + c.Policy.Name)
	for _, a := range c.Axes {
		b.WriteString("-" + a.Name + "=" + a.Value)
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._=-+", r):
			return r
		}
		return '_'
	}, b.String())
	if len(name) > maxCellName {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxCellName-13] + "-" + hex.EncodeToString(sum[:6])
	}
	return name
}

// replicateSeed is shared by all cells of a replicate, so that what is
// compared has the same arrivals and the same noise.
func replicateSeed(seed int64, replicate int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/replicate/%d", seed, replicate))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// RunOrder is a randomised block design: replicate after replicate, and
// within each the cells in a random order of their own, so that a machine
// that drifts harms no policy more than another. It returns indexes into refs.
func RunOrder(seed int64, refs []record.CellRef) []int {
	byReplicate := map[int][]int{}
	last := 0
	for i, r := range refs {
		byReplicate[r.Replicate] = append(byReplicate[r.Replicate], i)
		last = max(last, r.Replicate)
	}
	order := make([]int, 0, len(refs))
	for r := 1; r <= last; r++ {
		block := byReplicate[r]
		rng := workload.Stream(seed, "order", fmt.Sprint(r))
		rng.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		order = append(order, block...)
	}
	return order
}
