// A run of a measured program whose GPUs and batch size change: the times of its steps, and the noise of its gradients.

package goodput

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"
)

// MeasuredProgram is a training program whose step times and recorded trainings were measured.
type MeasuredProgram struct {
	Name string
	// Limits bound the batch sizes. Epochs is the number of epochs of the whole training.
	Limits Limits
	Epochs int

	placed  map[string][]timing // times by placement, in its canonical form
	grid    []shape             // mean times by nodes and GPUs, ascending
	scatter scatter             // the measurements as points for interpolation
	lock    sync.Mutex          // guards found and alone
	found   map[[3]int]timing   // cached times of steps, by nodes, GPUs and local batch size
	alone   map[request]float64 // cached seconds of whole trainings, by request
	runs    []validation        // recorded trainings by batch size, ascending
	law     *law                // replaces all measurements; nil for a measured program
}

// timing is the measured time of a step, by the number of samples on each GPU, in seconds.
type timing struct {
	local      int
	step, sync float64
}

// shape is a number of GPUs on a number of nodes.
type shape struct {
	nodes, gpus int
	timings     []timing // by local batch size, ascending
}

// validation is a recorded training with one batch size, with a value for each epoch.
type validation struct {
	batch                      int
	progress, iterations       []float64 // at the end of each epoch; progress is in steps of the first batch size
	gradientSquare, gradientVa []float64
}

// Step returns the seconds of a step on a placement (GPUs by node, each above 0) with local samples on each GPU. sync
// is the part of this time that averages the gradients.
//
// If the placement was measured, times are interpolated linearly between batch sizes. Otherwise they are interpolated
// between the measured numbers of nodes, GPUs and samples, in their Delaunay triangulation.
func (p *MeasuredProgram) Step(placement []int, local int) (step, sync float64) {
	if p.law != nil {
		return p.law.step(placement, local, 1)
	}
	var form [64]byte
	if rows, ok := p.placed[string(appendCanonical(form[:0], placement))]; ok {
		return between(rows, local)
	}
	gpus := 0
	for _, n := range placement {
		gpus += n
	}
	return p.interpolate(len(placement), gpus, local)
}

// StepOn is Step for GPUs that compute a gradient rate times as fast as the measured ones.
func (p *MeasuredProgram) StepOn(placement []int, local int, rate float64) (step, sync float64) {
	if p.law != nil {
		return p.law.step(placement, local, rate)
	}
	step, sync = p.Step(placement, local)
	return (step-sync)/rate + sync, sync
}

// canonical returns the text of a placement. All rotations of a placement have the same text, because the speed does
// not depend on which node is first.
func canonical(placement []int) string { return string(appendCanonical(nil, placement)) }

// appendCanonical appends the canonical form of a placement to b.
func appendCanonical(b []byte, placement []int) []byte {
	least := 0
	for first := 1; first < len(placement); first++ {
		if turned(placement, first, least) < 0 {
			least = first
		}
	}
	for i := range placement {
		b = strconv.AppendInt(b, int64(placement[(least+i)%len(placement)]), 10)
		b = append(b, ' ')
	}
	return b
}

// turned compares two rotations of a placement: from node i on, and from node k on.
func turned(placement []int, i, k int) int {
	n := len(placement)
	for d := range n {
		if c := cmp.Compare(placement[(i+d)%n], placement[(k+d)%n]); c != 0 {
			return c
		}
	}
	return 0
}

// between interpolates linearly between batch sizes, and extrapolates linearly beyond them.
func between(rows []timing, local int) (step, sync float64) {
	i, found := slices.BinarySearchFunc(rows, local, func(t timing, n int) int { return cmp.Compare(t.local, n) })
	if found || len(rows) == 1 {
		return rows[min(i, len(rows)-1)].step, rows[min(i, len(rows)-1)].sync
	}
	i = min(max(i, 1), len(rows)-1)
	a, b := rows[i-1], rows[i]
	at := float64(local-a.local) / float64(b.local-a.local)
	step = a.step + at*(b.step-a.step)
	sync = a.sync + at*(b.sync-a.sync)
	return max(step, 1e-9), min(max(sync, 0), max(step, 1e-9))
}

// interpolate returns the times for numbers of nodes and GPUs that were not measured. Outside of the measurements, it
// returns the times of the nearest measurement.
func (p *MeasuredProgram) interpolate(nodes, gpus, local int) (step, sync float64) {
	last := p.grid[len(p.grid)-1]
	key := [3]int{min(nodes, last.nodes), gpus, local}
	p.lock.Lock()
	defer p.lock.Unlock()
	if t, ok := p.found[key]; ok {
		return t.step, t.sync
	}
	step, sync, ok := p.scatter.at(point{float64(key[0]), float64(gpus), float64(local)})
	if !ok {
		nearest := slices.MinFunc(p.grid, func(a, b shape) int {
			return cmp.Or(cmp.Compare(distance(a.nodes, key[0]), distance(b.nodes, key[0])),
				cmp.Compare(distance(a.gpus, gpus), distance(b.gpus, gpus)))
		})
		step, sync = between(nearest.timings, local)
	}
	p.found[key] = timing{local, step, sync}
	return step, sync
}

func distance(a, b int) int { return max(a-b, b-a) }

// Work returns the progress at the end of the given epoch, in steps of the first batch size. It is the least progress
// of all recorded trainings.
func (p *MeasuredProgram) Work(epochs int) float64 {
	if epochs == 0 {
		return 0
	}
	if p.law != nil {
		return p.law.epoch * float64(epochs)
	}
	least := math.Inf(1)
	for i := range p.runs {
		least = min(least, p.runs[i].progress[epochs-1])
	}
	return least
}

// Noise returns the noise of the gradient with a batch size in an epoch; the first epoch is 0.
func (p *MeasuredProgram) Noise(batch, epoch int) Noise {
	if p.law != nil {
		return p.law.noise
	}
	a, b, at := p.around(batch)
	return Noise{
		Square:   mix(a.gradientSquare[epoch], b.gradientSquare[epoch], at),
		Variance: mix(a.gradientVa[epoch], b.gradientVa[epoch], at),
	}
}

// Iterations returns the number of steps with a batch size until the end of the given epoch; the first epoch is 0.
func (p *MeasuredProgram) Iterations(batch, epoch int) float64 {
	if p.law != nil {
		return p.law.iterations(batch, p.Limits.First, epoch)
	}
	a, b, at := p.around(batch)
	return mix(a.iterations[epoch], b.iterations[epoch], at)
}

func mix(a, b, at float64) float64 { return a + at*(b-a) }

// around returns the recorded trainings with the next smaller and the next greater batch size. at is the place of the
// batch between them, from 0 to 1.
func (p *MeasuredProgram) around(batch int) (a, b *validation, at float64) {
	i, found := slices.BinarySearchFunc(p.runs, batch, func(v validation, n int) int { return cmp.Compare(v.batch, n) })
	switch {
	case found || i == 0:
		return &p.runs[i], &p.runs[i], 0
	case i == len(p.runs):
		return &p.runs[i-1], &p.runs[i-1], 0
	}
	a, b = &p.runs[i-1], &p.runs[i]
	return a, b, float64(batch-a.batch) / float64(b.batch-a.batch)
}
