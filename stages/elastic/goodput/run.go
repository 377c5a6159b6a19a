package goodput

import (
	"cmp"
	"math"
	"slices"
)

// MeasuredRun is a training in progress. Its model of its speed is fitted to its own steps only.
type MeasuredRun struct {
	Program *MeasuredProgram
	// Batch is the batch size chosen by the user; 0 means that the run chooses it by goodput.
	Batch int

	epoch    int     // present epoch, from 0
	progress float64 // in steps of the first batch size
	now      Config
	nodes    []int   // GPUs by node, each above 0; nil while the run has no GPUs
	speed    float64 // speed of these GPUs, relative to the measured ones

	profile  []Measurement
	measured map[[3]int]bool // by nodes, GPUs and local batch size
	most     int             // greatest number of GPUs so far
	model    Model
	known    bool // the model exists
	fitted   int  // number of measurements to which the model was fitted
	table    map[sized]float64
}

// sized is a number of GPUs, and their speed relative to the measured GPUs.
type sized struct {
	nodes, gpus int
	speed       float64
}

// NewMeasuredRun returns a run that has not started. For batch, see MeasuredRun.Batch.
func NewMeasuredRun(p *MeasuredProgram, batch int) *MeasuredRun {
	return &MeasuredRun{Program: p, Batch: batch, measured: map[[3]int]bool{}, table: map[sized]float64{}, speed: 1}
}

// Done reports whether all epochs are finished.
func (r *MeasuredRun) Done() bool { return r.epoch >= r.Program.Epochs }

// Now returns the present configuration.
func (r *MeasuredRun) Now() Config { return r.now }

// MostGPUs returns the greatest number of GPUs on which the run has been.
func (r *MeasuredRun) MostGPUs() int { return r.most }

// Place gives GPUs to the run, by node, and chooses its batch. speed is relative to the measured GPUs. Without nodes,
// the run loses its GPUs.
func (r *MeasuredRun) Place(nodes []int, speed float64) {
	r.speed = speed
	r.nodes = slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return n == 0 })
	if len(r.nodes) == 0 {
		r.nodes = nil
		return
	}
	r.choose()
	r.measure()
}

// choose chooses the batch for the present GPUs.
func (r *MeasuredRun) choose() {
	nodes, gpus := len(r.nodes), 0
	for _, n := range r.nodes {
		gpus += n
	}
	l := &r.Program.Limits
	batch := r.Batch
	if batch == 0 && r.known {
		if best, goodput := r.on(r.speed).Best(nodes, gpus); goodput > 0 {
			r.now = best
			r.now.Local = min(r.now.Local, l.Most/(gpus*(r.now.Accumulation+1)))
			return
		}
	}
	if batch == 0 {
		batch = max(l.First, l.Least*gpus)
	}
	r.now = FixedProgram(batch, nodes, gpus, l)
}

// FixedProgram returns the configuration of a fixed batch size on GPUs, reduced to the greatest batch that the limits
// allow.
func FixedProgram(batch, nodes, gpus int, l *Limits) Config {
	c := Split(float64(batch), nodes, gpus, l)
	c.Local = max(min(c.Local, l.Most/(gpus*(c.Accumulation+1))), 1)
	return c
}

// measure records the step time at the present configuration, and the noise of the gradient.
func (r *MeasuredRun) measure() {
	r.model.Limits = r.Program.Limits
	if noise := r.noise(); noise != r.model.Noise {
		r.model.Noise = noise
		clear(r.table)
	}
	r.most = max(r.most, r.now.GPUs)
	key := [3]int{r.now.Nodes, r.now.GPUs, r.now.Local}
	if r.measured[key] {
		return
	}
	r.measured[key], r.known = true, true
	step, sync := r.Program.Step(r.nodes, r.now.Local)
	r.profile = append(r.profile, Measurement{
		Nodes: r.now.Nodes, GPUs: r.now.GPUs, Local: r.now.Local, Gradient: step - sync, Step: step,
	})
}

func (r *MeasuredRun) noise() Noise {
	return r.Program.Noise(r.now.Batch(), min(r.epoch, r.Program.Epochs-1))
}

// Model returns the run's model of its goodput; nil before its first step.
func (r *MeasuredRun) Model() *Model {
	if !r.known {
		return nil
	}
	if r.fitted < len(r.profile) {
		r.model.Params, r.fitted = Fit(r.profile), len(r.profile)
		clear(r.table)
	}
	return &r.model
}

// on returns the model for GPUs with a speed relative to the measured ones.
func (r *MeasuredRun) on(speed float64) *Model {
	m := r.Model()
	if m == nil || speed == 1 {
		return m
	}
	faster := *m
	faster.Params = m.Params.On(speed)
	return &faster
}

// Goodput returns the greatest goodput that the run expects on the given GPUs; speed is relative to the measured ones.
// It returns 0 before the first step.
func (r *MeasuredRun) Goodput(nodes, gpus int, speed float64) float64 {
	m := r.on(speed)
	if m == nil || gpus == 0 {
		return 0
	}
	key := sized{nodes, gpus, speed}
	v, ok := r.table[key]
	if !ok {
		_, v = m.Best(nodes, gpus)
		r.table[key] = v
	}
	return v
}

// Rate returns the progress per second, in steps of the first batch size.
func (r *MeasuredRun) Rate() float64 {
	step, sync := r.Program.StepOn(r.nodes, r.now.Local, r.speed)
	scale := float64(r.now.Batch()) / float64(r.Program.Limits.First)
	return r.noise().Gain(scale) / (step + float64(r.now.Accumulation)*(step-sync))
}

// Left returns the seconds until the present epoch ends, if the configuration does not change.
func (r *MeasuredRun) Left() float64 {
	if r.Done() {
		return 0
	}
	return (r.Program.Work(r.epoch+1) - r.progress) / r.Rate()
}

// Remaining returns the remaining work of the training after passed seconds at the present rate. Its unit is the second
// on one GPU with the first batch size.
func (r *MeasuredRun) Remaining(passed float64) float64 {
	if r.Done() {
		return 0
	}
	left := r.Program.Work(r.Program.Epochs) - r.progress
	if passed > 0 {
		left -= passed * r.Rate()
	}
	step, _ := r.Program.Step([]int{1}, r.Program.Limits.First)
	return left * step
}

// StepTime returns the seconds of a step on a placement with the user's batch size, or the first one. On one GPU, the
// batch is accumulated at least once.
func (r *MeasuredRun) StepTime(placement []int) float64 {
	gpus := 0
	for _, n := range placement {
		gpus += n
	}
	l := r.Program.Limits
	batch := r.Batch
	batch = cmp.Or(batch, l.First)
	c := FixedProgram(batch, len(placement), gpus, &l)
	if gpus == 1 && c.Accumulation == 0 {
		c.Accumulation = 1
		c.Local = min((batch+1)/2, l.Most/2)
	}
	step, sync := r.Program.Step(placement, c.Local)
	return step + float64(c.Accumulation)*(step-sync)
}

// Advance continues the run by a time that ends within the present epoch.
func (r *MeasuredRun) Advance(seconds float64) {
	if !r.Done() {
		r.progress = min(r.progress+seconds*r.Rate(), r.Program.Work(r.epoch+1))
		r.again()
	}
}

// NextEpoch ends the present epoch, and chooses the batch of the next one.
func (r *MeasuredRun) NextEpoch() {
	r.epoch++
	r.progress = r.Program.Work(min(r.epoch, r.Program.Epochs))
	if !r.Done() {
		r.again()
	}
}

// again chooses the batch again, if the run has GPUs.
func (r *MeasuredRun) again() {
	r.measure()
	r.choose()
}

// Steps returns the remaining number of steps with the user's batch size; at least 1.
func (r *MeasuredRun) Steps() float64 {
	last := r.Program.Epochs - 1
	if r.epoch >= last {
		return 1
	}
	batch := r.Batch
	batch = cmp.Or(batch, r.Program.Limits.First)
	return math.Max(r.Program.Iterations(batch, last)-r.Program.Iterations(batch, r.epoch), 1)
}
